# SPDX-License-Identifier: Apache-2.0
"""Run real TCP to and between real guests: on Open vSwitch's vhost-user ports, and on taps."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.real.alone.test_real_tcp import namespaces
from tests.support.real_bench import GUESTS, leftovers, meanwhile, planned
from wirespeed.bench.interface import BenchError
from wirespeed.bench.site import Site
from wirespeed.bench.switch.ovs_dpdk.counters import parse_ports
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.bench.tcp_session.streams import RealTcpBench, open_tcp_bench
from wirespeed.bench.traffic.tcp.ends.guest import GuestEnd
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.spec import Guest, TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpDirection, TcpGuests, TcpPinning
from wirespeed.remote.local import LocalRunner

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("needs_root")]
whole = pytest.mark.lab(whole=True)
# Ethernet, IPv4 and TCP with time stamps.
HEADERS = 66
SHORT = Tcp(path="vhost-user", seconds=2, omit_s=0)


@pytest.fixture(autouse=True)
def _nothing_is_left(needs_root: None) -> Iterator[None]:  # noqa: ARG001
    before = namespaces()
    yield
    assert leftovers() == []
    assert namespaces() == before


@contextmanager
def opened(tcp: Tcp, logs: Path, guest: Guest | None = None) -> Iterator[RealTcpBench]:
    spec = TcpStreams(tcp, guest=guest or Guest(vcpus=1))
    plan = planned(spec)
    with open_tcp_bench(spec, plan, Site(LocalRunner(), logs, GUESTS.guests_of(plan))) as bench:
        assert isinstance(bench, RealTcpBench)
        yield bench


def server_of(bench: RealTcpBench) -> GuestEnd:
    end = bench.hosts.ends["server"]
    assert isinstance(end, GuestEnd)
    return end


def vswitch_of(bench: RealTcpBench) -> OvsDpdk:
    assert isinstance(bench.hosts.vswitch, OvsDpdk)
    return bench.hosts.vswitch


def in_guest(bench: RealTcpBench, *words: str) -> str:
    return server_of(bench).place.host.runner.run(words).stdout


def octets_are_conserved(bench: RealTcpBench, run: TcpRun) -> None:
    """Check that the client got what the vSwitch gave it, and little else."""
    shown = vswitch_of(bench).control.ofctl("dump-ports")
    counts = parse_ports(shown)
    server, client = counts[1], counts[2]
    assert server.rx_dropped == server.tx_dropped == client.tx_dropped == 0
    # Each interface sends a few IPv6 frames of its own.
    assert abs(client.tx - server.rx) < 20
    way = run.directions[0]
    assert way.bytes > 0
    [counted] = [sum(each.values) for each in run.payload if each.name == "down"]
    # Retransmitted segments, results, and segments in flight at the end also count.
    assert way.bytes <= counted < 1.1 * way.bytes + 4_000_000


def test_to_a_client_outside_with_tso_and_the_guests_end_ends_the_run(tmp_path: Path) -> None:
    """One start serves both, as it takes most of the time."""

    def run() -> None:
        with opened(SHORT, tmp_path) as bench:
            [row] = vswitch_of(bench).control.rows("Open_vSwitch", "other_config")
            assert dict(row["other_config"][1])["userspace-tso-enable"] == "true"
            assert "tcp-segmentation-offload: on" in in_guest(bench, "ethtool", "-k", "eth0")
            done = bench.run()
            assert [program.name for program in done.programs] == [
                "server", "clients", "Open vSwitch",
            ]  # fmt: skip
            assert done.evidence is not None
            octets_are_conserved(bench, done)
            told = bench.describe()["server"]
            assert isinstance(told, dict)
            assert (bench.emulated is None) == (told["accelerator"] == "kvm")
            qemu = server_of(bench).part.pid
            bench_of_a_minute = replace(
                bench, hosts=replace(bench.hosts, tcp=replace(bench.hosts.tcp, seconds=60))
            )
            with meanwhile((1.0, lambda: os.kill(qemu, signal.SIGKILL))):
                bench_of_a_minute.run()

    with pytest.raises(BenchError, match=r"guest server ended; its console's last lines: .*ready"):
        run()


@whole
@pytest.mark.parametrize("path", ["vhost-user", "tap"])
def test_without_offloads_every_segment_is_a_frame(path: str, tmp_path: Path) -> None:
    with opened(replace(SHORT, path=path, offloads=False), tmp_path) as bench:
        shown = in_guest(bench, "ethtool", "-k", "eth0")
        for feature in ("tx-checksumming", "tcp-segmentation-offload", "generic-receive-offload"):
            assert f"{feature}: off" in shown
        run = bench.run()
        link = in_guest(bench, "cat", "/sys/class/net/eth0/statistics/tx_bytes",
                        "/sys/class/net/eth0/statistics/tx_packets")  # fmt: skip
    octets, frames = (int(word) for word in link.split())
    assert run.directions[0].bytes > 0
    assert octets / frames <= SHORT.mtu + 14


@whole
def test_on_taps_of_a_bridge_the_servers_own_nic_counts(tmp_path: Path) -> None:
    with opened(replace(SHORT, path="tap"), tmp_path) as bench:
        run = bench.run()
    assert run.directions[0].bytes > 0
    assert run.rate_bps(TcpDirection.DOWN) > 0
    assert run.vswitch_cpu_s is None


@whole
def test_two_queues_are_the_guests_and_the_pmd_threads(tmp_path: Path) -> None:
    tcp = replace(SHORT, queues=2, streams=4, direction=TcpDirection.BOTH)
    with opened(tcp, tmp_path, Guest(vcpus=2)) as bench:
        polled = vswitch_of(bench).control.ask("dpif-netdev/pmd-rxq-show")
        assert sum("port: server " in line and "(enabled)" in line
                   for line in polled.splitlines()) == 2  # fmt: skip
        assert in_guest(bench, "ethtool", "-l", "eth0").rstrip().endswith("2")
        run = bench.run()
    assert {way.direction for way in run.directions} == {TcpDirection.UP, TcpDirection.DOWN}
    assert all(way.bytes > 0 for way in run.directions)


@whole
def test_between_guests_and_on_the_pmd_threads_cpu(tmp_path: Path) -> None:
    tcp = replace(SHORT, guests=TcpGuests.ALL, pinning=TcpPinning.ON_PMD, seconds=5)
    with opened(tcp, tmp_path) as bench:
        [polling] = {
            program.cpus for program in bench.hosts.programs if program.name == "Open vSwitch"
        }
        assert {end.watched_cpus for end in bench.hosts.ends.values()} == {polling}
        run = bench.run()
    assert run.directions[0].bytes > 0
