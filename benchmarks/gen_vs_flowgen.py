# SPDX-License-Identifier: Apache-2.0
"""Compare the frame rate of `gen` on one lcore with testpmd flowgen on the same device.

Both send 64 B frames into net_null on the same CPU, in turns. gen's frames carry a sequence number
and a time stamp, and are those that tests/dataplane/test_gen.py compares octet by octet. Rates are
from the device's own counter (opackets), read the same way from both; of ROUNDS turns the median
counts.

Both get the same memory: huge pages, which need root, and then pages of 4 KiB, as an ordinary user
has them. On the latter DPDK's default pool, which testpmd takes, starts one mbuf on each page, so
that they contend for the same lines of the L1 cache; wsdp packs its mbufs.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from statistics import median

from benchmarks.shared.figures import show

from wirespeed.bench.host.host import changing_host, terminated_like_interrupted
from wirespeed.bench.host.hugepages import reserved
from wirespeed.bench.host.programs import find_program
from wirespeed.bench.interface import BenchError
from wirespeed.bench.program.dpdk import telemetry_socket
from wirespeed.bench.program.wsdp import WSDP
from wirespeed.model.plan.plan import HugePages
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory
from wirespeed.sources.telemetry import Telemetry

ROUNDS = 7
MEASURED_S = 1.0
START_S = 30.0
DEVICE = "net_null0,size=64,no-rx=1"
MEMORY_MIB = 512
MBUFS = 65536
PREFIX = "genbench"


@dataclass(frozen=True, slots=True)
class Memory:
    """Pages, as in a result's name and on DPDK's command line. --in-memory: see bench.dpdk."""

    name: str
    huge: bool

    @property
    def options(self) -> tuple[str, ...]:
        return ("--in-memory" if self.huge else "--no-huge", "-m", str(MEMORY_MIB), "--no-pci")


HUGE_PAGES, SMALL_PAGES = Memory("", huge=True), Memory("_4K_pages", huge=False)


def sender_cpu() -> int:
    return max(os.sched_getaffinity(0))


def lcores() -> str:
    """Return the main lcore on the first allowed CPU, and the sender alone on the last."""
    return f"0@{min(os.sched_getaffinity(0))},1@{sender_cpu()}"


def gen_config(flows: int, memory: Memory) -> str:
    """Return a generator as fast as possible from the start, otherwise with gen's defaults."""
    return (
        f"[eal]\nlcores = {lcores()}\nfile_prefix = {PREFIX}\n"
        f"options = {' '.join(memory.options)}\n"
        f"[pool]\nmbufs = {MBUFS}\n[port.null]\ndevice = {DEVICE}\n"
        f"[task.gen]\ntype = gen\nlcore = 1\ntx = null:0\nframe = 64\nautostart = yes\n"
        f"flow_field = dst_ip\nflows = {flows}\n"
    )


def flowgen_command(flows: int, memory: Memory) -> list[str]:
    """Return flowgen's command: 64 B with FCS by default, and a varying destination IP."""
    return [
        "dpdk-testpmd", f"--lcores={lcores()}", f"--file-prefix={PREFIX}", *memory.options,
        f"--vdev={DEVICE}", "--", "--forward-mode=flowgen", f"--flowgen-flows={flows}",
        f"--total-num-mbufs={MBUFS}", "--stats-period=1000000",
    ]  # fmt: skip


def frames_per_s(command: Sequence[str], directory: Path) -> float:
    """Return what the device counts while the command runs."""
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            env={**os.environ, "RUNTIME_DIRECTORY": str(directory)},
        )  # fmt: skip
    try:
        telemetry = await_sending(process, directory)
        before, began = sent(telemetry), time.monotonic()
        time.sleep(MEASURED_S)
        frames, took_s = sent(telemetry) - before, time.monotonic() - began
        telemetry.close()
        return frames / took_s
    finally:
        process.kill()
        process.wait()


def await_sending(process: subprocess.Popen[bytes], directory: Path) -> Telemetry:
    """Connect to a program that sends."""
    deadline = time.monotonic() + START_S
    socket = telemetry_socket(PurePosixPath(directory), PREFIX)
    while time.monotonic() < deadline and process.poll() is None:
        try:
            telemetry = Telemetry(LocalRunner(), socket)
            if telemetry.ask("/ethdev/list") and sent(telemetry):
                return telemetry
            telemetry.close()
        except OSError:
            pass
        time.sleep(0.1)
    raise BenchError(f"it does not send: {(directory / 'log').read_text()[-500:]}")


def sent(telemetry: Telemetry) -> int:
    return int(telemetry.ask("/ethdev/stats,0")["opackets"])


def take_turns(flows: int, memory: Memory, directory: Path) -> tuple[float, float]:
    """Return the medians of gen's and flowgen's rates, in frames/s."""
    config = directory / "wsdp.ini"
    config.write_text(gen_config(flows, memory))
    ours = [find_program(LocalRunner(), WSDP), "--config", str(config)]
    theirs = flowgen_command(flows, memory)
    print("ours:", shlex.join(ours))
    print("  " + config.read_text().strip().replace("\n", "\n  "))
    print("theirs:", shlex.join(theirs), flush=True)
    turns = [
        (frames_per_s(ours, directory), frames_per_s(theirs, directory)) for _ in range(ROUNDS)
    ]
    return median(turn[0] for turn in turns), median(turn[1] for turn in turns)


def compare(flows: int, memory: Memory) -> None:
    # A unix socket's path is limited to 107 characters.
    with tempfile.TemporaryDirectory(prefix="ws-", dir="/tmp") as directory:
        ours, theirs = take_turns(flows, memory, Path(directory))
    name = f"64B_{flows}_flows{memory.name}"
    show(f"flowgen_{name}", theirs, "fps")
    show(f"gen_{name}", ours, "fps", ours / theirs, "flowgen-on-the-same-cpu")


@contextmanager
def huge_pages() -> Iterator[None]:
    """Reserve pages of 2 MiB for one of the two at a time, and return them afterwards."""
    cpu = Path(f"/sys/devices/system/cpu/cpu{sender_cpu()}")
    node = int(next(cpu.glob("node*")).name.removeprefix("node"))
    wanted = HugePages(node, 2048, MEMORY_MIB // 2)
    with (
        terminated_like_interrupted(),
        changing_host(LocalRunner(), state_directory(os.environ)) as host,
        reserved(host, [wanted]),
    ):
        yield


def main() -> int:
    if os.geteuid() == 0:
        with huge_pages():
            for flows in (64, 1_000_000):
                compare(flows, HUGE_PAGES)
    else:
        print("Huge pages need root: compared on pages of 4 KiB only.")
    compare(64, SMALL_PAGES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
