"""The table of all queues: its columns and its queues."""

from __future__ import annotations

import pytest

from goodqueue.characterization.guide import guide
from goodqueue.characterization.subject import queue_of
from research.characterize.__main__ import COLUMNS, QUEUES, Column

GUIDE = guide("rfc7928")


@pytest.mark.parametrize("column", COLUMNS, ids=lambda one: one.head)
def test_every_column_is_a_figure_of_its_section(column: Column) -> None:
    section = next(one for one in GUIDE.sections if one.key == column.section)
    assert column.case < len(section.cases)
    assert column.metric in {measure.metric for measure in section.measures}
    assert section.number in column.head


def test_every_queue_of_the_table_is_read() -> None:
    for name, text in QUEUES.items():
        kind = queue_of(text).value.get("kind", "drop_tail")
        assert name.partition(",")[0].partition(" ")[0] == kind
