# SPDX-License-Identifier: Apache-2.0
"""One case in each way: create.sh and stack.yaml as rendered, and both with the hosts left open."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.openstack import reasons
from tests.openstack.cases import Case
from tests.openstack.cloud import CREATE, DELETE, STACK, Cloud, cloud, free_script
from tests.openstack.comparison import COLUMNS, Row

FORCED, HEAT, FREE = "create.sh", "stack.yaml", "create.sh, hosts open"
_NAME = "plan"


@dataclass(frozen=True, slots=True)
class Result:
    """What a case showed. ways: the rows of each way. unexplained: differences without a reason.
    left: what was there still when it had ended."""

    case: str
    ready_s: float
    cached: bool
    memory_mib: int
    ways: Mapping[str, list[Row]]
    unexplained: tuple[str, ...]
    left: tuple[str, ...]


class CaseError(Exception):
    """A client did not do what a rendered file says."""


def run(case: Case, ways: Sequence[str] = (FORCED, HEAT, FREE)) -> Result:
    """These ways of one case, one after another in one cloud."""
    plan, facts = case.make()
    seen: dict[str, list[Row]] = {}
    with cloud(plan, facts) as made:
        for way in ways:
            make, remove = _WAYS[way]
            make(made)
            seen[way] = made.compare()
            remove(made)
        figures = (made.ready_s, made.control.cached, made.control.processes.memory_mib())
        before = made.control.traces()
    left = before.left()
    return Result(case.name, *figures, seen, tuple(reasons.unexplained(seen, FREE)), left)


def _create(made: Cloud) -> None:
    path = made.control.site.write(CREATE, made.rendered[CREATE])
    _client(made, "bash", str(path))


def _delete(made: Cloud) -> None:
    path = made.control.site.write(DELETE, made.rendered[DELETE])
    _client(made, "bash", str(path))


def _stack(made: Cloud) -> None:
    # Heat does not set the properties of an image; create.sh has done it.
    path = made.control.site.write(STACK, made.rendered[STACK])
    _client(made, "openstack", "stack", "create", "--wait", "--template", str(path), _NAME)


def _delete_stack(made: Cloud) -> None:
    _client(made, "openstack", "stack", "delete", "--yes", "--wait", _NAME)


def _create_free(made: Cloud) -> None:
    # Where the scheduler finds no host for a guest, the script ends: that is an answer, too.
    made.script("free.sh", free_script(made.rendered[CREATE]))


_WAYS = {
    FORCED: (_create, _delete),
    HEAT: (_stack, _delete_stack),
    FREE: (_create_free, _delete),
}


def _client(made: Cloud, *argv: str) -> None:
    done = made.client(*argv)
    if done.returncode:
        shown = [row for row in made.compare() if not row.cells[0]]
        raise CaseError(f"{' '.join(argv)}: {done.stdout[-2000:]}{done.stderr[-2000:]}\n{shown}")


def table(results: list[Result]) -> str:
    """The matrix: for each case and way, of how many guests each is true."""
    lines = [f"{'case':16} {'way':22} {'guests':>6}  " + "  ".join(COLUMNS)]
    for result in results:
        for way, rows in result.ways.items():
            counts = [sum(row.cells[i] for row in rows) for i in range(len(COLUMNS))]
            cells = "  ".join(
                f"{count:>{len(name)}}" for name, count in zip(COLUMNS, counts, strict=True)
            )
            lines.append(f"{result.case:16} {way:22} {len(rows):>6}  {cells}")
    return "\n".join(lines)


def details(result: Result) -> str:
    """Every difference, with its reason where one is known."""
    lines = []
    for way, rows in result.ways.items():
        for row in rows:
            for each in row.differences:
                lines.append(f"{result.case}, {way}: {row.guest}: {each}")
            for each in row.contradictions:
                lines.append(f"{result.case}, {way}: {row.guest}: CONTRADICTION: {each}")
    return "\n".join(lines)


def remember(path: Path, result: Result) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lines:
        lines.write(json.dumps(asdict(result)) + "\n")
        lines.flush()
        os.fsync(lines.fileno())


def remembered(path: Path) -> dict[str, Result]:
    """By case; what a killed run wrote half is not there."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            told = json.loads(line)
        except json.JSONDecodeError:
            continue
        told["ways"] = {way: [_row(r) for r in rows] for way, rows in told["ways"].items()}
        told["unexplained"], told["left"] = tuple(told["unexplained"]), tuple(told["left"])
        found[told["case"]] = Result(**told)
    return found


def _row(told: dict[str, object]) -> Row:
    return Row(**{k: tuple(v) if isinstance(v, list) else v for k, v in told.items()})  # type: ignore[arg-type]
