# SPDX-License-Identifier: Apache-2.0
"""Check the bound on files of text."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.document import text_file


def test_read_text_file_at_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "MAX_CHARACTERS", 3)
    path = tmp_path / "text"
    path.write_text("äöü", encoding="utf-8")
    assert text_file.read_text_file(path) == "äöü"
    path.write_text("äöü\n", encoding="utf-8")
    with pytest.raises(OSError, match="more than 3 characters"):
        text_file.read_text_file(path)
