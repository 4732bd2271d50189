# SPDX-License-Identifier: Apache-2.0
"""Check that a file without an end is one error in the verbs that read what a user names."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Command
from wirespeed.document import text_file

ENDLESS = "/dev/zero"


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "--kubelet", ENDLESS),
        ("audit", "--flavors", ENDLESS),
        ("audit", "--host", ENDLESS),
        ("plan", ENDLESS),
        ("plan", "show", ENDLESS),
        ("tune", "wire", "--factors", ENDLESS),
        ("bng", "curve", ENDLESS),
    ],
    ids=" ".join,
)
def test_endless_file_is_an_error(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(text_file, "MAX_CHARACTERS", 1 << 16)
    ended = wirespeed(*words)
    assert ended.code == 2
    assert ENDLESS in ended.err
    assert "more than 65536 characters" in ended.err
