# SPDX-License-Identifier: Apache-2.0
"""What does the gateway cost a frame beyond our own `io` task, from 1 to 1,048,576 subscribers?

Dense tags and keys are consecutive, sparse ones random, so that they have to be hashed. How long
the tables take to load, and how much memory, is printed as well. `--json FILE` also writes the
cycles of all chains by number of subscribers, for a curve.

One lcore in one process, minimum frames of random subscribers and 8,192 routes, handed out by a
source that costs almost nothing and restored between timed passes; each frame must be forwarded, or
the program fails. `hot`: 64 mbufs, `cold`: 2,048 circulating. Median pass of TSC cycles a frame,
least of two runs in turns with `io`. Prints `name value unit ratio-to-what`; the ratio is to the
figure with the fewest subscribers. `--users N ...` measures these numbers only. Needs root, for
512 MiB of huge pages.
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

from benchmarks.figures import show

from wirespeed.bench.host_state import changing_host
from wirespeed.bench.hugepages import reserved
from wirespeed.bench.journal import state_directory
from wirespeed.model.bng import TableSpec, table_lines
from wirespeed.model.plan import HugePages
from wirespeed.remote.local import LocalRunner

PROGRAMS = Path(__file__).parents[1] / "build/dataplane/bench"
USERS = (1, 1024, 32_768, 131_072, 1_048_576)
SPARSE_FROM = 32_768
ROUTES = 8192
RUNS = 2
MBUFS = {"hot": 64, "cold": 2048}
PASSES = {"hot": 8_000, "cold": 500}
CHAINS = {
    "bng_up": ("up", "up"),
    "bng_down": ("down", "down"),
    "lb_ring_bng_up": ("up", "lbc,up"),
    "lb_ring_bng_down": ("down", "lbi,down"),
}
HUGE_MIB = 512
HOST = IPv4Address("10.0.0.7")  # every subscriber's: they are told apart by key

COMMON = """local_ip = 192.0.2.1
gateway_mac = 02:00:00:00:00:f1
inet_mac = 02:00:00:00:00:f2
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of the curve: cycles a frame beyond io."""

    chain: str
    mbufs: str
    keys: str
    users: int
    cycles: float


def task(name: str, kind: str, rx: str, tx: str, more: str = "", *, lcore: int = 1) -> str:
    return f"[task.{name}]\ntype = {kind}\nlcore = {lcore}\nrx = ring:{rx}\ntx = ring:{tx}\n{more}"


def ini(tables: Path) -> str:
    """Tasks on rings; the program puts its source and its sink at both ends of a chain."""
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


def cycles(directory: Path, mode: str, chain: str) -> float:
    text = run("bng_cycles", str(directory / "wsdp.ini"), str(directory / "tables"),
               str(PASSES[mode]), str(MBUFS[mode]), chain)  # fmt: skip
    found = re.match(r"median ([\d.]+) .* discard 0$", text)
    if found is None:
        sys.exit(f"bng_cycles said: {text}")
    return float(found[1])


def beyond_io(directory: Path, mode: str, side: str, tasks: str) -> float:
    """The chain's cycles beyond io's, each the least of its runs."""
    turns = [
        [cycles(directory, mode, f"{side}:{what}") for what in ("io", tasks)] for _ in range(RUNS)
    ]
    return min(turn[1] for turn in turns) - min(turn[0] for turn in turns)


def one_size(directory: Path, users: int, keys: str, first: dict[str, float]) -> list[Point]:
    spec = TableSpec(users, ROUTES, host=HOST, sparse=keys == "sparse")
    (directory / "tables").write_text("\n".join(table_lines(spec)))
    (directory / "wsdp.ini").write_text(ini(directory / "tables"))
    points = []
    for name, (side, tasks) in CHAINS.items():
        for mode in MBUFS:
            value = beyond_io(directory, mode, side, tasks)
            base = first.setdefault(f"{name}_{mode}", value)
            fewest = "of-the-fewest-users"
            show(f"{name}_{mode}_{keys}_users_{users}", value, "cycles", value / base, fewest)
            points.append(Point(name, mode, keys, users, round(value, 2)))
    return points


def loading(directory: Path, users: int, keys: str) -> None:
    """Reading the file and building one worker's tables; the least of the runs."""
    found = [
        re.match(r"seconds ([\d.]+) octets (\d+)", run("bng_load", str(directory / "tables"), "1"))
        for _ in range(RUNS)
    ]
    seconds = min(float(match[1]) for match in found if match)
    show(f"load_{keys}_users_{users}", seconds, "s")
    for match in found[:1]:
        assert match is not None
        show(f"memory_{keys}_users_{users}", int(match[2]) / (1 << 20), "MiB")


def lookups(directory: Path, users: int) -> None:
    """Our tables against DPDK's, on the same keys in one run; the least of two turns."""
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
    print(f"# {ROUTES} routes, cycles of the TSC a frame beyond io; hot: 64 mbufs, cold: 2,048")
    with (
        tempfile.TemporaryDirectory() as name,
        changing_host(runner, state_directory(os.environ)) as state,
        reserved(state, [HugePages(0, 2048, HUGE_MIB // 2)]),
    ):
        first: dict[str, float] = {}
        for users in arguments.users:
            for keys in ("dense", "sparse") if users >= SPARSE_FROM else ("dense",):
                points += one_size(Path(name), users, keys, first)
                loading(Path(name), users, keys)
                if users >= ROUTES and keys == "dense":
                    lookups(Path(name), users)
    if output is not None:
        output.write_text(json.dumps([asdict(point) for point in points], indent=1) + "\n")


if __name__ == "__main__":
    main()
