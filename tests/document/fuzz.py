# SPDX-License-Identifier: Apache-2.0
"""Every text of every kind of document in turn a hostile one: what is accepted, and rendered of it.

A reader accepts a document or raises BadInput; anything else that it raises ends the fuzz. What is
accepted has no control character, and files rendered of it are judged as those of a plan are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cloud.carried_out import replies
from tests.fleet.hosts import recorded, snapshot
from tests.plan.lab import ROOT, example_host, example_plan
from tests.plan.render.hostile import MARKER, PAYLOADS, Judge, leaves, planted
from wirespeed.audit import suppressions
from wirespeed.cli.fleet_pairs import read_pairs
from wirespeed.cloud.collect import collect
from wirespeed.cloud.file import CLOUD_FILE
from wirespeed.cloud.recording import RecordingApi
from wirespeed.document.kind import DocumentKind
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE
from wirespeed.host.file import HOST_FILE
from wirespeed.model.bounded import load_toml
from wirespeed.model.errors import BadInput
from wirespeed.model.text import LINE, PROSE
from wirespeed.plan.errors import PlanError
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.render.escape import RenderError
from wirespeed.plan.render.targets import TARGETS
from wirespeed.plan.workload_file import parse_workload
from wirespeed.study.lab import load_lab
from wirespeed.study.load import load_study

EXAMPLES = ("s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo")
# One of the shell's, Ansible's and others' syntax; one with lines; one that steers a terminal.
NASTIEST = (PAYLOADS[0], PAYLOADS[2], PAYLOADS[5])
LAB = {
    "hosts": {
        "tester": {"ssh": "ssh://root@192.0.2.10", "ports": {"east": "0000:3b:00.0"}},
        "dut": {"ssh": "ssh://dut", "ports": {"east": "ens1f0"}, "wsdp": "/opt/wirespeed/wsdp"},
    }
}
PAIRS = {
    "pair": [
        {"name": "a-b", "study": "wire", "lab": "lab.toml", "links": ["l1"], "generator": "t1"}
    ]
}
SUPPRESSED = {
    "suppress": [{"rule": "WS11", "reason": "on purpose", "host": "c-*", "subject": "dpdk0"}]
}
Rendered = Mapping[str, str]


@dataclass
class Subject:
    """A document and its reader. rendered: the files that follow from what was read.

    prose: the keys whose texts may have lines.
    """

    kind: str
    name: str
    original: Any
    read: Callable[[Any], Any]
    rendered: Callable[[Any], Rendered] = lambda _: {}
    prose: tuple[str, ...] = ("description",)


@dataclass
class Fuzz:
    """Counts by the kind of document: leaves, tried, accepted, renders, executions."""

    folder: Path
    exhaustive: bool = False
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def run(self, subject: Subject) -> Counter[str]:
        """Fails at the first hit."""
        counts = self.counts.setdefault(subject.kind, Counter())
        judge = Judge(self.folder / f"{subject.kind}-{subject.name}")
        usual = subject.rendered(subject.read(subject.original))
        for place in self._places(subject.original):
            counts["leaves"] += 1
            for text in PAYLOADS if self.exhaustive else NASTIEST:
                counts["tried"] += 1
                try:
                    value = subject.read(planted(subject.original, place, text))
                except BadInput:
                    continue
                counts["accepted"] += 1
                check_texts(value, subject.prose, place)
                for name, written in subject.rendered(value).items():
                    counts["renders"] += 1
                    if MARKER in written and written != usual.get(name):
                        judge.check(name, written)
        counts["executions"] += judge.runs
        return counts

    def _places(self, original: Any) -> Iterable[tuple[Any, ...]]:
        """Every leaf if exhaustive; else one of those that differ in nothing but an index."""
        found = leaves(original)
        if self.exhaustive:
            return list(found)
        kept = {tuple(str(s) for s in path if not isinstance(s, int)): path for path in found}
        return kept.values()


def check_texts(value: Any, prose: tuple[str, ...], place: object) -> None:
    """Fails where a value that was accepted has a text with control characters."""
    for path in leaves(value):
        text = value
        for step in path:
            if isinstance(step, tuple):
                text = step[0]
            elif isinstance(text, dict | list | tuple):
                text = text[step]
            else:
                text = getattr(text, step)
        form = PROSE if set(prose) & set(map(str, path)) else LINE
        assert form.fits(text), f"{path} accepts {text!r:.80} at {place}"


def toml(table: Mapping[str, Any]) -> str:
    """The table as TOML, whose texts are written as JSON's."""
    return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in table.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def subjects(folder: Path) -> Iterator[Subject]:
    """Every kind of document but plans, each by an example. folder: for files that are read."""
    yield from map(_host, EXAMPLES)
    yield from map(_workload, EXAMPLES)
    for path in sorted((ROOT / "studies").glob("*.toml")):
        original = load_toml(path.read_text(encoding="utf-8"))
        yield Subject("study", path.stem, original, _of_file(folder / "s.toml", _study))
    yield Subject("lab", "two-hosts", LAB, _of_file(folder / "l.toml", load_lab))
    (folder / "lab.toml").write_text(toml(LAB), encoding="utf-8")
    yield Subject("pairs", "one", PAIRS, _of_file(folder / "p.toml", read_pairs), prose=("lab",))
    yield Subject("suppressions", "one", SUPPRESSED, lambda v: suppressions.parse(toml(v), "s"))
    taken = snapshot("compute-1", recorded(), site="rack")
    yield _json("snapshot", SNAPSHOT_FILE, SNAPSHOT_FILE.document(taken))
    plan, host = example_plan("s2-chains"), example_host("s2-chains")
    cloud = collect(RecordingApi(replies(plan, [host])))
    yield _json("cloud", CLOUD_FILE, CLOUD_FILE.document(cloud))


def _json(kind: str, documents: DocumentKind[Any], original: Any) -> Subject:
    return Subject(kind, "one", original, lambda v: documents.parse(json.dumps(v), "it.json"))


def _of_file(path: Path, read: Callable[[Path], Any]) -> Callable[[Any], Any]:
    def written_and_read(value: Any) -> Any:
        path.write_text(toml(value), encoding="utf-8")
        return read(path)

    return written_and_read


def _study(path: Path) -> Any:
    return load_study(str(path))


def _text(example: str) -> str:
    return (ROOT / "examples" / example / "workload.toml").read_text(encoding="utf-8")


def _host(example: str) -> Subject:
    workload = parse_workload(_text(example), example)
    original = HOST_FILE.document(example_host(example))
    return Subject(
        "host", example, original,
        lambda v: HOST_FILE.parse(json.dumps(v), "h.json"),
        lambda facts: planned(lambda: plan_workload(workload, [facts])),
    )  # fmt: skip


def _workload(example: str) -> Subject:
    host = example_host(example)
    return Subject(
        "workload", example, load_toml(_text(example)),
        lambda v: parse_workload(toml(v), "w.toml"),
        lambda workload: planned(lambda: plan_workload(workload, [host])),
    )  # fmt: skip


def planned(plan: Callable[[], Any]) -> dict[str, str]:
    """What every target renders that takes the plan; nothing where there is none."""
    try:
        made = plan()
    except PlanError:
        return {}
    files: dict[str, str] = {}
    for renderer in TARGETS.values():
        try:
            files |= renderer(made)
        except RenderError:
            continue
    return files
