# SPDX-License-Identifier: Apache-2.0
"""Check that changes on other hosts are undone, however the run or the connection ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lab_hosts import Lab, lab
from tests.support.real_bench import planned, point
from tests.support.waiting import asleep, until
from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.host.directories import run_directories
from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.journal_file import of_living_runs
from wirespeed.bench.host.leftovers import hosts_left
from wirespeed.bench.host.priority import polling_first
from wirespeed.bench.session import open_bench


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[Lab]:
    names = ["tester", "dut"]
    with tempfile.TemporaryDirectory(prefix="wl") as folder, lab(Path(folder), names) as made:
        yield made


def clean(hosts: Lab, state: Path) -> subprocess.CompletedProcess[str]:
    """Run `wirespeed clean`, which finds the hosts by their addresses in the journals."""
    path = f"{hosts.ssh.parent}:{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", "clean"],
        env={**os.environ, "PATH": path, "XDG_STATE_HOME": str(state)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.alone
@pytest.mark.usefixtures("own_state")
def test_a_bench_runs_on_another_host(two_hosts: Lab, tmp_path: Path) -> None:
    spec = point("wire")
    with (
        two_hosts.runner("tester") as runner,
        open_bench(spec, planned(spec), BenchHosts(BenchHost(runner)), tmp_path) as bench,
    ):
        seen = bench.measure(10_000.0, 0.2)
    assert seen.total("received") == seen.total("offered") > 0


def test_pollers_and_agent_run_at_nice_minus_20_on_another_host(
    two_hosts: Lab, tmp_path: Path
) -> None:
    def nice() -> set[int]:
        """Return the niceness of the agent's threads, its commands, a new session and a child."""
        agent = runner.run(["sh", "-c", "echo $PPID"]).stdout.strip()
        threads = [int(path.split("/")[-1]) for path in runner.glob(f"/proc/{agent}/task/*")]
        assert len(threads) == 2
        found = {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads}
        log = str(tmp_path / "log")
        runner.write(log, "")
        for start in (host.spawn, runner.spawn):
            assert start(["nice"], log=log).wait(20) == 0
        return found | {
            int(said) for said in [runner.run(["nice"]).stdout, *runner.read(log).split()]
        }

    with two_hosts.runner("dut") as runner, changing_host(runner, tmp_path) as host:
        before = nice()
        with polling_first(host) as said:
            assert nice() == {-20}
            assert said.startswith("nice -20")
        assert nice() == before


def test_logs_are_fetched_however_a_run_ends(two_hosts: Lab, tmp_path: Path) -> None:
    state, logs = tmp_path / "state", tmp_path / "logs"

    def run() -> None:
        with changing_host(runner, state) as host, run_directories(host, logs) as dirs:
            assert dirs.log != logs
            runner.write(str(dirs.log / "ovs.log"), "its last words\n")
            raise RuntimeError("the run fails")

    with two_hosts.runner("tester") as runner, pytest.raises(RuntimeError, match="the run fails"):
        run()
    assert (logs / "ovs.log").read_text() == "its last words\n"
    assert hosts_left(state) == ()


RUN = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from wirespeed.bench.host.host import changing_host, terminated_like_interrupted
from wirespeed.remote.reach import reach
state, made, *addresses = sys.argv[1:]
with ExitStack() as stack:
    stack.enter_context(terminated_like_interrupted())
    runners = [stack.enter_context(reach(address)) for address in addresses]
    hosts = [stack.enter_context(changing_host(runner, Path(state))) for runner in runners]
    for number, host in enumerate(hosts):
        host.make_directory(f"{made}{number}")
        host.spawn(["sleep", "600"], log=f"{made}{number}/log")
    print("open", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_nothing_on_either_host(
    two_hosts: Lab, tmp_path: Path, number: signal.Signals
) -> None:
    state, made = tmp_path / "state", tmp_path / "made"
    addresses = [two_hosts[name].url for name in ("tester", "dut")]
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(state / "wirespeed"), str(made), *addresses],
        env={**os.environ, "PATH": f"{two_hosts.ssh.parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    with run.stdout as said:
        assert said.readline() == "open\n"
    changes = [c for a in addresses for c in of_living_runs(state / "wirespeed", a)]
    children = [os.pidfd_open(c.pid) for c in changes if hasattr(c, "pid")]
    assert len(children) == 2
    until(lambda: asleep(run.pid), "the run waits")
    run.send_signal(number)
    run.wait(60)
    for child in children:
        assert select.select([child], [], [], 30)[0], "a child outlived the run"
        os.close(child)
    assert hosts_left(state / "wirespeed") == (
        tuple(sorted(addresses)) if number == signal.SIGKILL else ()
    )
    done = clean(two_hosts, state)
    assert (done.returncode, done.stderr) == (0, "")
    if number == signal.SIGKILL:
        assert sorted(line.partition(": ")[2] for line in done.stdout.splitlines()) == [
            f"removed {made}0", f"removed {made}1",
        ]  # fmt: skip
    assert not list(tmp_path.glob("made*"))
    assert hosts_left(state / "wirespeed") == ()
