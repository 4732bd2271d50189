# SPDX-License-Identifier: Apache-2.0
"""How are HostFacts written to and read from a JSON file (schemas/hostfacts.schema.json)?

A new fact raises the minor version, a changed or removed one the major version. Reading reports all
faults of a file at once: unknown keys, wrong types, and CPUs that the host does not have.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wirespeed.model.cpuset import format_list
from wirespeed.model.document import read_document
from wirespeed.model.errors import faulty_file, key_fault
from wirespeed.model.facts import HostFacts

SCHEMA_VERSION = "1.1"
_MAJOR = SCHEMA_VERSION.partition(".")[0]
_AGAIN = "Write it with `wirespeed inspect --json > HOST.json`."


class _Document(BaseModel):
    """The root model: its `extra="forbid"` also applies to the dataclasses below it."""

    model_config = ConfigDict(extra="forbid")

    facts: HostFacts


@cache
def _adapter() -> TypeAdapter[HostFacts]:
    return TypeAdapter(HostFacts)


def document(facts: HostFacts) -> dict[str, Any]:
    """The JSON document of one host, as `wirespeed inspect --json` prints it."""
    return {
        "schema_version": SCHEMA_VERSION,
        **_adapter().dump_python(facts, mode="json"),
    }


def parse(text: str, where: str) -> HostFacts:
    """The facts in a JSON document; `where` names it in errors. Raises BadInput."""
    raw = read_document(text, f"host file {where}", _MAJOR, _AGAIN)
    try:
        facts = _Document.model_validate_json(json.dumps({"facts": raw}), strict=True).facts
    except ValidationError as fault:
        faults = [key_fault(e["loc"][1:], e["type"], e["msg"]) for e in fault.errors()]
        raise faulty_file(f"host file {where}", faults, _AGAIN) from None
    faults = inconsistencies(facts)
    if faults:
        raise faulty_file(f"host file {where}", faults, _AGAIN)
    return facts


def inconsistencies(facts: HostFacts) -> list[str]:
    """What contradicts itself in a host's topology."""
    ids = [cpu.id for cpu in facts.cpus]
    present, nodes = set(ids), {node.id for node in facts.nodes}
    faults = []
    known = not (facts.why_missing("cpus") and facts.why_missing("nodes"))
    if known and (not ids or not nodes):
        faults.append("there is no CPU or no NUMA node; a host has at least one of each")
    if len(present) < len(ids):
        faults.append(f"cpus: {format_list(i for i in present if ids.count(i) > 1)} appear twice")
    for node in facts.nodes:
        if beyond := set(node.cpus) - present:
            faults.append(f"node {node.id} lists CPUs {format_list(beyond)}, which do not exist")
        if len(node.distances) != len(facts.nodes):
            faults.append(f"node {node.id} has {len(node.distances)} distances")
    for cpu in facts.cpus:
        if cpu.online and cpu.node not in nodes:
            faults.append(f"CPU {cpu.id} is on NUMA node {cpu.node}, which does not exist")
        if beyond := set(cpu.siblings) - present:
            faults.append(f"CPU {cpu.id} has siblings {format_list(beyond)}, which do not exist")
        elif any(cpu.id not in facts.siblings(other) for other in cpu.siblings):
            faults.append(f"CPU {cpu.id} and its siblings list different siblings")
    return faults


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    schema = _Document.model_json_schema()
    definitions = schema["$defs"]
    facts = definitions.pop("HostFacts")
    version = {"type": "string", "pattern": rf"^{_MAJOR}\.[0-9]+$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:wirespeed:hostfacts:{_MAJOR}",
        **facts,
        "title": "wirespeed host facts",
        "properties": {"schema_version": version, **facts["properties"]},
        "required": ["schema_version", *facts["required"]],
        "additionalProperties": False,
        "$defs": definitions,
    }
