# SPDX-License-Identifier: Apache-2.0
"""Run real TCP between network namespaces, on a veth pair and through a real Open vSwitch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.effort import EXHAUSTIVE
from tests.support.real_bench import RUNNER, planned
from tests.support.waiting import until
from wirespeed.bench.host.host import changing_host, tidy_up
from wirespeed.bench.host.priority import polling_first
from wirespeed.bench.host.process import await_true
from wirespeed.bench.host.programs import find_program
from wirespeed.bench.interface import BenchError
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.streams import RealTcpBench, open_tcp_bench
from wirespeed.bench.traffic.tcp.clients import cpu_s
from wirespeed.bench.traffic.tcp.programs import SPEEDTEST
from wirespeed.measure.tcp import grade, summarise
from wirespeed.measure.tcp_gate import reasons
from wirespeed.model.result.result import Grade
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpDirection, TcpTool
from wirespeed.remote.ending import end_process
from wirespeed.remote.state import state_directory

pytestmark = pytest.mark.usefixtures("needs_root")


def namespaces() -> set[str]:
    return {path.name for path in Path("/run/netns").glob("ws*")}


@pytest.fixture(autouse=True)
def program_and_no_namespace_left(needs_root: None) -> Iterator[None]:  # noqa: ARG001
    try:
        find_program(RUNNER, SPEEDTEST)
    except BenchError as missing:
        pytest.skip(missing.what)
    before = namespaces()
    yield
    assert namespaces() - before == set()


def shown(bench: RealTcpBench, host: int, *words: str) -> str:
    """Return what a command prints inside the namespace of a client."""
    return RUNNER.run([*bench.clients[host].end.place.words, *words]).stdout


def test_two_clients_on_cables_of_limited_rate(tmp_path: Path) -> None:
    tcp = Tcp(clients=2, seconds=1, omit_s=0, direction=TcpDirection.BOTH, streams=2,
              mtu=9000, offloads=False, wire_bps=100e6)  # fmt: skip
    spec = TcpStreams(tcp)
    with open_tcp_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        assert isinstance(bench, RealTcpBench)
        assert "tcp-segmentation-offload: off" in shown(bench, 1, "ethtool", "-k", "eth0")
        assert "mtu 9000" in shown(bench, 0, "ip", "link", "show", "eth0")
        assert "rate 100Mbit" in shown(bench, 0, "tc", "qdisc", "show", "dev", "eth0")
        run = bench.run()
    assert [way.direction for way in run.directions] == [TcpDirection.UP, TcpDirection.DOWN] * 2
    for way in run.directions:
        assert 0 < way.bits_per_second < 130e6
        assert way.because
        assert len(way.series) == 2
    assert run.vswitch_cpu_s is None


# Without offloads TCP passes Open vSwitch in test_pmd_threads_carry_tcp_between_the_hosts.
@pytest.mark.parametrize("offloads", [True, False] if EXHAUSTIVE else [True])
def test_through_open_vswitch(tmp_path: Path, offloads: bool) -> None:
    tcp = Tcp(path="ovs", seconds=1, omit_s=0, offloads=offloads)
    spec = TcpStreams(tcp)
    with open_tcp_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        assert isinstance(bench, RealTcpBench)
        assert bench.hosts.vswitch is not None
        [row] = bench.hosts.vswitch.control.rows("Open_vSwitch", "other_config")
        assert dict(row["other_config"][1])["userspace-tso-enable"] == str(offloads).lower()
        run = bench.run()
        forwarded = bench.hosts.vswitch.control.ofctl("dump-ports")
    [way] = run.directions
    assert way.bytes > 1_000_000
    assert run.vswitch_cpu_s is not None
    assert [program.name for program in run.programs] == ["server", "clients", "Open vSwitch"]
    assert "port  server: rx pkts=0" not in forwarded
    assert len(bench.describe()) == 2


BUSY = "ulimit -t 60; while :; do :; done"
# Busy and idle in turns, at the same moments on each CPU.
NOW_AND_THEN = """
import random, time
chance = random.Random(1)
while time.process_time() < 30:
    until = time.monotonic() + chance.uniform(0.2, 0.8)
    while time.monotonic() < until:
        pass
    time.sleep(chance.uniform(0.3, 1.2))
"""


@contextmanager
def hogs(*command: str) -> Iterator[None]:
    """Run a busy loop on each CPU, for a minute at most; begin once all of them run."""
    with ExitStack() as started:
        running = []
        for cpu in os.sched_getaffinity(0):
            # Not by SCHED_RR, by which this process runs where a bench is up.
            words = ["chrt", "--other", "0", *command]
            running.append(RUNNER.spawn(words, log=os.devnull, cpus={cpu}))
            started.callback(end_process, running[-1], 10.0)
        # More CPU time than their start takes.
        until(lambda: all(cpu_s(RUNNER, [each]) > 0.1 for each in running), "busy programs")
        yield


def test_a_program_that_takes_the_cpus_all_the_time_is_seen_in_every_interval(
    tmp_path: Path,
) -> None:
    tcp = Tcp(seconds=1, omit_s=0)
    spec = TcpStreams(tcp)
    with (
        open_tcp_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench,
        hogs("sh", "-c", BUSY),
    ):
        run = bench.run()
    assert run.others
    assert run.others_cpu_s > 0.3 * run.elapsed_s
    assert run.evidence is not None
    assert all(reasons(run.evidence, tcp.max_taken))
    result = summarise([run], tcp)
    assert (result.undisturbed_bps, grade(result)[0]) == (None, Grade.D)
    assert result.total_bps > 0


def test_tcp_clean_rate_is_that_of_the_pauses_of_a_busy_program(tmp_path: Path) -> None:
    """It holds the CPUs for about half of the time; in the pauses TCP has what it needs.

    Both run at nice -20, or the pauses would be those of this machine's other programs as well. The
    hypervisor may slow the CPUs just then, hence up to five runs.
    """
    # A machine whose hypervisor takes more than that has no clean time at all.
    tcp = Tcp(seconds=8, omit_s=0, max_taken=0.25)
    results = []
    for number in range(5):
        run = beside_pauses(tcp, tmp_path / str(number))
        assert run.evidence is not None
        disturbed = [bool(why) for why in reasons(run.evidence, tcp.max_taken)]
        assert sum(disturbed) > len(disturbed) / 4
        results.append(summarise([run], tcp))
        if (found := results[-1].undisturbed_bps) and found > 1.1 * results[-1].total_bps:
            return
    if all(result.undisturbed_bps is None for result in results):
        pytest.skip(f"this machine is too busy for the test: {grade(results[-1])[1]}")
    pytest.fail(f"{[(r.undisturbed_bps, r.total_bps) for r in results]} (undisturbed, all), bit/s")


def beside_pauses(tcp: Tcp, logs: Path) -> TcpRun:
    spec = TcpStreams(tcp)
    logs.mkdir()
    with (
        changing_host(RUNNER, state_directory(os.environ)) as host,
        polling_first(host),
        open_tcp_bench(spec, planned(spec), Site(RUNNER, logs)) as bench,
        hogs(sys.executable, "-c", NOW_AND_THEN),
    ):
        return bench.run()


def test_ports_count_what_the_client_counts(tmp_path: Path) -> None:
    spec = TcpStreams(Tcp(path="ovs", seconds=2, omit_s=1, wire_bps=100e6))
    with open_tcp_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        run = bench.run()
    assert run.rate_bps(TcpDirection.DOWN) == pytest.approx(
        run.directions[0].bits_per_second, rel=0.05
    )


def test_stock_iperf3_with_processes_and_queues_of_their_own(tmp_path: Path) -> None:
    """Two runs in a row: each of its servers has to be ready again."""
    tcp = Tcp(tool=TcpTool.IPERF3, processes=2, queues=2, seconds=1, omit_s=0,
              direction=TcpDirection.BOTH)  # fmt: skip
    spec = TcpStreams(tcp)
    with open_tcp_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        assert isinstance(bench, RealTcpBench)
        assert len(bench.hosts.server.processes) == 2
        assert "numtxqueues 2" in shown(bench, 0, "ip", "-d", "link", "show", "eth0")
        runs = [bench.run() for _ in range(2)]
    for run in runs:
        assert [way.direction for way in run.directions] == [TcpDirection.UP, TcpDirection.DOWN] * 2
        assert all(way.bytes > 0 for way in run.directions)
        assert run.server_cpu_s > 0


def test_pmd_threads_carry_tcp_between_the_hosts(tmp_path: Path) -> None:
    tcp = Tcp(path="ovs-pmd", queues=2, offloads=False, seconds=1, omit_s=0)
    spec = TcpStreams(tcp)
    with open_tcp_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        assert isinstance(bench, RealTcpBench)
        assert bench.hosts.vswitch is not None
        polled = bench.hosts.vswitch.control.ask("dpif-netdev/pmd-rxq-show")
        [way] = bench.run().directions
    for port in ("polled-server", "polled-client0"):
        assert sum(port in line for line in polled.splitlines()) == 2
    assert way.bytes > 1_000_000


def test_a_server_that_ends_is_the_reason_that_is_given(tmp_path: Path) -> None:
    spec = TcpStreams(Tcp(seconds=30))
    with open_tcp_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        assert isinstance(bench, RealTcpBench)
        bench.hosts.server.processes[0].signal(signal.SIGKILL)
        with pytest.raises(BenchError, match=r"server ended|speed test failed|did not print"):
            bench.run()


HOLD = """
import sys
from pathlib import Path
from tests.support.real_bench import RUNNER, planned
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.streams import open_tcp_bench
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import Tcp

spec = TcpStreams(Tcp(path="ovs", seconds=600, wire_bps=1e9))
with open_tcp_bench(spec, planned(spec), Site(RUNNER, Path(sys.argv[1]))) as bench:
    print("open", flush=True)
    bench.run()
"""


# SIGTERM unwinds the bench as that of test_real_faults.py.
SIGNALS = [*([signal.SIGTERM] if EXHAUSTIVE else []), signal.SIGKILL]


@pytest.mark.parametrize("number", SIGNALS)
def test_an_interruption_leaves_nothing_behind(tmp_path: Path, number: int) -> None:
    """It happens in the middle of a test. After SIGKILL the next command cleans up."""
    before = namespaces()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[3],
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        made = namespaces() - before
        assert len(made) == 3
        [client] = [name for name in made if "client" in name]
        await_true(
            lambda: RUNNER.run(["ip", "netns", "pids", client]).stdout,
            within_s=30, alive=lambda: None, otherwise=lambda: "the client does not start",
        )  # fmt: skip
        process.send_signal(number)
        process.wait(60)
    if number == signal.SIGKILL:
        said = tidy_up(RUNNER, state_directory(os.environ)).done
        assert sum("network namespace" in sentence for sentence in said) == 3
    assert namespaces() - before == set()
