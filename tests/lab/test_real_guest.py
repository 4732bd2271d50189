# SPDX-License-Identifier: Apache-2.0
"""Check that real guests forward or account for every frame, in order, and end with the bench."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.real_bench import (
    GUESTS,
    drops,
    frames_are_conserved,
    leftovers,
    meanwhile,
    opened,
    planned,
    point,
)
from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.guest import part
from wirespeed.bench.guest.interface import Guests
from wirespeed.bench.guest.part import Guest
from wirespeed.bench.interface import BenchError
from wirespeed.bench.session import RealBench, open_bench
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.spec import Frames, GuestPages, Sut, Vnf, Vswitch
from wirespeed.model.study.spec import Guest as GuestTable
from wirespeed.remote.local import LocalRunner

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("needs_root")]
whole = pytest.mark.lab(whole=True)
IN_GUEST = Vnf(placement="guest")


def guest_of(bench: RealBench) -> Guest:
    return next(each for each in bench.rig.parts if isinstance(each, Guest))


def processes() -> list[str]:
    """Return the command lines of processes started with this test's directories."""
    name, found = os.environ["XDG_RUNTIME_DIR"], []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        found += [command] if name in command else []
    return found


@pytest.fixture(autouse=True)
def _ends_with_us(needs_root: None) -> Iterator[None]:  # noqa: ARG001
    yield
    assert not processes()


def holds(seen: Observation) -> None:
    """Check what holds on any host, however slow: every frame is accounted for, and in order."""
    assert seen.total("offered")
    assert frames_are_conserved(seen), drops(seen)
    assert DropCause.UNKNOWN not in {cause for _, cause in drops(seen)}
    assert seen.total("reordered") == seen.total("duplicated") == 0


def test_a_guest_forwards_loses_what_is_too_much_and_its_end_ends_the_trial(tmp_path: Path) -> None:
    """One start serves all three, as it takes most of the time."""

    def run() -> None:
        with opened(point("pvp", vnf=IN_GUEST), tmp_path) as bench:
            guest = guest_of(bench)
            light = bench.measure(5_000, 1.0)
            holds(light)
            assert light.total("received")
            holds(bench.measure(1_000_000, 0.5))
            told = bench.describe()["vnf0"]
            assert isinstance(told, dict)
            assert any("interface 02:01:00:00:00:00" in each for each in told["domain_changes"])
            assert bench.emulated == (None if told["accelerator"] == "kvm" else bench.emulated)
            assert {poller.name for poller in guest.pollers()} == {"vnf0/vcpu1"}
            qemu = guest.pid
            with meanwhile((0.3, lambda: os.kill(qemu, signal.SIGKILL))):
                bench.measure(5_000, 60.0)

    with pytest.raises(BenchError, match=r"guest vnf0 ended; its console's last lines: .*ready"):
        run()
    assert leftovers() == []


def started(spec: Frames, logs: Path, guests: Guests) -> None:
    with open_bench(spec, planned(spec), BenchHosts(BenchHost(LocalRunner())), logs, guests):
        pytest.fail("the bench opened")


def given(spec: Frames) -> Guests:
    guests = GUESTS.guests_of(planned(spec))
    assert guests is not None
    return guests


@whole
def test_a_guest_panic_is_reported_with_its_last_lines(tmp_path: Path) -> None:
    spec = point("pvp", vnf=IN_GUEST)
    empty = tmp_path / "initrd"
    empty.write_bytes(b"")
    guests = given(spec)
    image = replace(guests.image, initrd=str(empty))
    with pytest.raises(BenchError, match=r"guest vnf0 ended; .*[Pp]anic"):
        started(spec, tmp_path, replace(guests, image=image))


@whole
def test_a_guest_that_hangs_at_boot_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "BOOT_S", {True: 1.0, False: 1.0})
    monkeypatch.setattr(part, "_READY", "this is never said")
    spec = point("pvp", vnf=IN_GUEST)
    with pytest.raises(BenchError, match="vnf0 has not booted within 1 s; its console's last"):
        started(spec, tmp_path, given(spec))


SPECS = {
    "9000 B": (point("pvp", vnf=IN_GUEST, frame="9000"), 2_000),
    "1518 B, both ways": (point("pvp", vnf=IN_GUEST, frame="1518", bidirectional=True), 5_000),
    "4 queues": (replace(point("pvp"), sut=Sut(Vswitch(rx_queues=4), IN_GUEST)), 5_000),
    "chain of two": (point("chain", 2, vnf=IN_GUEST), 2_000),
    "testpmd": (point("pvp", vnf=replace(IN_GUEST, kind="testpmd")), 5_000),
    "memfd": (
        replace(point("pvp", vnf=IN_GUEST), guest=GuestTable(pages=GuestPages.MEMFD)), 5_000,
    ),
    "one vCPU": (replace(point("pvp", vnf=IN_GUEST), guest=GuestTable(vcpus=1)), 5_000),
    "Linux bridge": (
        replace(point("pvp"), sut=Sut(Vswitch(kind="linux-bridge"), IN_GUEST)), 5_000,
    ),
}  # fmt: skip


@whole
@pytest.mark.parametrize("name", SPECS)
def test_frames_are_conserved_and_in_order(name: str, tmp_path: Path) -> None:
    spec, load_fps = SPECS[name]
    with opened(spec, tmp_path) as bench:
        light = bench.measure(load_fps, 1.0)
        holds(light)
        assert light.total("received")
        holds(bench.measure(200_000, 0.5))
