# SPDX-License-Identifier: Apache-2.0
"""Check that a gateway accounts for all frames under overload and during table changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.dataplane.bng import check_closes
from tests.dataplane.bng_traffic import RINGS, bng, gen, sink, tables
from tests.dataplane.program import running

READINGS = 25
UPDATES = 400
FOREVER = 10**9  # frames: more than any run sends


def other_tables(directory: Path) -> Path:
    """Write a table file whose users the gateway does not know."""
    (directory / "other").mkdir()
    file = tables(directory / "other")
    file.write_text(file.read_text().replace("user 7 ", "user 8 "))
    return file


def overload(directory: Path) -> str:
    """Return more than the output takes (its reader shares a CPU): ARP and unknown users, too."""
    known, unknown = tables(directory), other_tables(directory)
    flood = f"rate_fps = 1e8\nduration_ns = {FOREVER * 1000}\ncatchup_ns = 0\nautostart = yes\n"

    def sender(name: str, file: Path, ring: str, extra: str = "") -> str:
        text = gen("up", file, 1, tx=f"ring:{ring}").split("rate_fps")[0]
        return text.replace("task.gen", f"task.{name}") + flood + extra

    rings = "[pool]\nmbufs = 8191\n" + "".join(
        f"[ring.{name}]\nsize = 128\n" for name in ("in", "in2", "in3", "out")
    )
    gateway = bng("up", known).replace("rx = ring:in", "rx = ring:in, ring:in2, ring:in3")
    reader = sink("up", known).replace("lcore = 1", "lcore = 2")
    senders = sender("gen1", known, "in", "arp_every = 10\n") + sender("gen2", unknown, "in2")
    return rings + senders + sender("gen3", known, "in3") + gateway + reader


def moved(now: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {key: now[key] - before[key] for key in ("rx", "tx", "tx_fail", "discard", "handled")}


def test_every_reading_under_overload_closes(tmp_path: Path) -> None:
    """All tasks add up, in each reading and from each to the next; every end of a frame occurs."""
    with running(overload(tmp_path)) as wsdp:
        before = wsdp.control.await_stats(lambda now: now["bng"]["tx_fail"] > 0)
        for _ in range(READINGS):
            rx = before["bng"]["rx"]
            now = wsdp.control.await_stats(lambda new, rx=rx: new["bng"]["rx"] > rx)  # type: ignore[misc]
            for task in now.values():
                check_closes(task)
            step = moved(now["bng"], before["bng"])
            assert step["rx"] == step["tx"] + step["tx_fail"] + step["discard"] + step["handled"]
            before = now
        gateway = before["bng"]
        assert min(gateway["tx"], gateway["tx_fail"], gateway["discard"], gateway["handled"]) > 0


def updates(number: int) -> tuple[str, str]:
    """Return the commands that add a subscriber and a route, and those that remove them."""
    name = f"9 {1 + number % 4000} {700000 + number}"
    route = f"50.{number % 200}.{number % 7}.0/24"
    return f"user={name} 0,route={route} {number % 2}", f"no_user={name},no_route={route}"


@pytest.mark.parametrize("side", ["up", "down"])
def test_changes_of_tables_cost_others_no_frame(tmp_path: Path, side: str) -> None:
    path = tables(tmp_path)
    endless = gen(side, path, FOREVER, "frame = 72\n").replace("rate_fps = 1e6", "rate_fps = 1e5")
    with running(RINGS + endless + bng(side, path) + sink(side, path)) as wsdp:
        ask = wsdp.control.ask
        start = wsdp.control.await_stats(lambda now: now["sink"]["rx"] > 0)
        for number in range(UPDATES // 4):
            for request in updates(number):
                assert ask("set", "bng", *request.split(",")) == {"ok": 1}
        # Frames of every subscriber have passed since the last change.
        last = ask("stats")["sink"]["rx"]
        wsdp.control.await_stats(lambda now: now["sink"]["rx"] > last + 1000)
        assert last > start["sink"]["rx"]
        ask("stop", "gen")
        wsdp.control.await_stats(
            lambda now: now["gen"]["tx"] == now["bng"]["rx"] == now["sink"]["rx"]
        )
        stats, seen, gateway = ask("stats"), ask("task", "sink"), ask("task", "bng")
    assert (stats["gen"]["tx_fail"], gateway["tx_fail"], gateway["discard"]) == (0, 0, 0)
    assert gateway["tx"] == gateway["rx"]
    assert (seen["lost"], seen["corrupt"], seen["misdirected"], seen["foreign"]) == (0, 0, 0, 0)
