# SPDX-License-Identifier: Apache-2.0
"""Check that a subscriber gets the contracted rate and no more, whatever others send.

Rates are so low that no test lasts long enough to refill a bucket: colours follow from the bursts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dataplane.bng import CVID, SVID, TABLES, check, inner, nulls, one_task, qinq, tunnel
from tests.dataplane.program import running

FRAME = qinq(inner())
OCTETS = len(FRAME) + 4
# One octet a second: the buckets hold 4 and 7 frames.
TWO_RATES = (
    "type = bng_qos\nalgorithm = trtcm\ncir_bps = 8\npir_bps = 8\n"
    f"cbs_bytes = {4 * OCTETS}\npbs_bytes = {7 * OCTETS}\n"
)
ONE_RATE = (
    "type = bng_qos\nalgorithm = srtcm\ncir_bps = 8\n"
    f"cbs_bytes = {4 * OCTETS}\nebs_bytes = {3 * OCTETS}\n"
)


def with_tables(directory: Path, keys: str) -> str:
    file = directory / "tables.txt"
    file.write_text(TABLES)
    return keys + f"tables = {file}\n"


@pytest.mark.parametrize("keys", [TWO_RATES, ONE_RATE], ids=["trtcm", "srtcm"])
def test_red_is_dropped_and_colours_are_counted(tmp_path: Path, keys: str) -> None:
    left, task = one_task(tmp_path, with_tables(tmp_path, keys), [FRAME] * 10)
    assert left == [FRAME] * 7
    assert (task["green"], task["yellow"], task["red"], task["discard"]) == (4, 3, 3, 3)


def test_subscribers_do_not_share_a_bucket(tmp_path: Path) -> None:
    """The first subscriber floods; the other one, in between, loses nothing."""
    other = qinq(inner(), 9, 9)
    frames = [frame for _ in range(7) for frame in [FRAME] * 5 + [other]]
    left, task = one_task(tmp_path, with_tables(tmp_path, TWO_RATES), frames)
    assert (left.count(FRAME), left.count(other)) == (7, 7)
    assert (task["green"], task["yellow"], task["red"]) == (8, 6, 28)


def test_longer_frames_cost_more(tmp_path: Path) -> None:
    long = qinq(inner(payload=bytes(3 * OCTETS - 4 - 50)))
    assert len(long) + 4 == 3 * OCTETS
    left, task = one_task(tmp_path, with_tables(tmp_path, TWO_RATES), [long] * 3)
    assert (len(left), task["green"], task["yellow"], task["red"]) == (2, 1, 1, 1)


def test_qos_frame_without_known_user_is_dropped(tmp_path: Path) -> None:
    frames = [qinq(inner(), SVID, CVID + 1), tunnel(inner()), b"\0" * 18, FRAME]
    left, task = one_task(tmp_path, with_tables(tmp_path, TWO_RATES), frames)
    assert left == [FRAME]
    assert (task["no_user"], task["type"], task["discard"], task["green"]) == (1, 2, 3, 1)


def test_users_come_and_go_at_run_time(tmp_path: Path) -> None:
    task = "[task.qos]\nlcore = 1\nrx = cpe:0\ntx = inet:0\n"
    keys = with_tables(tmp_path, TWO_RATES) + "room_users = 1\n"
    with running(nulls() + task + keys) as wsdp:
        ask = wsdp.control.ask
        assert ask("set", "qos", "user=8 8 500 0") == {"ok": 1}
        assert ask("task", "qos")["users"] == 4
        assert "File exists" in ask("set", "qos", "user=8 8 500 0")["error"]
        assert "No space" in ask("set", "qos", "user=8 9 501 0")["error"]
        assert ask("set", "qos", "no_user=8 8 500") == {"ok": 1}
        assert "No such file" in ask("set", "qos", "no_user=8 8 500")["error"]
        assert "Invalid" in ask("set", "qos", "route=10.0.0.0/8 0")["error"]
        assert ask("set", "qos", "user=8 9 501 0") == {"ok": 1}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("pir_bps = 8", "pir_bps = 7", "pir_bps"),
        ("cir_bps = 8", "cir_bps = 800", "must be at least cir_bps = 800"),
        ("pir_bps = 8\n", "", "pir_bps"),
        ("cbs_bytes = 256", "cbs_bytes = 63", "cbs_bytes"),
        ("trtcm", "srtcm", "ebs_bytes"),
        ("trtcm", "red", "algorithm"),
    ],
)
def test_a_faulty_section_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in TWO_RATES
    keys = with_tables(tmp_path, TWO_RATES.replace(old, new))
    done = check(nulls() + f"[task.qos]\nlcore = 1\nrx = cpe:0\ntx = inet:0\n{keys}", tmp_path)
    assert done.returncode != 0
    assert fault in done.stderr
