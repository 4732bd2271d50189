# SPDX-License-Identifier: Apache-2.0
"""Put hostile texts into every type of document, and check what is accepted and rendered.

A reader accepts a document or raises BadInput; any other exception ends the fuzz. An accepted
document has no control character, and the files rendered from it are checked.

The exhaustive form puts a text into all leaves at once that differ only in an index. A rejection
names each leaf that it rejects; the others are tried again. So each leaf gets its own verdict for
each text, with a hundredth of the documents.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from jinja2 import UndefinedError

from tests.support.carried_out import replies
from tests.support.examples import ROOT, example_host, example_plan
from tests.support.fleet_hosts import recorded, snapshot
from tests.support.hostile import MARKER, PAYLOADS, Judge, leaves, planted
from wirespeed.audit import suppressions
from wirespeed.cli.verbs.fleet_pairs import read_pairs
from wirespeed.cloud.collect import collect
from wirespeed.cloud.file import CLOUD_FILE
from wirespeed.cloud.recording import RecordingApi
from wirespeed.document.kind import DocumentKind
from wirespeed.fleet.hardware import hardware_digest
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE
from wirespeed.host.file import HOST_FILE
from wirespeed.model import errors
from wirespeed.model.errors import BadInput
from wirespeed.model.input.bounded import load_toml
from wirespeed.model.input.text import LINE, PROSE
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.errors import PlanError
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.render.escape import RenderError
from wirespeed.plan.render.targets import TARGETS
from wirespeed.plan.workload.file import parse_workload
from wirespeed.study.lab import load_lab
from wirespeed.study.load import load_study

EXAMPLES = ("s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo")
# Syntax of the shell, Ansible and others; several lines; terminal control.
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
# A reference to a missing name: the reader rejects such a plan file.
DANGLING = (RenderError, StopIteration, KeyError, UndefinedError)
Rendered = Mapping[str, str]
Place = tuple[Any, ...]


@dataclass
class Subject:
    """A document and its reader."""

    kind: str
    name: str
    original: Any
    read: Callable[[Any], Any]
    rendered: Callable[[Any], Rendered] = lambda _: {}
    """Returns the files that follow from the value."""
    prose: tuple[str, ...] | None = ("description",)
    """Keys whose texts may have lines; None where no type rejects any text."""
    texts: tuple[str, ...] = NASTIEST
    """Texts that the short form tries."""
    turn: int = 1
    """The short form tries every `turn`-th text in a leaf, and begins one later in the next."""
    skipped: Callable[[Place], bool] = lambda _: False
    """True if a place gets no text."""


@dataclass
class Fuzz:
    """A fuzz, with counts by type of document.

    Counted are leaves; tried and accepted pairs of leaf and text; documents, renders, executions.
    """

    folder: Path
    exhaustive: bool = False
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def run(self, subject: Subject) -> Counter[str]:
        """Fuzz a document. Raises at the first hit."""
        counts = self.counts.setdefault(subject.kind, Counter())
        judge = Judge(self.folder / f"{subject.kind}-{subject.name}")
        attempt = _Attempt(subject, judge, subject.rendered(subject.read(subject.original)), counts)
        with mock.patch.object(errors, "_FAULTS_SHOWN", 1_000_000):
            for number, group in enumerate(self._groups(subject)):
                counts["leaves"] += len(group)
                turn = subject.texts[number % subject.turn :: subject.turn]
                for text in PAYLOADS if self.exhaustive else turn:
                    counts["tried"] += len(group)
                    attempt.plant(group, text)
        counts["executions"] += judge.runs
        return counts

    def _groups(self, subject: Subject) -> list[list[Place]]:
        """Return the places that differ only in an index; one of each group unless exhaustive."""
        groups: dict[tuple[str, ...], list[Place]] = {}
        for place in leaves(subject.original):
            if not subject.skipped(place):
                key = tuple(str(step) for step in place if not isinstance(step, int))
                groups.setdefault(key, []).append(place)
        return [group if self.exhaustive else group[-1:] for group in groups.values()]


@dataclass
class _Attempt:
    """Puts texts into a subject."""

    subject: Subject
    judge: Judge
    usual: Rendered
    """Files rendered from the original."""
    counts: Counter[str]

    def plant(self, group: Sequence[Place], text: str) -> None:
        """Put the text into all of these places; check those that are accepted."""
        document = self.subject.original
        for place in group:
            document = planted(document, place, text)
        self.counts["documents"] += 1
        try:
            value = self.subject.read(document)
        except BadInput as refusal:
            if len(group) > 1:
                for part in _not_refused(group, text, refusal):
                    self.plant(part, text)
            return
        self.counts["accepted"] += len(group)
        if self.subject.prose is not None:
            check_texts(value, self.subject.prose, group)
        for name, written in self.subject.rendered(value).items():
            self.counts["renders"] += 1
            if MARKER in written and written != self.usual.get(name):
                self.judge.check(name, written)


def _not_refused(group: Sequence[Place], text: str, refusal: BadInput) -> list[list[Place]]:
    """Return the places that the rejection does not name, together; each alone if it names none."""
    rest = [place for place in group if f"\n  {_name(place, text)} = " not in refusal.what]
    if len(rest) == len(group):
        return [[place] for place in group]
    return [rest] if rest else []


def _name(place: Place, text: str) -> str:
    """Return the name of this place in errors, once the text is there."""
    *outer, last = place
    return ".".join(map(str, (*outer, text if isinstance(last, tuple) else last)))


def check_texts(value: Any, prose: tuple[str, ...], place: object) -> None:
    """Fail where an accepted value has a text with control characters."""
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
    """Return the table as TOML, with texts in JSON's notation."""
    return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in table.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def subjects(folder: Path) -> Iterator[Subject]:
    """Yield an example of every type of document. folder: for files that are read."""
    for name in EXAMPLES:
        yield from (_host(name), _workload(name), plan_file(name), templates(name))
    for path in sorted((ROOT / "studies").glob("*.toml")):
        original = load_toml(path.read_text(encoding="utf-8"))
        yield Subject("study", path.stem, original, _of_file(folder / "s.toml", _study), turn=3)
    yield Subject("lab", "two-hosts", LAB, _of_file(folder / "l.toml", load_lab))
    (folder / "lab.toml").write_text(toml(LAB), encoding="utf-8")
    yield Subject("pairs", "one", PAIRS, _of_file(folder / "p.toml", read_pairs), prose=("lab",))
    yield Subject("suppressions", "one", SUPPRESSED, lambda v: suppressions.parse(toml(v), "s"))
    taken = snapshot("compute-1", recorded(), site="rack")
    yield Subject("snapshot", "one", SNAPSHOT_FILE.document(taken), _snapshot)
    plan, host = example_plan("s2-chains"), example_host("s2-chains")
    cloud = collect(RecordingApi(replies(plan, [host])))
    yield _json("cloud", CLOUD_FILE, CLOUD_FILE.document(cloud))


def _json(kind: str, documents: DocumentKind[Any], original: Any) -> Subject:
    return Subject(kind, "one", original, lambda v: documents.parse(json.dumps(v), "it.json"))


def _snapshot(value: Any) -> Any:
    """Read a snapshot with the digest of its changed facts, as its host would have made it."""
    try:
        return SNAPSHOT_FILE.parse(json.dumps(value), "it.json")
    except BadInput as refusal:
        if "is not the digest of its facts" not in refusal.what:
            raise
    facts = {"schema_version": HOST_FILE.version, **value["facts"]}
    digest = hardware_digest(HOST_FILE.parse(json.dumps(facts), "it.json"))
    return SNAPSHOT_FILE.parse(json.dumps(value | {"hardware": digest}), "it.json")


def plan_file(example: str) -> Subject:
    """Return a plan file; the short form tries every text on it, by turns."""
    text = (ROOT / "examples" / example / "plan.json").read_text(encoding="utf-8")
    return Subject(
        "plan", example, json.loads(text), lambda v: PLAN_FILE.parse(json.dumps(v), "p.json"),
        rendered, texts=PAYLOADS, turn=4,
    )  # fmt: skip


def templates(example: str) -> Subject:
    """Return a plan that bypasses the types, so that only the templates keep its texts values.

    Host names are file names, which only the types protect.
    """
    return Subject(
        "templates", example, example_plan(example), lambda plan: plan,
        lambda plan: rendered(plan, DANGLING), prose=None, texts=PAYLOADS, turn=4,
        skipped=lambda place: place[0] == "hosts" and place[-1] in ("host", "name"),
    )  # fmt: skip


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
        lambda facts: planned(lambda: plan_workload(workload, [facts])), turn=3,
    )  # fmt: skip


def _workload(example: str) -> Subject:
    host = example_host(example)
    return Subject(
        "workload", example, load_toml(_text(example)),
        lambda v: parse_workload(toml(v), "w.toml"),
        lambda workload: planned(lambda: plan_workload(workload, [host])),
    )  # fmt: skip


def planned(plan: Callable[[], Any]) -> dict[str, str]:
    """Return the files of the targets that take the plan; empty where there is no plan."""
    try:
        made = plan()
    except PlanError:
        return {}
    return rendered(made)


def rendered(plan: Plan, refusals: tuple[type[Exception], ...] = (RenderError,)) -> dict[str, str]:
    """Return the files of the targets that take the plan."""
    files: dict[str, str] = {}
    for renderer in TARGETS.values():
        try:
            files |= renderer(plan)
        except refusals:
            continue
    return files
