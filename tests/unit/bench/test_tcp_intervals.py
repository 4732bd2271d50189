# SPDX-License-Identifier: Apache-2.0
"""Check how looks at a TCP run become intervals, and what a look reads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.bench.fake_host import FakeHost
from tests.unit.bench.test_competing import status
from wirespeed.bench.noise.tasks import TaskTimes, Wait
from wirespeed.bench.topology.tcp import Port, TcpCable
from wirespeed.bench.traffic.tcp.intervals import evidence, payload, spread_back, taken
from wirespeed.bench.traffic.tcp.ports import clients_ports, server_ports, switch_ports
from wirespeed.bench.traffic.tcp.sampler import Look, Program
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.sources.scheduler import steal_by_cpu

MS = 1_000_000
TENTH = 100 * MS
DOWN = TcpDirection.DOWN
SERVER = Program("server", frozenset({0, 1}))
TCP = Tcp(seconds=1, omit_s=0)


def looks(*waits_ms: int, traffic_from: int = 1) -> list[Look]:
    """Return a look every 0.1 s, with how long a task of the server had waited by then."""
    first = Look(7 * TENTH, {DOWN: 500}, {0: 0, 1: 0}, (), 0, 0)
    return [first] + [
        replace(
            first,
            at_ns=(8 + i) * TENTH,
            payload={DOWN: 500 + 10**6 * max(0, i + 2 - traffic_from)},
            waits=(Wait("server", "t", ms * MS),) if ms else (),
        )
        for i, ms in enumerate(waits_ms)
    ]


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 200)), max_size=30))
def test_an_amount_longer_than_its_interval_moves_to_earlier_ones(
    pairs: list[tuple[int, int]],
) -> None:
    amounts, lengths = [a for a, _ in pairs], [length for _, length in pairs]
    spread = spread_back(amounts, lengths)
    assert all(0 <= amount <= length for amount, length in zip(spread, lengths, strict=True))
    for i in range(len(pairs) + 1):
        # Nothing moves to a later interval, and only time before the first is lost.
        assert sum(spread[i:]) <= sum(lengths[i:])
        assert sum(spread[:i]) >= min(sum(amounts[:i]), sum(spread[:i]))
    assert sum(spread) <= sum(amounts)
    if all(amount <= length for amount, length in pairs):
        assert list(spread) == amounts


def test_a_wait_of_many_intervals_disturbs_all_of_them() -> None:
    seen = looks(0, 0, 0, 0, 250, 0)
    found = evidence(seen, [SERVER], TCP, 0.0)
    assert found is not None
    assert [ns // MS for ns in found.programs[0].waited_ns] == [0, 0, 50, 100, 100, 0]
    [program] = taken(seen, [SERVER])
    assert (program.name, program.cpus, program.waited_s) == ("server", 2, 0.25)


def test_time_begins_with_the_first_look_that_saw_traffic_and_ends_before_the_test_does() -> None:
    seen = looks(*[0] * 14, traffic_from=3)
    found = evidence(seen, [SERVER], TCP, 0.0)
    [series] = payload(seen, [DOWN])
    assert found is not None
    assert found.at_ns[3] == 0
    assert [i for i in range(14) if found.counts(i)] == list(range(3, 12))
    assert series.at_ns == found.at_ns[1:]
    assert series.values[:4] == (0, 0, 1e6, 1e6)


def test_without_traffic_there_is_no_evidence() -> None:
    seen = looks(0, 0, traffic_from=9)
    assert evidence(seen, [SERVER], TCP, 0.0) is None
    assert payload(seen, [DOWN]) == ()


def test_cpu_time_of_short_lived_processes_goes_to_intervals_with_new_tasks() -> None:
    seen = [
        replace(look, competing_ns=5 * MS if i else 0, made=2 if i == 3 else 0)
        for i, look in enumerate(looks(0, 0, 0, 0))
    ]
    found = evidence(seen, [SERVER], TCP, competing_s=0.080)
    assert found is not None
    assert [ns // MS for ns in found.competing_ns] == [5, 5, 65, 5]


def schedstat(pid: int, tid: int, ran_ms: int, waited_ms: int) -> dict[str, str]:
    return {f"/proc/{pid}/task/{tid}/schedstat": f"{ran_ms * MS} {waited_ms * MS} 9\n"}


def task_host(last_pid: int, *files: dict[str, str]) -> dict[str, str]:
    found = {"/proc/loadavg": f"0.1 0.2 0.3 1/99 {last_pid}\n"}
    for each in files:
        found |= each
    for path in list(found):
        if path.endswith("schedstat"):
            pid = int(path.split("/")[2])
            text = status(pid, "6-7" if pid == 40 else "0-3")[f"/proc/{pid}/status"]
            name = "ksoftirqd/0" if pid == 30 else "x"
            found[path.replace("schedstat", "status")] = text.replace("Name:\tx", f"Name:\t{name}")
    return found


def test_tasks_are_distinguished_by_whose_they_are() -> None:
    before = [schedstat(10, 10, 500, 300), schedstat(10, 11, 5, 3), schedstat(20, 20, 900, 1),
              schedstat(30, 30, 70, 1), schedstat(40, 40, 80, 1)]  # fmt: skip
    host = FakeHost(task_host(40, *before))
    tasks = TaskTimes(host, {10: "server"}, {0, 1})
    host.files = task_host(
        52, schedstat(10, 10, 510, 310), schedstat(10, 11, 6, 3), schedstat(20, 20, 904, 9),
        schedstat(30, 30, 99, 9), schedstat(40, 40, 99, 9), schedstat(51, 51, 2, 9),
        schedstat(52, 52, 3, 8),
    )  # fmt: skip
    tasks.own({52: "clients"})
    assert tasks.refresh() == 12
    waits, competing_ns = tasks.add(host.read_many(tasks.paths))
    assert {(wait.program, wait.waited_ns // MS) for wait in waits} == {
        ("server", 10), ("clients", 8),
    }  # fmt: skip
    assert competing_ns == (4 + 2) * MS
    assert tasks.add(host.read_many(tasks.paths)) == ((), 0)
    assert tasks.refresh() == 0


def net_dev(**ports: tuple[int, int, int, int]) -> str:
    """Return the file of ports with octets and packets received, octets and packets sent."""
    rows = [
        f"  {name}: {ports[name][0]} {ports[name][1]} 0 0 0 0 0 0 "
        f"{ports[name][2]} {ports[name][3]} 0 0 0 0 0 0"
        for name in ports
    ]
    return "\n".join(["Inter-|   Receive", " face |bytes", *rows]) + "\n"


def cable(host: str) -> TcpCable:
    return TcpCable(Port(host, "eth0", "m"), Port("switch", host, "m"))


def test_payload_is_counted_at_the_far_end_of_the_cables_without_headers() -> None:
    text = net_dev(lo=(9, 9, 9, 9), eth0=(660, 10, 1566, 1), eth1=(1066, 1, 66, 1))
    ports = [Port("server", name, "m") for name in ("eth0", "eth1")]
    assert server_ports(ports, 7).payload(text) == {DOWN: 1500, TcpDirection.UP: 1000}
    assert server_ports(ports, 7).here == ("/proc/7/net/dev",)
    plugged = (cable("server"), cable("client0"))
    text = net_dev(server=(1566, 1, 1066, 1), client0=(1066, 1, 1566, 1))
    assert switch_ports(plugged, 7).payload(text) == {DOWN: 1500, TcpDirection.UP: 1000}


def test_client_ports_of_a_guest_server_count_both_directions() -> None:
    text = net_dev(client0=(1066, 1, 1566, 1), client1=(566, 1, 66, 1))
    plugged = (cable("server"), cable("client0"), cable("client1"))
    assert clients_ports(plugged, 7).payload(text) == {DOWN: 1500, TcpDirection.UP: 1500}


def test_ports_that_only_the_servers_machine_sees_are_read_there() -> None:
    there = FakeHost({"/proc/7/net/dev": net_dev(eth0=(66, 1, 1566, 1))})
    counters = server_ports([Port("server", "eth0", "m")], 7, there)
    assert counters.here == ()
    text = counters.text({})
    assert isinstance(text, str)
    assert counters.payload(text) == {DOWN: 1500, TcpDirection.UP: 0}


@pytest.mark.parametrize(("cpu", "expected"), [(0, 4 * 10 * MS), (11, 90 * MS)])
def test_steal_is_counted_for_each_cpu(cpu: int, expected: int) -> None:
    stat = (
        "cpu  1 1 1 1 1 1 1 99 0 0\ncpu0 1 2 3 4 5 6 7 4 0 0\ncpu11 0 0 0 0 0 0 0 9 0 0\nintr 1\n"
    )
    assert steal_by_cpu(stat)[cpu] == expected
