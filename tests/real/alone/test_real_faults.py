# SPDX-License-Identifier: Apache-2.0
"""Check that each failure of a real bench ends in one clear error, with nothing left over."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.effort import EXHAUSTIVE
from tests.support.real_bench import (
    RUNNER,
    leftovers,
    meanwhile,
    opened,
    point,
    process,
)
from wirespeed.bench import session
from wirespeed.bench.host.changes import ProcessStarted
from wirespeed.bench.host.host import tidy_up
from wirespeed.bench.host.journal import Undone
from wirespeed.bench.host.journal_file import of_living_runs
from wirespeed.bench.interface import BenchError
from wirespeed.bench.program import wsdp as program
from wirespeed.bench.switch.ovs_dpdk import programs as ovs
from wirespeed.cli.input.host_source import read_facts
from wirespeed.model.errors import BadInput
from wirespeed.model.study.spec import Vnf

REPOSITORY = Path(__file__).parents[3]

as_root = pytest.mark.usefixtures("needs_root")
anyone = pytest.mark.usefixtures("own_state")


@as_root
@pytest.mark.parametrize(("victim", "what"), [("vnf0", "vnf0"), ("Open vSwitch", "ovs-vswitchd")])
def test_a_part_killed_in_a_trial_ends_it_with_its_name(
    victim: str, what: str, tmp_path: Path
) -> None:
    def run() -> None:
        with opened(point("pvp", vnf=Vnf(placement="process")), tmp_path) as bench:
            dies = process(bench, victim)
            with meanwhile((0.3, lambda: dies.signal(signal.SIGKILL))):
                bench.measure(20_000, 60.0)

    with pytest.raises(BenchError, match=rf"{what} ended \(killed by SIGKILL\)"):
        run()


# SIGTERM is handled like SIGINT: bench.host.host.terminated_like_interrupted.
SIGNALS = [*([signal.SIGINT] if EXHAUSTIVE else []), signal.SIGTERM, signal.SIGKILL]
RUN = """
import sys
from pathlib import Path
from tests.real.alone.test_real_injected import faulty
from tests.support.real_bench import opened
with opened(faulty("pmd-core-hog", "p2p", strength=0.3), Path(sys.argv[1])) as bench:
    print("open", flush=True)
    bench.measure(20_000, 600.0)
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield another wirespeed in a long trial with a fault; end it afterwards in any case."""
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "stderr").open("w"),
        text=True,
    )
    assert run.stdout is not None
    with run.stdout as said:
        try:
            assert said.readline() == "open\n", (tmp_path / "stderr").read_text()
            yield run
        finally:
            run.kill()
            run.wait(30)


def audited() -> list[dict[str, Any]]:
    """Return the findings that `wirespeed audit` reports of this machine."""
    command = Path(sys.executable).with_name("wirespeed")
    done = subprocess.run(
        [command, "audit", "--format", "json"], capture_output=True, text=True, check=False
    )
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return findings


@as_root
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_leaves_nothing_behind(
    number: signal.Signals, running: subprocess.Popen[str]
) -> None:
    state = Path(os.environ["XDG_STATE_HOME"]) / "wirespeed"
    changes = of_living_runs(state, RUNNER.name)
    children = [os.pidfd_open(c.pid) for c in changes if isinstance(c, ProcessStarted)]
    assert len(children) == 4  # database, vSwitch, generator, the fault's hog
    running.send_signal(number)
    assert running.wait(60) != 0
    for child in children:
        assert select.select([child], [], [], 30)[0], "a child outlived the run"
        os.close(child)
    left_by_it = read_facts(None, None).left_by_killed_runs
    assert left_by_it is not None
    if number == signal.SIGKILL:
        assert any(str(change) in left_by_it for change in changes)
        [finding] = [each for each in audited() if each["rule"] == "WS51"]
        assert finding["status"] == "failed"
        assert all(str(change) in finding["found"] for change in changes)
        assert finding["fix"] == ["wirespeed clean"]
    else:
        assert left_by_it == ()
    left = tidy_up(RUNNER, state)
    assert read_facts(None, None).left_by_killed_runs == ()
    if number == signal.SIGKILL:
        assert any(line.startswith("removed ") for line in left.done), left
    else:
        assert left == Undone()
    assert leftovers() == []


# Everything is imported first, and wsdp is a copy: the tree may be readable by root only.
NOBODY = """
import os, sys
from dataclasses import replace
from pathlib import Path
from tests.support.real_bench import opened, point
from wirespeed.bench.program import wsdp
from wirespeed.model.errors import WirespeedError
wsdp.WSDP = replace(wsdp.WSDP, built=Path(sys.argv[3]))
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    with opened(point(sys.argv[1]), Path(sys.argv[2])) as bench:
        seen = bench.measure(20_000, 0.1)
        print(seen.total("offered") == seen.total("received") > 0)
except WirespeedError as fault:
    print(fault.what)
"""


def as_nobody(kind: str, directory: Path) -> str:
    """Return what the run of an ordinary user prints."""
    for name in ("run", "state", "logs"):
        (directory / name).mkdir()
        shutil.chown(directory / name, 65534, 65534)
    copy = shutil.copy2(program.WSDP.built, directory / "wsdp")
    own = {"HOME": "", "XDG_RUNTIME_DIR": "/run", "XDG_STATE_HOME": "/state"}
    environment = {**os.environ, **{key: f"{directory}{path}" for key, path in own.items()}}
    done = subprocess.run(
        [sys.executable, "-c", NOBODY, kind, f"{directory}/logs", str(copy)],
        cwd=REPOSITORY, env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.fixture
def open_to_all(own_state: None) -> Path:  # noqa: ARG001
    """Return a directory that an ordinary user can reach; pytest's own are root's."""
    directory = Path(os.environ["XDG_STATE_HOME"]).parent
    directory.chmod(0o755)
    made = directory / "nobody"
    made.mkdir(mode=0o755)
    return made


@as_root
def test_without_root_only_the_reference_sut_runs(open_to_all: Path) -> None:
    (wire := open_to_all / "wire").mkdir(mode=0o755)
    (p2p := open_to_all / "p2p").mkdir(mode=0o755)
    assert as_nobody("wire", wire) == "True"
    assert "p2p needs root" in as_nobody("p2p", p2p)


@as_root
def test_a_socket_that_is_taken_is_named(tmp_path: Path) -> None:
    path = str(Path(os.environ["XDG_STATE_HOME"]).parent / "taken.sock")
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(path)
        taken.listen()
        spec = point("external", ports=(f"net_vhost0,iface={path}", "net_null0,no-rx=1"))
        with (
            pytest.raises(BenchError, match=rf"port.east\] device = net_vhost0,iface={path}"),
            opened(spec, tmp_path),
        ):
            pass


@as_root
def test_a_path_that_leads_nowhere_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_OPEN_S", 0.5)
    spec = point("external", ports=("net_null0,no-rx=1", "net_null1,no-rx=1"))
    with (
        pytest.raises(
            BenchError, match=r"do not pass the SUT: of \d+ .* 0 arrived; .* at external"
        ),
        opened(spec, tmp_path),
    ):
        pass


@anyone
@pytest.mark.parametrize("address", ["0000:ff:1f.7", "FFFF:00:00.0"])
def test_a_nic_that_does_not_exist_is_named(address: str, tmp_path: Path) -> None:
    spec = point("external", ports=(address, "net_null0"))
    with pytest.raises(BadInput, match=f"no PCI device {address}"), opened(spec, tmp_path):
        pass


@as_root
def test_a_host_without_open_vswitch_is_an_error_with_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ovs, "_DAEMONS", (f"{tmp_path}/ovs-vswitchd",))
    with pytest.raises(BenchError) as told, opened(point("p2p"), tmp_path):
        pass
    assert f"looked for {tmp_path}/ovs-vswitchd" in told.value.what
    assert "apt-get install openvswitch-switch-dpdk" in told.value.next_step


@anyone
def test_a_data_plane_that_is_not_built_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "WSDP", replace(program.WSDP, built=tmp_path / "wsdp"))
    with pytest.raises(BenchError) as told, opened(point("wire"), tmp_path):
        pass
    assert f"wsdp is not on localhost: {tmp_path}/wsdp does not exist" in told.value.what
    assert "Run `make setup` there" in told.value.next_step
