# SPDX-License-Identifier: Apache-2.0
"""Check that the server's verdict names what limits a transfer.

Each case has a real cause, between two network namespaces with a router between them: busy loops on
the server's CPU, other tests of the same server, a client that reads or writes slowly, a small
SO_RCVBUF or SO_SNDBUF, a slow or lossy wire (tbf on the router's port), a rate limit of the server.
Each is tested several times. Prints the confusion matrix (real cause against verdict), then `name
value unit ratio-to-what`; exits 1 when a case does not get the right verdict most of the time.
Needs root.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attacks.faulty_client import Fault

from wirespeed.bench.assembly.parts import bring_up
from wirespeed.bench.host.directories import run_directories
from wirespeed.bench.host.host import Host, changing_host
from wirespeed.bench.host.network import Network, VethEnd, VethPair, inside
from wirespeed.bench.host.programs import find_program
from wirespeed.bench.traffic.tcp.ends.interface import Place
from wirespeed.bench.traffic.tcp.programs import PORT, SPEEDTEST, SpeedtestServer, client_words
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory

FAULTY_CLIENT = Path(__file__).parent / "attacks" / "faulty_client.py"
REPEATS = 3
SECONDS = 2
CONGESTION = "cubic"
HOGS = 4
OTHERS = 8
SERVER_IP, CLIENT_IP = "198.18.0.1", "198.18.1.1"
LIMITERS = ("server_cpu", "client", "receive_window", "send_buffer", "path", "policy", "shared")


@dataclass(frozen=True, slots=True)
class Case:
    """A cause and how it is injected."""

    name: str
    caused: str
    reverse: bool
    hogs: int = 0
    """Number of busy loops on the server's CPU, each a session of its own."""
    others: int = 0
    """Number of downloads in small blocks during the test, which take all of the server's CPU."""
    wire: tuple[float, float] | None = None
    """Rate in bits/s and queue in ms of the router's port towards the receiver."""
    server: tuple[str, ...] = ()
    client: dict[str, float] | None = None
    """Fields of faulty_client.Fault; None selects our own client without a fault."""


DOWN, UP = True, False
CASES = (
    Case("download, server CPU hogged", "server_cpu", DOWN, hogs=HOGS),
    Case("download, others test", "shared", DOWN, others=OTHERS),
    Case("download, slow reader", "client", DOWN, client={"pace_bps": 200e6}),
    Case("download, small SO_RCVBUF", "receive_window", DOWN, client={"rcvbuf": 16384}),
    Case("download, small SO_SNDBUF", "send_buffer", DOWN, client={"window": 16384}),
    Case("download, slow wire", "path", DOWN, wire=(200e6, 40)),
    Case("download, lossy wire", "path", DOWN, wire=(500e6, 0.5)),
    Case("download, rate limit", "policy", DOWN, server=("--max-rate", "200000000")),
    Case("upload, server CPU hogged", "server_cpu", UP, hogs=HOGS),
    Case("upload, others test", "shared", UP, others=OTHERS),
    Case("upload, slow writer", "client", UP, client={"pace_bps": 200e6}),
    Case("upload, small SO_RCVBUF", "receive_window", UP, client={"window": 16384}),
    Case("upload, slow wire", "path", UP, wire=(200e6, 40)),
    Case("upload, lossy wire", "path", UP, wire=(500e6, 0.5)),
    Case("upload, rate limit", "policy", UP, server=("--max-rate", "200000000")),
)


@contextmanager
def rig(state: Host, case: Case, logs: Path) -> Iterator[str]:
    """Yield the client's host, with the case's cause injected and the server up."""
    cpus = sorted(os.sched_getaffinity(0))
    with ExitStack() as stack:
        dirs = stack.enter_context(run_directories(state, logs))
        network = Network(state, dirs.tag)
        server = VethEnd(network.host("server"), "eth0", "02:00:00:00:00:01", SERVER_IP)
        client = VethEnd(network.host("client"), "eth0", "02:00:00:00:00:02", CLIENT_IP)
        towards = through_router(network, server, client)
        if case.wire is not None:
            network.limit(towards[client if case.reverse else server], *case.wire)
        place = Place(state, dirs, inside(server.namespace), tuple(cpus[:1]))
        part = SpeedtestServer(place, case.server)
        bring_up([part], stack)
        if case.hogs:
            come_last(state, part.processes[0].pid)
        for number in range(case.hogs):
            hog = state.spawn(["sh", "-c", "while :; do :; done"],
                              log=str(dirs.log / f"hog{number}.log"), cpus=cpus[:1])  # fmt: skip
            stack.callback(hog.wait, 10)
            stack.callback(hog.signal, 9)
        if case.others:
            beside = state.spawn(others(state, client.namespace, case.others),
                                 log=str(dirs.log / "others.log"), cpus=cpus[-1:])  # fmt: skip
            stack.callback(beside.wait, 10)
            stack.callback(beside.signal, 9)
        yield client.namespace


def others(state: Host, host: str, streams: int) -> list[str]:
    """Return the command of a client that downloads in small blocks until it is killed."""
    program = find_program(state.runner, SPEEDTEST)
    test = ["--time", "3600", "--reverse", "--parallel", str(streams), "--block", "256"]
    return [*inside(host), program, "client", f"{SERVER_IP}:{PORT}", *test]


def come_last(state: Host, pid: int) -> None:
    """Let all other processes on its CPU run before this process.

    A server that drops uploads inside the kernel needs so little CPU time that its fair share would
    suffice.
    """
    group = f"/proc/{pid}/autogroup"
    if state.runner.glob(group):
        state.runner.write(group, "19")
    for task in state.runner.glob(f"/proc/{pid}/task/*"):
        state.runner.run(["renice", "-n", "19", "-p", task.rpartition("/")[2]])


def through_router(network: Network, server: VethEnd, client: VethEnd) -> dict[VethEnd, VethEnd]:
    """Join the two by a router; return its port towards each."""
    router = network.host("router")
    towards = {
        server: VethEnd(router, "server", "02:00:00:00:00:03", "198.18.0.2"),
        client: VethEnd(router, "client", "02:00:00:00:00:04", "198.18.1.2"),
    }
    for host, port in towards.items():
        network.connect(VethPair(host, port), 1500)
        assert port.ip is not None
        network.route_all(host, port.ip)
    network.forward(router)
    return towards


def verdict(state: Host, case: Case, host: str) -> tuple[str, list[str]]:
    """Return one test's verdict and its evidence."""
    if case.client is None:
        direction = TcpDirection.DOWN if case.reverse else TcpDirection.UP
        tcp = Tcp(direction=direction, seconds=SECONDS, omit_s=0, congestion=CONGESTION)
        words = [find_program(state.runner, SPEEDTEST), *client_words(SERVER_IP, tcp)]
    else:
        fault = Fault(SERVER_IP, PORT, SECONDS, CONGESTION, case.reverse)
        faulty = json.dumps(dataclasses.asdict(fault) | case.client)
        words = [sys.executable, str(FAULTY_CLIENT), faulty]
    cpu = str(max(os.sched_getaffinity(0)))
    done = state.runner.run([*inside(host), "taskset", "-c", cpu, *words], timeout_s=60)
    output = json.loads(done.stdout)
    server = output if case.client is not None else output["results"][0]["server"]
    [direction_seen] = server["directions"]
    found = direction_seen["verdict"]
    rate = f"{direction_seen['bits_per_second'] / 1e6:.0f} Mbit/s"
    return found["limited_by"], [rate, *found["because"]]


def main() -> int:
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 1
    print(f"# {REPEATS} tests of {SECONDS} s for each case, one stream, veth, {CONGESTION}")
    matrix: dict[str, Counter[str]] = {limiter: Counter() for limiter in LIMITERS}
    right: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="wirespeed") as logs:
        runner, state_dir = LocalRunner(), state_directory(os.environ)
        for case in CASES:
            with changing_host(runner, state_dir) as state, rig(state, case, Path(logs)) as host:
                found = [verdict(state, case, host) for _ in range(REPEATS)]
            matrix[case.caused].update(limiter for limiter, _ in found)
            right[case.name] = sum(limiter == case.caused for limiter, _ in found)
            for limiter, because in found:
                if limiter != case.caused:
                    print(f"# {case.name}: {limiter}, because {'; '.join(because)}", flush=True)
    show(matrix)
    for name, count in right.items():
        print(f"{name}: {count} right {count / REPEATS:.2f}x of {REPEATS}")
    total = len(CASES) * REPEATS
    print(f"verdicts: {sum(right.values())} right {sum(right.values()) / total:.3f}x of {total}")
    return 0 if all(count * 2 > REPEATS for count in right.values()) else 1


def show(matrix: dict[str, Counter[str]]) -> None:
    """Print the confusion matrix: a row for each cause, a column for each verdict."""
    said = [*LIMITERS, *sorted({s for row in matrix.values() for s in row} - set(LIMITERS))]
    print(f"{'caused / verdict':18}" + "".join(f"{name:>16}" for name in said))
    for limiter, row in matrix.items():
        print(f"{limiter:18}" + "".join(f"{row[name] or '.':>16}" for name in said))


if __name__ == "__main__":
    sys.exit(main())
