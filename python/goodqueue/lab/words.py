"""Names that the page offers, from the schema of scenario files."""

from __future__ import annotations

import json

from goodqueue import _core


def words() -> dict[str, list[str]]:
    """Returns `queues`, the disciplines that need at most a limit, and `controls`."""
    definitions = json.loads(_core.schema())["$defs"]
    queues = []
    for choice in definitions["bottleneck"]["properties"]["queue"]["oneOf"]:
        reference, constant = choice["allOf"]
        keys = definitions[reference["$ref"].rpartition("/")[2]]
        if "limit" in keys["properties"] and set(keys.get("required", [])) <= {"kind", "limit"}:
            queues.append(constant["properties"]["kind"]["const"])
    control = definitions["tcp"]["properties"]["congestion_control"]
    return {"queues": queues, "controls": control["anyOf"][0]["enum"]}
