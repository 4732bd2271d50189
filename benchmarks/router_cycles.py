# SPDX-License-Identifier: Apache-2.0
"""Measure the routers' cycles per frame beyond the `io` task, with tables of several sizes.

One lcore of one process routes minimum frames: `l3fwd`, `router`, `router` with every prefix on
one of two groups of two next hops (`ecmp`), and to two outputs in turns: `router_two`, and DPDK's
own sample application (`dpdk_l3fwd`, with --lookup=fib, of the package dpdk-doc; see
dataplane/bench/dpdk_l3fwd.h). Tables are those of `wirespeed router table`. `used`
takes turns among 2,048 destinations, `wide` among one in each prefix. Source and sink cost almost
nothing, and frames are restored between timed passes. Each frame must be forwarded; otherwise the
program fails. All tasks take 60 turns of 131,072 frames. The result of a turn is its median pass in
TSC cycles per frame. Another tenant of the machine can slow a core down for most of a second, so
the turn at the lowest decile (`quiet`) counts next to the median turn. Prints `name value unit
ratio-to-what`; the ratio is to the required result, to DPDK's l3fwd, or to l3fwd. IPv6 lookups use
AVX-512 where the CPU has it. `--sizes small` measures 10,000 prefixes only. Needs root, for huge
pages (3.5 GiB; the small size 1280 MiB); takes a minute.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.shared.figures import show

from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.hugepages import reserved
from wirespeed.model.plan.plan import HugePages
from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory
from wirespeed.routing.formats import Format, Table, lines
from wirespeed.routing.generate import Route, Shape, generate

PROGRAM = Path(__file__).parents[1] / "build/dataplane/bench/bench_router_cycles"
TURNS = 60
TASKS = ("io", "l3fwd", "router", "ecmp", "router_two", "dpdk_l3fwd")
# Prefixes of a table by IP version, and MiB of huge pages that five tasks with it need.
SIZES = {
    "10k": ({4: 10_000}, 1280),
    "10k6": ({6: 10_000}, 1280),
    "1m": ({4: 1_000_000}, 3584),
    "200k6": ({6: 200_000}, 3584),
}
SMALL = ("10k", "10k6")
# Most cycles beyond io of a router, by table, destinations, and turn.
ASKED = {
    ("10k", "used", "quiet"): 48,
    ("10k", "used", "median"): 55,
    ("1m", "used", "quiet"): 50,
    ("1m", "used", "median"): 60,
    ("1m", "wide", "median"): 75,
    ("10k6", "used", "quiet"): 56,
    ("10k6", "used", "median"): 65,
    ("200k6", "used", "quiet"): 75,
    ("200k6", "wide", "median"): 110,
}
HOPS = 2


def table_file(
    path: Path, prefixes: dict[int, int], *, ecmp: bool = False, outputs: int = 1
) -> None:
    """Write the table of a size; with ecmp each hop becomes a group of all hops.

    So the lookup tables are as large as without groups. outputs: of the task; hops take turns.
    """
    routes: dict[int, list[Route]] = {4: [], 6: []}
    for version, count in prefixes.items():
        shape = Shape(version, prefix_lengths(version), published_table(version).more_specific)
        routes[version] = generate(shape, count, HOPS, seed=1)
    written = list(lines(Table(routes[4], routes[6], HOPS, outputs), Format.WSDP))
    if ecmp:
        head, rest = written[: 1 + HOPS], written[1 + HOPS :]
        members = " ".join(map(str, range(HOPS)))
        groups = [f"group {HOPS + hop} {members}" for hop in range(HOPS)]
        pairs = (line.rsplit(" ", 1) for line in rest)
        written = [*head, *groups, *(f"{route} {HOPS + int(hop)}" for route, hop in pairs)]
    path.write_text("\n".join(written) + "\n")


def ini(directory: Path, tasks: tuple[str, ...]) -> str:
    """Return tasks on rings; the program puts source and sink at both ends of each."""
    kinds = {
        "io": "type = io\n",
        "l3fwd": f"type = l3fwd\nroutes = {directory}/routes\n",
        "router": f"type = router\nroutes = {directory}/routes\n",
        "ecmp": f"type = router\nroutes = {directory}/ecmp\n",
        "router_two": f"type = router\nroutes = {directory}/two\n",
        "dpdk_l3fwd": "type = io\n",
    }
    text = "[pool]\nmbufs = 8192\n"
    for name in tasks:
        ways = range(2 if name == "router_two" else 1)
        outs = ", ".join(f"ring:{name}_out{way}" for way in ways)
        text += (
            f"[ring.{name}_in]\nsize = 64\n[task.{name}]\n"
            f"{kinds[name]}lcore = 1\nrx = ring:{name}_in\ntx = {outs}\n"
        )
        for way in ways:
            text += (
                f"[ring.{name}_out{way}]\nsize = 64\n[task.{name}_back{way}]\ntype = io\n"
                f"lcore = 2\nrx = ring:{name}_out{way}\ntx = ring:{name}_in\n"
            )
    return text


Turns = dict[tuple[str, str], dict[str, float]]


def run(directory: Path, tasks: tuple[str, ...], mib: int) -> Turns:
    """Return the quiet and the median turn by task and destinations."""
    cpu = max(os.sched_getaffinity(0))
    lcores = ",".join(f"{lcore}@{cpu}" for lcore in range(3))
    (directory / "wsdp.ini").write_text(ini(directory, tasks))
    command = [
        str(PROGRAM), str(directory / "wsdp.ini"), str(directory / "two"), str(TURNS), *tasks,
        "--", f"--lcores={lcores}", "-m", str(mib - 64), "--in-memory", "--no-pci",
        "--no-telemetry", "--log-level=error", "--force-max-simd-bitwidth=512",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        sys.exit(f"router_cycles: {done.stderr.strip()}")
    found = {}
    for line in done.stdout.splitlines():
        task, _version, mode, quiet, median = line.split()
        found[task, mode] = {"quiet": float(quiet), "median": float(median)}
    return found


def one_size(directory: Path, size: str) -> None:
    prefixes, mib = SIZES[size]
    table_file(directory / "routes", prefixes)
    table_file(directory / "ecmp", prefixes, ecmp=True)
    table_file(directory / "two", prefixes, outputs=HOPS)
    found = run(directory, TASKS, mib)
    for mode in ("used", "wide"):
        for turn in ("quiet", "median"):
            beyond = {
                task: found[task, mode][turn] - found["io", mode][turn]
                for task in TASKS[1:]
                if (task, mode) in found
            }
            for task, cycles in beyond.items():
                asked = ASKED.get((size, mode, turn))
                name = f"{task}_{size}_{mode}_{turn}"
                if asked is not None and task == "router":
                    show(name, cycles, "cycles", cycles / asked, f"of-the-{asked} asked")
                elif task == "router_two":
                    ratio = cycles / beyond["dpdk_l3fwd"]
                    show(name, cycles, "cycles", ratio, "of-dpdk_l3fwd, 1 asked")
                else:
                    show(name, cycles, "cycles", cycles / beyond["l3fwd"], "of-l3fwd")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", choices=["all", "small"], default="all")
    arguments = parser.parse_args()
    sizes = SMALL if arguments.sizes == "small" else tuple(SIZES)
    runner = LocalRunner()
    with (
        tempfile.TemporaryDirectory() as name,
        changing_host(runner, state_directory(os.environ)) as host,
    ):
        for size in sizes:
            mib = SIZES[size][1]
            with reserved(host, [HugePages(0, 2048, mib // 2)]):
                one_size(Path(name), size)


if __name__ == "__main__":
    main()
