# SPDX-License-Identifier: Apache-2.0
"""Test that each licence text of the crates is printed once, with all its crates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setup.crate_licences import report


def crate(folder: Path, name: str, text: str) -> dict[str, Any]:
    (folder / name).mkdir()
    (folder / name / "LICENSE-MIT").write_text(text)
    manifest = str(folder / name / "Cargo.toml")
    return {"name": name, "version": "1.0", "license": "MIT", "manifest_path": manifest}


def test_report_prints_each_text_once_with_its_crates(tmp_path: Path) -> None:
    bodies = {"a": "x", "b": "y", "c": "x"}
    text = report([crate(tmp_path, name, body) for name, body in bodies.items()])
    assert "a 1.0: MIT\nb 1.0: MIT\nc 1.0: MIT" in text
    assert "a 1.0, c 1.0\n\nx" in text
    assert "b 1.0\n\ny" in text
