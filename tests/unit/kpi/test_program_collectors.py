# SPDX-License-Identifier: Apache-2.0
"""Check the collectors of guests, TCP tests, speed-test servers and of the sampler itself."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import cast

import pytest

from tests.support.http_serving import serving_thread
from tests.support.waiting import until
from tests.unit.kpi.fake_host import BOOT, FakeHost, missing, read
from wirespeed.kpi.collectors import speedtest_server
from wirespeed.kpi.collectors.guests import GuestCollector
from wirespeed.kpi.collectors.own import Meter, OwnCollector
from wirespeed.kpi.collectors.speedtest_server import SpeedtestCollector
from wirespeed.kpi.collectors.tcp import TcpCollector, parse
from wirespeed.kpi.interface import FAILURES, Collector, Missing, Name, Source
from wirespeed.remote.interface import Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.listeners import listeners


def process(
    pid: int, name: str, *words: str, threads: dict[int, str] | None = None
) -> dict[str, str]:
    """Return the files of a process in /proc."""
    stat = f"{pid} ({name}) S {' '.join(str(n) for n in range(4, 60))}"
    files = {f"/proc/{pid}/comm": f"{name}\n", f"/proc/{pid}/stat": stat,
             f"/proc/{pid}/cmdline": "\0".join((name, *words, ""))}  # fmt: skip
    for tid, thread in (threads or {}).items():
        files |= {
            f"/proc/{pid}/task/{tid}/comm": f"{thread}\n",
            f"/proc/{tid}/task/{tid}/status": "voluntary_ctxt_switches: 5\n"
            "nonvoluntary_ctxt_switches: 6\n",
            f"/proc/{tid}/task/{tid}/schedstat": f"{tid} 77 9\n",
            f"/proc/{tid}/task/{tid}/stat": f"{tid} (x) R {' '.join(['0'] * 35)} 3 0",
        }
    return files


THREADS = {20: "qemu-system-x86", 21: "CPU 0/KVM", 22: "IO iothread1", 23: "worker"}


def test_guests_have_vcpus_io_threads_and_emulator_by_name() -> None:
    words = ("-name", "guest=vnf1,debug-threads=on", "-m", "1024")
    epoch, found = read(GuestCollector(), process(20, "qemu-system-x86", *words, threads=THREADS))
    threads = {labels for key, labels in found if key == "guest_thread_cpu_seconds"}
    assert threads == {("vnf1", "CPU 0/KVM"), ("vnf1", "IO iothread1"), ("vnf1", "emulator")}
    assert found["guest_thread_cpu_seconds", ("vnf1", "CPU 0/KVM")] == 21
    assert found["guest_thread_cpu", ("vnf1", "CPU 0/KVM")] == 3
    later = process(20, "qemu-system-x86", *words, threads={**THREADS, 24: "CPU 1/KVM"})
    assert read(GuestCollector(), later)[0] != epoch
    assert "no process qemu-system-* runs" in missing(GuestCollector(), process(9, "bash"))


@pytest.mark.parametrize(
    ("words", "name"), [(("-name", "vm7"), "vm7"), ((), "qemu 20"), (("-name",), "qemu 20")]
)
def test_guest_is_named_as_qemu_is_started(words: tuple[str, ...], name: str) -> None:
    _, found = read(GuestCollector(), process(20, "qemu-system-x86", *words, threads=THREADS))
    assert {labels[0] for _, labels in found} == {name}


SNMP = """Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn InSegs OutSegs RetransSegs InErrs
Tcp: 1 200 120000 -1 9377340 19776218 30912 0
"""
NETSTAT = """TcpExt: SyncookiesSent TCPTimeouts ListenOverflows
TcpExt: 0 12 3
IpExt: InNoRoutes
IpExt: 0
"""
SOCKETS = "sockets: used 19\nTCP: inuse 4 orphan 1 tw 3 alloc 1 mem 73\nUDP: inuse 0 mem 9\n"
TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0100007F:1451 00000000:0000 0A 00000000:00000005 00:00000000 00000000     0
   1: 0100007F:1451 0100007F:C3D0 01 00010000:00000020 01:00000014 00000000     0
"""


def test_tcp_has_segments_events_sockets_and_queues_of_its_namespace() -> None:
    stat = f"7 (iperf3) S {' '.join(str(n) for n in range(4, 60))}"
    found = parse("iperf3", {
        "stat": stat, "net/snmp": SNMP, "net/netstat": NETSTAT, "net/sockstat": SOCKETS,
        "net/tcp": TABLE,
    })  # fmt: skip
    assert found == {
        ("tcp_program_cpu_seconds", ("iperf3",)): (14 + 15) * 10_000_000,
        ("tcp_received_segments", ("iperf3",)): 9377340,
        ("tcp_sent_segments", ("iperf3",)): 19776218,
        ("tcp_retransmitted_segments", ("iperf3",)): 30912,
        ("tcp_events", ("iperf3", "timeout")): 12,
        ("tcp_events", ("iperf3", "listen_overflow")): 3,
        ("tcp_sockets", ("iperf3", "in_use")): 4,
        ("tcp_sockets", ("iperf3", "orphan")): 1,
        ("tcp_sockets", ("iperf3", "time_wait")): 3,
        ("tcp_queued_bytes", ("iperf3", "tx")): 65536,
        ("tcp_queued_bytes", ("iperf3", "rx")): 32,
    }


@dataclass
class Spaces(FakeHost):
    """A host whose processes of even number are in one network namespace, the others in another."""

    address: str = "localhost"

    def readlink(self, path: str) -> str:
        if "/fd/" in path:
            return f"{path.rpartition('/')[0]}/socket:[77]"
        return f"net:[{int(path.split('/')[2]) % 2}]"


def test_tcp_counts_a_namespace_once() -> None:
    files = {**BOOT, **process(2, "iperf3"), **process(4, "iperf3"), **process(5, "netserver")}
    files |= {f"/proc/{pid}/net/snmp": SNMP for pid in (2, 4, 5)}
    found = TcpCollector().probe(cast(Runner, Spaces(files)))
    assert not isinstance(found, Missing)
    values: dict[Name, int] = {}
    for source in found:
        values |= source.read().values
    assert {labels for key, labels in values if key == "tcp_sent_segments"} == {
        ("iperf3",), ("netserver",),
    }  # fmt: skip
    assert ("tcp_program_cpu_seconds", ("iperf3#2",)) in values
    assert "no process of a TCP test runs" in missing(TcpCollector(), process(9, "bash"))


PAGE = """# HELP wirespeed_speedtest_sent_bytes_total Test data sent
# TYPE wirespeed_speedtest_sent_bytes_total counter
wirespeed_speedtest_sent_bytes_total 12345678901
wirespeed_speedtest_tests_running 2
wirespeed_speedtest_turns_total{loop="0"} 77
wirespeed_speedtest_longest_turn_seconds{loop="1"} 0.0125
wirespeed_speedtest_of_a_later_version 1
"""


def test_speedtest_keeps_the_names_of_the_servers_page() -> None:
    assert speedtest_server.parse("server", PAGE) == {
        ("speedtest_sent_bytes", ("server",)): 12345678901,
        ("speedtest_tests_running", ("server",)): 2,
        ("speedtest_turns", ("server", "0")): 77,
        ("speedtest_longest_turn_seconds", ("server", "1")): 12_500_000,
    }


@pytest.mark.parametrize("value", ["1e999", "1e30", "-1e30", "9223372036854775808"])
def test_speedtest_value_of_more_than_64_bits_is_no_value(value: str) -> None:
    with pytest.raises(NoAnswer, match="more than 64 bits"):
        speedtest_server.parse("server", PAGE.replace("running 2", f"running {value}"))
    with pytest.raises(NoAnswer, match="more than 64 bits"):
        speedtest_server.parse("server", PAGE.replace(" 0.0125", f" {value}"))


def listening(port: int, address: str = "0100007F") -> dict[str, str]:
    """Return the files that show process 20 listening on a port of 127.0.0.1."""
    row = "00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0"
    return {
        "/proc/20/fd/3": "",
        "/proc/net/tcp": f"  sl  local_address ...\n   0: {address}:{port:04X} {row} 77 1 0\n",
    }


@contextmanager
def serving(status: int) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(PAGE.encode())

        def log_message(self, *_: object) -> None: ...

    with serving_thread(HTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield port


@pytest.mark.parametrize("flag", [("--metrics", "127.0.0.1:{}"), ("--metrics=127.0.0.1:{}",)])
def test_speedtest_server_is_found_by_its_command_line_and_asked(flag: tuple[str, ...]) -> None:
    with serving(200) as port:
        words = [word.format(port) for word in flag]
        files = {**process(20, "wirespeed-speed", "serve", *words), **listening(port)}
        found = _speedtest(Spaces(files))
        assert not isinstance(found, Missing)
        [source] = found
        assert source.read().values["speedtest_tests_running", ("server",)] == 2


def test_speedtest_server_that_answers_another_status_or_nobody_is_no_value() -> None:
    for status in (500, 0):
        with serving(status or 200) as port:
            words = ("--metrics", f"127.0.0.1:{port}")
            files = {**process(20, "wirespeed-speed", *words), **listening(port)}
            found = _speedtest(Spaces(files))
            assert not isinstance(found, Missing)
            if status:
                with pytest.raises(NoAnswer, match="answered 500"):
                    found[0].read()
        if not status:
            with pytest.raises(NoAnswer, match="refused"):
                found[0].read()


def test_speedtest_server_without_a_known_address_is_missing() -> None:
    for words in ((), ("--metrics", "127.0.0.1:0"), ("--metrics",)):
        found = _speedtest(Spaces(process(20, "wirespeed-speed", *words)))
        assert isinstance(found, Missing)
        assert "(1 without)" in found.because
    elsewhere = _speedtest(Spaces(address="ssh://other"))
    assert isinstance(elsewhere, Missing)
    assert "on its own machine alone" in elsewhere.because


@pytest.mark.parametrize(
    ("given", "files"),
    [
        ("192.0.2.1:9100", listening(9100)),  # another host
        ("127.0.0.1:22", listening(9100)),  # another program's port
        ("127.0.0.1:9100", {}),  # sockets that this user may not see
        ("127.0.0.1:9100", {**listening(9100), "/proc/net/tcp": "no table"}),
        ("localhost:9100", listening(9100)),
    ],
)
def test_speedtest_address_on_which_the_process_does_not_listen_is_not_asked(
    given: str, files: dict[str, str]
) -> None:
    found = _speedtest(Spaces({**process(20, "wirespeed-speed", "--metrics", given), **files}))
    assert isinstance(found, Missing)


def test_speedtest_address_of_another_host_is_not_asked_even_if_listened_on() -> None:
    # IP_FREEBIND lets any user listen on 192.0.2.1.
    words = ("--metrics", "192.0.2.1:9100")
    files = {**process(20, "wirespeed-speed", *words), **listening(9100, "010200C0")}
    found = _speedtest(Spaces(files))
    assert not isinstance(found, Missing)
    with pytest.raises(NoAnswer, match="assign requested address"):
        found[0].read()


def test_speedtest_server_that_sends_slowly_is_ended_by_one_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speedtest_server, "DEADLINE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def trickle() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                # Without a deadline of the whole answer this takes 50 s.
                for _ in range(1000):
                    connection.sendall(b"H")
                    time.sleep(0.05)

        thread = threading.Thread(target=trickle)
        thread.start()
        files = {
            **process(20, "wirespeed-speed", "--metrics", f"127.0.0.1:{port}"), **listening(port),
        }  # fmt: skip
        found = _speedtest(Spaces(files))
        assert not isinstance(found, Missing)
        with pytest.raises(NoAnswer, match=r"no whole answer within|timed out"):
            found[0].read()
        thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_listeners_of_this_process_are_found_and_connections_are_not(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"no {host} here")
    with server:
        address = server.getsockname()[:2]
        with socket.create_connection(address) as client:
            found = listeners(LocalRunner(), os.getpid())
            assert address in found
            assert client.getsockname()[:2] not in found


def _speedtest(host: FakeHost) -> Sequence[Source] | Missing:
    return SpeedtestCollector().probe(cast(Runner, host))


def cpu_s() -> float:
    """Return the CPU time of this process and of programs that it ran."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def test_sampler_counts_its_own_cpu_time_and_reads() -> None:
    meter = Meter()
    own: Collector = OwnCollector(meter)
    meter.add("cpu", 500)
    meter.add("cpu", 400)
    found = own.probe(LocalRunner())
    assert not isinstance(found, Missing)
    subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)
    before = cpu_s()
    values = found[0].read().values
    assert values["collector_cpu_seconds", ("cpu",)] == 900
    assert values["collector_reads", ("cpu",)] == 2
    assert before - 1e-6 <= values["sampler_cpu_seconds", ()] / 1e9 <= cpu_s() + 1e-6
    assert values["sampler_memory_bytes", ()] > 1 << 20


def _all_read(collector: Collector) -> bool:
    """Return whether all its sources have values. A program of another test may end meanwhile."""
    try:
        found = collector.probe(LocalRunner())
        return isinstance(found, Missing) or all(source.read().values for source in found)
    except FAILURES:
        return False


@pytest.mark.parametrize("collector", [GuestCollector(), TcpCollector(), SpeedtestCollector()])
def test_collector_of_programs_reads_this_machine_or_says_why_not(collector: Collector) -> None:
    until(lambda: _all_read(collector), f"values of all sources of {collector.name}")
