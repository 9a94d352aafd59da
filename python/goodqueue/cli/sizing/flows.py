"""`goodqueue flows`: the traffic of flow records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.cli.files import print_wrote
from goodqueue.core.files.outdir import check_apart, check_file, write_whole
from goodqueue.errors import RequestError
from goodqueue.output.terminal import print_json, stdout
from goodqueue.sizing.flow_records import read_flow_records

if TYPE_CHECKING:
    from goodqueue.cli.commands.sizing.flows import Flows


def show_flows(asked: Flows) -> int:
    """Prints the number of flows, and writes their sizes; returns the exit code."""
    if asked.sizes is not None:
        check_file(asked.sizes)
        check_apart([asked.file], {"--sizes": asked.sizes})
    records = read_flow_records(asked.file, asked.sampling)
    if asked.sizes is not None:
        if not records.sizes:
            raise RequestError(f"{asked.file}: no flow of TCP or QUIC has data, so none has a size")
        write_whole(asked.sizes, records.sizes_csv())
        print_wrote(asked.sizes)
    if asked.json:
        print_json(records.as_dict())
        return 0
    console = stdout()
    for note in records.notes():
        console.print(f"{note[0].upper()}{note[1:]}.", markup=False, highlight=False)
    return 0
