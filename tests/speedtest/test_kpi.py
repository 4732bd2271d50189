# SPDX-License-Identifier: Apache-2.0
"""Check the collectors of TCP tests on a real server and a real iperf3 client."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Any

from tests.speedtest.conftest import Serve
from tests.support.ports import reserved_port
from tests.support.waiting import until
from wirespeed.kpi.collectors.speedtest_server import SpeedtestCollector
from wirespeed.kpi.collectors.tcp import TcpCollector
from wirespeed.kpi.interface import FAILURES, Collector, Missing, Name
from wirespeed.remote.local import LocalRunner


def values(collector: Collector, wanted: Callable[[Any], bool]) -> dict[Name, int]:
    """Return what the wanted sources read; read again where a program of another test ended."""
    merged: dict[Name, int] = {}

    def read() -> bool:
        merged.clear()
        try:
            found = collector.probe(LocalRunner())
            assert not isinstance(found, Missing), found
            for source in filter(wanted, found):
                merged.update(source.read().values)
        except FAILURES:
            return False
        return True

    until(read, f"values of {collector.name}")
    return merged


def total(found: dict[Name, int], key: str) -> int:
    return sum(count for (name, _), count in found.items() if name == key)


def shares_network(source: Any) -> bool:
    """Return whether a program is in this process's network namespace."""
    return os.readlink(f"/proc/{source.pid}/ns/net") == os.readlink("/proc/self/ns/net")


def test_tcp_and_server_count_the_octets_of_a_real_test(serve: Serve) -> None:
    server = serve("--metrics", f"127.0.0.1:{reserved_port()}")

    def is_own(source: Any) -> bool:
        return bool(source.pid == server.process.pid)

    def read() -> list[dict[Name, int]]:
        return [
            values(SpeedtestCollector(), is_own),
            values(TcpCollector(), is_own),
            values(TcpCollector(), shares_network),
        ]

    before = read()
    words = ["iperf3", "-c", "127.0.0.1", "-p", str(server.ports["--iperf3"]), "-n", "8M"]
    subprocess.run(words, check=True, capture_output=True)
    key = "speedtest_tests_finished"
    until(lambda: total(read()[0], key) > total(before[0], key), "the end of the test")
    after = read()

    def grew(place: int, key: str) -> int:
        return total(after[place], key) - total(before[place], key)

    assert grew(0, "speedtest_received_bytes") >= 8_000_000
    assert grew(0, "speedtest_tests_finished") == 1
    assert total(after[0], "speedtest_turns") > 0
    assert grew(1, "tcp_program_cpu_seconds") >= 0
    assert grew(2, "tcp_sent_segments") > 0
    assert total(after[2], "tcp_sockets") > 0
