# SPDX-License-Identifier: Apache-2.0
"""Check the gate to the slow path: counts by cause, exceptions through, floods limited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dataplane.bng import CVID, LOCAL_IP, SVID, check, inner, one_task, qinq, tunnel
from tests.dataplane.test_bng import SLOW_DOWN, SLOW_UP
from tests.dataplane.test_bng_pppoe import SLOW as SLOW_PPPOE

KEYS = f"type = bng_slowpath\nlocal_ip = {LOCAL_IP}\n"


@pytest.mark.parametrize(
    "exceptions", [SLOW_UP, SLOW_DOWN, SLOW_PPPOE], ids=["upstream", "downstream", "pppoe"]
)
def test_exceptions_pass_unchanged_and_count_by_cause(
    tmp_path: Path, exceptions: dict[str, list[bytes]]
) -> None:
    frames = [frame for some in exceptions.values() for frame in some]
    left, task = one_task(tmp_path, KEYS, frames)
    assert left == frames
    assert {cause: task[cause] for cause in exceptions} == {
        cause: len(some) for cause, some in exceptions.items()
    }
    assert (task["discard"], task["over_rate"]) == (0, 0)


def test_slow_path_malformed_or_foreign_frame_is_dropped(tmp_path: Path) -> None:
    bad = [qinq(inner(), SVID, CVID)[:30], tunnel(inner(), upstream=True), b"\0" * 20]
    left, task = one_task(tmp_path, KEYS, [*bad, SLOW_UP["fragment"][0]])
    assert left == SLOW_UP["fragment"][:1]
    assert (task["truncated"], task["foreign"], task["discard"]) == (2, 1, 3)


def test_a_flood_is_held_back(tmp_path: Path) -> None:
    """Five frames pass at once at the start, then one a second."""
    flood = SLOW_UP["options"][:1] * 200
    left, task = one_task(tmp_path, KEYS + "rate_fps = 1\nburst = 5\n", flood)
    # A slow machine may take a second or more for them all.
    assert 5 <= len(left) < 100
    assert len(left) + task["over_rate"] == 200
    assert task["options"] == 200


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ("type = bng_slowpath\n", "local_ip"),
        ("type = bng_slowpath\nlocal_ip = 2001:db8::1\n", "must be an IPv4 address"),
        (KEYS + "burst = 0\n", "burst"),
        (KEYS + "rate = 5\n", "rate"),
    ],
)
def test_a_faulty_section_is_refused(tmp_path: Path, keys: str, fault: str) -> None:
    ports = "[port.in]\ndevice = net_null0\n[port.out]\ndevice = net_null1\n"
    done = check(f"{ports}[task.t]\nlcore = 1\nrx = in:0\ntx = out:0\n{keys}", tmp_path)
    assert done.returncode != 0
    assert done.stderr.count("\n") <= 2
    assert fault in done.stderr
