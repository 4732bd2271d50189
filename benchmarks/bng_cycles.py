# SPDX-License-Identifier: Apache-2.0
"""Measure the gateway's cycles per frame beyond the `io` task, for 1 to 1,048,576 subscribers.

Dense tags and keys are consecutive. Sparse ones are random, so the gateway has to hash them. Also
prints the load time and memory of the tables. `--json FILE` also writes the cycles of all chains by
number of subscribers, for a curve.

One lcore of one process handles minimum frames of random subscribers and 8,192 routes. Their source
costs almost nothing and restores them between timed passes. Each frame must be forwarded; otherwise
the program fails. `hot` uses 64 mbufs, `cold` 2,048 circulating ones. All chains and `io` take 100
turns of 131,072 frames. The result of a turn is its median pass in TSC cycles per frame. Another
tenant of the machine can slow a core down for most of a second, so the turn at the lowest decile
counts. The table at the end also has the median turn and the required result. Prints `name value
unit ratio-to-what`; the ratio is to the required result, or to that with the fewest subscribers.
`--users N ...` measures these numbers only. Needs root, for 512 MiB of huge pages; takes two
minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from ipaddress import IPv4Address
from pathlib import Path

from benchmarks.shared.figures import show

from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.hugepages import reserved
from wirespeed.model.plan.plan import HugePages
from wirespeed.model.study.bng import TableSpec, table_lines
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory

PROGRAMS = Path(__file__).parents[1] / "build/dataplane/bench"
USERS = (1, 1024, 32_768, 131_072, 1_048_576)
SPARSE_FROM = 32_768
ROUTES = 8192
LOADS = 2
TURNS = 100
MODES = ("hot", "cold")
CHAINS = {
    "bng_up": "up:up",
    "bng_down": "down:down",
    "lb_ring_bng_up": "up:lbc,up",
    "lb_ring_bng_down": "down:lbi,down",
}
# Most cycles beyond io, by number of subscribers.
ASKED = {
    "bng_up": {32_768: 40, 1_048_576: 55},
    "bng_down": {32_768: 30, 1_048_576: 50},
    "lb_ring_bng_up": {32_768: 80},
    "lb_ring_bng_down": {32_768: 60},
}
HUGE_MIB = 512
HOST = IPv4Address("10.0.0.7")  # the same for every subscriber: keys separate them

COMMON = """local_ip = 192.0.2.1
gateway_mac = 02:00:00:00:00:f1
inet_mac = 02:00:00:00:00:f2
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the curve: cycles a frame beyond io."""

    chain: str
    mbufs: str
    keys: str
    users: int
    cycles: float
    median_turn: float


def task(name: str, kind: str, rx: str, tx: str, more: str = "", *, lcore: int = 1) -> str:
    return f"[task.{name}]\ntype = {kind}\nlcore = {lcore}\nrx = ring:{rx}\ntx = ring:{tx}\n{more}"


def ini(tables: Path) -> str:
    """Return tasks on rings; the program puts source and sink at both ends of a chain."""
    keys = f"tables = {tables}\n"
    rings = "".join(f"[ring.{name}]\nsize = 1024\n" for name in "abce")
    return (
        "[pool]\nmbufs = 8192\n"
        + rings
        + task("io", "io", "a", "e")
        + task("lbc", "bng_lb_cpe", "a", "b", keys)
        + task("lbi", "bng_lb_inet", "a", "c")
        + task("up", "bng_up", "b", "e", keys + COMMON + "gateway_ip = 10.0.0.1\n")
        + task("down", "bng_down", "c", "e", keys + COMMON)
        + task("back", "io", "e", "a", lcore=2)
    )


def eal(cpu: int) -> list[str]:
    lcores = ",".join(f"{lcore}@{cpu}" for lcore in range(3))
    return ["--", f"--lcores={lcores}", "-m", str(HUGE_MIB - 64), "--in-memory", "--no-pci",
            "--no-telemetry", "--log-level=error"]  # fmt: skip


def run(program: str, *arguments: str) -> str:
    cpu = max(os.sched_getaffinity(0))
    command = [str(PROGRAMS / f"bench_{program}"), *arguments, *eal(cpu)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        sys.exit(f"{program} {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def cycles(directory: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the turn at the lowest decile, and the median, by chain and mode, io included."""
    chains = ["up:io", "down:io", *CHAINS.values()]
    tables, ini = str(directory / "tables"), str(directory / "wsdp.ini")
    found = {}
    for line in run("bng_cycles", ini, tables, str(TURNS), *chains).splitlines():
        chain, mode, quiet, median = line.split()
        found[chain, mode] = (float(quiet), float(median))
    return found


def one_size(directory: Path, users: int, keys: str, first: dict[str, float]) -> list[Point]:
    spec = TableSpec(users, ROUTES, host=HOST, sparse=keys == "sparse")
    (directory / "tables").write_text("\n".join(table_lines(spec)))
    (directory / "wsdp.ini").write_text(ini(directory / "tables"))
    found = cycles(directory)
    points = []
    for name, chain in CHAINS.items():
        side = chain.partition(":")[0]
        for mode in MODES:
            io = found[f"{side}:io", mode]
            quiet, median = (a - b for a, b in zip(found[chain, mode], io, strict=True))
            base = first.setdefault(f"{name}_{mode}", quiet)
            asked = ASKED[name].get(users)
            to = "of-the-fewest-users" if asked is None else f"of-the-{asked}-asked"
            ratio = quiet / (asked or base)
            show(f"{name}_{mode}_{keys}_users_{users}", quiet, "cycles", ratio, to)
            points.append(Point(name, mode, keys, users, round(quiet, 2), round(median, 2)))
    return points


def curve(points: list[Point]) -> None:
    """Print all results by number of subscribers, and the required ones."""
    users = sorted({point.users for point in points})
    cells = {
        (point.chain, point.mbufs, point.keys, point.users): f"{point.cycles:.1f}"
        f" ({point.median_turn:.1f})"
        for point in points
    }
    print("# cycles a frame beyond io: the turn at the lowest decile (the median turn), asked")
    print(f"# {'users':31}" + "".join(f"{n:>20,}" for n in users))
    for chain, mode, keys in dict.fromkeys((p.chain, p.mbufs, p.keys) for p in points):
        line = ""
        for n in users:
            cell = cells.get((chain, mode, keys, n), "")
            if cell and n in ASKED[chain]:
                cell += f" <={ASKED[chain][n]}"
            line += f"{cell:>20}"
        print(f"# {chain:17}{mode:6}{keys:8}{line}")


def loading(directory: Path, users: int, keys: str) -> None:
    """Time reading the file and building one worker's tables; the minimum of the runs counts."""
    found = [
        re.match(r"seconds ([\d.]+) octets (\d+)", run("bng_load", str(directory / "tables"), "1"))
        for _ in range(LOADS)
    ]
    seconds = min(float(match[1]) for match in found if match)
    show(f"load_{keys}_users_{users}", seconds, "s")
    for match in found[:1]:
        assert match is not None
        show(f"memory_{keys}_users_{users}", int(match[2]) / (1 << 20), "MiB")


def lookups(directory: Path, users: int) -> None:
    """Compare our tables with DPDK's, on the same keys in one run; the faster turn counts."""
    least: dict[str, float] = {}
    for line in run("bng_lookups", str(directory / "tables")).splitlines():
        name, text = line.split()
        least[name] = min(float(text), least.get(name, float("inf")))
    for name, value in least.items():
        theirs = "rte_lpm" if "lpm" in name else "rte_hash"
        show(f"lookup_{name}_users_{users}", value, "cycles", value / least[theirs], theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the curve's points here")
    parser.add_argument("--users", type=int, nargs="+", default=USERS, help="just these numbers")
    arguments = parser.parse_args()
    output: Path | None = arguments.json
    points: list[Point] = []
    runner = LocalRunner()
    print(
        f"# {ROUTES} routes, TSC cycles a frame beyond io; hot: 64 mbufs, cold: 2,048", flush=True
    )
    with (
        tempfile.TemporaryDirectory() as name,
        changing_host(runner, state_directory(os.environ)) as host,
        reserved(host, [HugePages(0, 2048, HUGE_MIB // 2)]),
    ):
        first: dict[str, float] = {}
        for users in sorted(arguments.users):
            for keys in ("dense", "sparse") if users >= SPARSE_FROM else ("dense",):
                points += one_size(Path(name), users, keys, first)
                loading(Path(name), users, keys)
                if users >= ROUTES and keys == "dense":
                    lookups(Path(name), users)
    curve(points)
    if output is not None:
        output.write_text(json.dumps([asdict(point) for point in points], indent=1) + "\n")


if __name__ == "__main__":
    main()
