# SPDX-License-Identifier: Apache-2.0
"""Run a case in each way: create.sh and stack.yaml as rendered, create.sh without hosts."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.cloud import reasons
from tests.cloud.cases import Case
from tests.cloud.cloud import CREATE, DELETE, STACK, Cloud, free_script
from tests.cloud.clouds import Clouds
from tests.cloud.comparison import COLUMNS, Row
from tests.cloud.computes import simulated

FORCED, HEAT, FREE = "create.sh", "stack.yaml", "create.sh, hosts open"
_NAME = "plan"
# Property of a test report that holds a result.
RESULT = "openstack-result"
_WAIT = ("--wait", "--poll", "1")


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a case."""

    case: str
    ready_s: float
    cached: bool
    memory_mib: int
    ways: Mapping[str, list[Row]]
    """Rows of each way of creating the plan."""
    unexplained: tuple[str, ...]
    """Differences from the plan without a known reason."""
    left: tuple[str, ...]
    """Names still in the cloud after everything was removed."""


class CaseError(Exception):
    """A client did not do what a rendered file says."""


def run(
    case: Case, clouds: Clouds, how: Callable[[Cloud], Iterator[tuple[str, list[Row]]]]
) -> Result:
    """Run one case in one cloud. how: by_create_sh or in_every_way."""
    plan, facts = case.make()
    with clouds.cloud(plan, simulated(facts)) as made:
        seen = dict(how(made))
        return Result(
            case.name, made.ready_s, made.control.cached, made.control.processes.memory_mib(),
            seen, tuple(reasons.unexplained(seen, FREE)), tuple(sorted(made.names())),
        )  # fmt: skip


def by_create_sh(made: Cloud) -> Iterator[tuple[str, list[Row]]]:
    """Run create.sh as rendered, and remove what it created."""
    _done(made, made.script(CREATE))
    yield FORCED, made.compare()
    _done(made, made.script(DELETE))


def in_every_way(made: Cloud) -> Iterator[tuple[str, list[Row]]]:
    """Run create.sh with the planned hosts, then without hosts, then the Heat stack."""
    _done(made, made.script(CREATE))
    yield FORCED, made.compare()
    made.delete_servers()
    # Where the scheduler finds no host for a guest, the script ends: that is an answer, too.
    made.script("free.sh", free_script(made.rendered[CREATE]))
    yield FREE, made.compare()
    _done(made, made.script(DELETE))
    # Heat does not set the properties of an image; create.sh has done it.
    path = made.control.site.write(STACK, made.rendered[STACK])
    stack = ("openstack", "stack")
    _done(made, made.client(*stack, "create", *_WAIT, "--template", str(path), _NAME))
    yield HEAT, made.compare()
    _done(made, made.client(*stack, "delete", "--yes", "--wait", _NAME))


def _done(made: Cloud, done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        shown = [row for row in made.compare() if not row.cells[0]]
        said = f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
        raise CaseError(f"{' '.join(done.args)}: {said}\n{shown}")


def table(results: list[Result]) -> str:
    """Format the matrix: the number of guests for which each column holds, by case and way."""
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
    """Format every difference, with its reason if known."""
    lines = []
    for way, rows in result.ways.items():
        for row in rows:
            for each in row.differences:
                lines.append(f"{result.case}, {way}: {row.guest}: {each}")
            for each in row.contradictions:
                lines.append(f"{result.case}, {way}: {row.guest}: CONTRADICTION: {each}")
    return "\n".join(lines)


def result_text(result: Result) -> str:
    return json.dumps(asdict(result))


def result_of(text: str) -> Result:
    """Read what result_text wrote. Raises ValueError."""
    raw = json.loads(text)
    raw["ways"] = {way: [_row(r) for r in rows] for way, rows in raw["ways"].items()}
    raw["unexplained"], raw["left"] = tuple(raw["unexplained"]), tuple(raw["left"])
    return Result(**raw)


def remember(path: Path, result: Result) -> None:
    """Append a result in one write, so that several processes may."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as lines:
        lines.write(f"{result_text(result)}\n".encode())
        os.fsync(lines.fileno())


def remembered(path: Path) -> dict[str, Result]:
    """Read the results by case, without the partial last one of a killed run."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        with suppress(ValueError):
            result = result_of(line)
            found[result.case] = result
    return found


def _row(raw: dict[str, object]) -> Row:
    return Row(**{k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()})  # type: ignore[arg-type]
