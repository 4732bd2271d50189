# SPDX-License-Identifier: Apache-2.0
"""Check `wirespeed router check` with a wsdp that gives prepared answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.unit.cli.conftest import Command
from wirespeed.cli.verbs import router_check

SOCKET = "/run/dpdk/x/dpdk_telemetry.v2"
MISSING = {"prefix": "198.18.0.0/15", "kernel": "by east to 02:00:00:00:00:1a", "fib": "no route"}
EXTRA = {"prefix": "10.0.0.0/8", "kernel": "no route", "fib": "dropped"}


class Fake:
    """A wsdp whose comparisons give these differences, one after the other."""

    answers: ClassVar[list[list[dict[str, str]]]] = []
    tasks: ClassVar[dict[str, Any]] = {}
    over_hops: ClassVar[tuple[int, int]] = (0, 0)
    without_room: ClassVar[int | None] = None  # None: two copies

    def __init__(self, _runner: object, path: str, _timeout_s: float) -> None:
        if path != SOCKET:
            raise FileNotFoundError(2, "No such file or directory")

    def ask(self, command: str) -> Any:
        if command == "/wirespeed/info":
            return {"tasks": self.tasks}
        _, task, path = command.split(",")
        assert task == "r"
        found = self.answers.pop(0)
        Path(path).write_text("".join(f"{json.dumps(one)}\n" for one in found))
        counts = {"missing": len(found), "different": 0, "extra": 0, "wrong_lookups": 0}
        return {
            "prefixes": 7, "samples": 900, "wrong_samples": 0, **counts,
            "neighbours_over_hops": self.over_hops[0], "routes_over_hops": self.over_hops[1],
            "in_place": int(self.without_room is not None),
            "routes_without_room": self.without_room or 0,
        }  # fmt: skip

    def close(self) -> None:
        pass


@pytest.fixture
def wsdp(monkeypatch: pytest.MonkeyPatch) -> type[Fake]:
    monkeypatch.setattr(router_check, "Telemetry", Fake)
    monkeypatch.setattr(router_check, "telemetry_sockets", lambda _: {SOCKET: "x"})
    monkeypatch.setattr(router_check, "_PAUSE_S", 0.0)
    Fake.tasks = {"r": {"type": "router", "lcore": 1}, "i": {"type": "io", "lcore": 1}}
    return Fake


def test_router_check_equal_tables_end_with_0(wirespeed: Command, wsdp: type[Fake]) -> None:
    wsdp.answers = [[]]
    ended = wirespeed("router", "check")
    assert ended.code == 0
    assert ended.out == "r: 7 routes and 900 random addresses, all as in the kernel\n"


@pytest.mark.parametrize(
    ("over_hops", "named"), [((1200, 1), "1200 neighbours and 1 route"), ((0, 2), "2 routes")]
)
def test_router_check_without_hops_left_names_what_is_not_mirrored(
    wirespeed: Command, wsdp: type[Fake], monkeypatch: pytest.MonkeyPatch,
    over_hops: tuple[int, int], named: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(wsdp, "over_hops", over_hops)
    wsdp.answers = [[]]
    ended = wirespeed("router", "check")
    assert ended.code == 0
    assert ended.out.startswith(
        f"r: {named} not mirrored: all next hops of the tables are in use, so the kernel forwards\n"
    )


@pytest.mark.parametrize(
    ("without_room", "named"),
    [(None, []), (0, ["those in force are changed"]), (3, ["those in force", "room for 3 routes"])],
)
def test_router_check_without_memory_names_it(
    wirespeed: Command, wsdp: type[Fake], monkeypatch: pytest.MonkeyPatch,
    without_room: int | None, named: list[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(wsdp, "without_room", without_room)
    wsdp.answers = [[]]
    lines = wirespeed("router", "check").out.splitlines()
    assert len(lines) == len(named) + 1
    assert all(words in line for words, line in zip(named, lines, strict=False))


def test_router_check_names_what_differs_each_time(wirespeed: Command, wsdp: type[Fake]) -> None:
    wsdp.answers = [[MISSING, EXTRA], [MISSING], [MISSING]]
    ended = wirespeed("router", "check", "--telemetry", SOCKET, "--task", "r")
    assert ended.code == 1
    assert ended.out == (
        "r: 1 difference in 7 routes and 900 random addresses\n"
        "  198.18.0.0/15: kernel: by east to 02:00:00:00:00:1a; wsdp: no route\n"
    )


def test_router_check_names_the_vrf_of_a_difference(wirespeed: Command, wsdp: type[Fake]) -> None:
    """The same prefix in two VRFs are two differences."""
    wsdp.answers = [[MISSING, {**MISSING, "vrf": "red"}, {**MISSING, "vrf": "blue"}]] * 3
    lines = wirespeed("router", "check").out.splitlines()
    assert [line.split(": kernel")[0] for line in lines[1:]] == [
        "  198.18.0.0/15",
        "  198.18.0.0/15 in VRF blue",
        "  198.18.0.0/15 in VRF red",
    ]


def test_router_check_change_while_it_compares_is_no_difference(
    wirespeed: Command, wsdp: type[Fake]
) -> None:
    wsdp.answers = [[MISSING], [EXTRA]]
    assert wirespeed("router", "check").code == 0


def test_router_check_prints_all_when_asked(wirespeed: Command, wsdp: type[Fake]) -> None:
    many = [{**MISSING, "prefix": f"10.{i}.0.0/16"} for i in range(30)]
    wsdp.answers = [many] * 6
    short = wirespeed("router", "check").out
    assert "  and 10 more: --all prints them\n" in short
    assert "10.19.0.0/16" in short
    assert "10.20.0.0/16" not in short
    assert "10.29.0.0/16" in wirespeed("router", "check", "--all").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--telemetry", "/nowhere"], "/nowhere: No such file or directory"),
        (["--task", "x"], "one task of type router is needed; found: none"),
    ],
)
def test_router_check_without_a_router_ends_with_1(
    wirespeed: Command, wsdp: type[Fake], words: list[str], said: str
) -> None:
    ended = wirespeed("router", "check", *words)
    assert (ended.code, ended.out) == (1, "")
    assert said in ended.err
    assert wsdp.tasks


def test_router_check_two_routers_ask_for_a_choice(wirespeed: Command, wsdp: type[Fake]) -> None:
    wsdp.tasks = {name: {"type": "router"} for name in ("r", "s")}
    ended = wirespeed("router", "check")
    assert ended.code == 1
    assert f"found: r on {SOCKET}, s on {SOCKET}" in ended.err
