# SPDX-License-Identifier: Apache-2.0
"""Measure the balance of eight gateway workers, and the cost of table updates.

wsdp runs with its own traffic on rings, all lcores on one CPU, no huge pages, no privilege.
`balance`: 32,768 subscribers with random keys, each direction. It prints how far the busiest or
idlest worker is from an even share, and by how many frames the two directions of a worker differ.
`updates`: a subscriber and a route come and go through the telemetry socket while frames flow at
100,000 a second. It prints the changes per second, and how many frames of the other subscribers
were lost or wrong. Prints `name value unit`.
"""

from __future__ import annotations

import tempfile
import time
from ipaddress import IPv4Address
from pathlib import Path

from benchmarks.shared.figures import show
from tests.dataplane.program import running

from wirespeed.model.study.bng import TableSpec, table_lines

USERS, ROUTES, WORKERS = 32_768, 8192, 8
FRAMES = 8 * USERS
UPDATES = 4000
COMMON = "local_ip = 192.0.2.1\ngateway_mac = 02:00:00:00:00:f1\ninet_mac = 02:00:00:00:00:f2\n"


def task(name: str, kind: str, keys: str, rx: str = "", tx: str = "") -> str:
    ways = (f"rx = {rx}\n" if rx else "") + (f"tx = {tx}\n" if tx else "")
    return f"[task.{name}]\ntype = {kind}\nlcore = 1\n{ways}{keys}"


def rings(names: list[str]) -> str:
    return "[pool]\nmbufs = 16383\n" + "".join(f"[ring.{name}]\nsize = 1024\n" for name in names)


def sender(side: str, tables: Path, rate_fps: int, frames: int) -> str:
    length = f"duration_ns = {frames * 10**9 // rate_fps}\n" if frames else ""
    keys = f"bng = {side}\ntables = {tables}\n{COMMON}rate_fps = {rate_fps}\n{length}"
    return task("gen", "gen", keys + "autostart = yes\ncatchup_ns = 60000000000\n", tx="ring:in")


def balance(tables: Path, side: str) -> list[int]:
    """Return frames of each worker; all frames of one sender are forwarded."""
    lb = "bng_lb_cpe" if side == "up" else "bng_lb_inet"
    ways = ", ".join(f"ring:w{i}" for i in range(WORKERS))
    ini = rings(["in", "out", *(f"w{i}" for i in range(WORKERS))])
    ini += sender(side, tables, 200_000, FRAMES)
    ini += task("lb", lb, f"tables = {tables}\n" if side == "up" else "", "ring:in", ways)
    gateway = "gateway_ip = 10.0.0.1\n" if side == "up" else ""
    for i in range(WORKERS):
        keys = f"tables = {tables}\nworkers = {WORKERS}\nworker = {i}\n{COMMON}{gateway}"
        ini += task(f"worker{i}", f"bng_{side}", keys, f"ring:w{i}", "ring:out")
    ini += task("sink", "sink", f"bng = {side}\ntables = {tables}\n{COMMON}", "ring:out")
    with running(ini) as wsdp:
        stats = wsdp.control.await_stats(lambda now: now["sink"]["rx"] == FRAMES)
    return [stats[f"worker{i}"]["tx"] for i in range(WORKERS)]


def updates(tables: Path) -> tuple[float, int]:
    """Return changes a second, and frames that did not arrive as they should."""
    ini = rings(["in", "out"]) + sender("up", tables, 100_000, 0)
    ini += task("bng", "bng_up", f"tables = {tables}\n{COMMON}gateway_ip = 10.0.0.1\n",
                "ring:in", "ring:out")  # fmt: skip
    ini += task("sink", "sink", f"bng = up\ntables = {tables}\n{COMMON}", "ring:out")
    with running(ini) as wsdp:
        ask = wsdp.control.ask
        wsdp.control.await_stats(lambda now: now["sink"]["rx"] > 0)
        start = time.monotonic()
        for i in range(UPDATES // 4):
            name, route = f"4095 {1 + i % 4000} {KEY_FREE + i}", f"240.{i % 200}.0.0/24"
            for request in (f"user={name} 0,route={route} 0", f"no_user={name},no_route={route}"):
                answer = ask("set", "bng", *request.split(","))
                assert answer == {"ok": 1}, answer
        rate = UPDATES / (time.monotonic() - start)
        ask("stop")
        stats = wsdp.control.await_stats(lambda now: now["gen"]["tx"] == now["sink"]["rx"])
        seen = ask("task", "sink")
    lost = stats["bng"]["discard"] + stats["bng"]["tx_fail"] + stats["gen"]["tx_fail"]
    return rate, lost + seen["corrupt"] + seen["misdirected"] + seen["foreign"]


KEY_FREE = 1 << 27  # dense tables have no keys there


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        tables = Path(name) / "tables"
        host = IPv4Address("10.0.0.7")
        spec = TableSpec(USERS, ROUTES, host=host, sparse=True)
        tables.write_text("\n".join(table_lines(spec)))
        up, down = balance(tables, "up"), balance(tables, "down")
        even = FRAMES / WORKERS
        show("balance_furthest_from_even", max(abs(n - even) for n in up + down) / even * 100, "%")
        show("balance_up_and_down_differ", sum(abs(a - b) for a, b in zip(up, down, strict=True)),
             "frames")  # fmt: skip
        tables.write_text("\n".join(table_lines(TableSpec(USERS, ROUTES, host=host))))
        rate, lost = updates(tables)
        show("updates_during_traffic", rate, "/s")
        show("updates_cost_others", lost, "frames")


if __name__ == "__main__":
    main()
