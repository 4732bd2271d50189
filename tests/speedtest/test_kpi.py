# SPDX-License-Identifier: Apache-2.0
"""Check the collectors of TCP tests on a real server and a real iperf3 client."""

from __future__ import annotations

import subprocess
from contextlib import suppress

from tests.speedtest.conftest import Serve
from tests.support.ports import reserved_port
from tests.support.waiting import until
from wirespeed.kpi.collectors.speedtest_server import SpeedtestCollector
from wirespeed.kpi.collectors.tcp import TcpCollector
from wirespeed.kpi.interface import Collector, Missing, Name
from wirespeed.remote.local import LocalRunner


def values(collector: Collector) -> dict[Name, int]:
    found = collector.probe(LocalRunner())
    assert not isinstance(found, Missing), found
    merged: dict[Name, int] = {}
    for source in found:
        # Servers of other tests end meanwhile.
        with suppress(FileNotFoundError, ProcessLookupError):
            merged |= source.read().values
    return merged


def total(found: dict[Name, int], key: str) -> int:
    return sum(count for (name, _), count in found.items() if name == key)


def test_tcp_and_server_count_the_octets_of_a_real_test(serve: Serve) -> None:
    server = serve("--metrics", f"127.0.0.1:{reserved_port()}")
    own = SpeedtestCollector(), TcpCollector()
    before = [values(collector) for collector in own]
    words = ["iperf3", "-c", "127.0.0.1", "-p", str(server.ports["--iperf3"]), "-n", "8M"]
    subprocess.run(words, check=True, capture_output=True)
    key = "speedtest_tests_finished"
    until(lambda: total(values(own[0]), key) > total(before[0], key), "the end of the test")
    after = [values(collector) for collector in own]

    def grew(place: int, key: str) -> int:
        return total(after[place], key) - total(before[place], key)

    assert grew(0, "speedtest_received_bytes") >= 8_000_000
    assert grew(0, "speedtest_tests_finished") == 1
    assert total(after[0], "speedtest_turns") > 0
    assert grew(1, "tcp_sent_segments") > 0
    assert total(after[1], "tcp_sockets") > 0
    assert total(after[1], "tcp_program_cpu_seconds") >= total(before[1], "tcp_program_cpu_seconds")
