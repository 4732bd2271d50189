# SPDX-License-Identifier: Apache-2.0
"""Compare a text with the one in tests/golden; UPDATE_GOLDEN=1 rewrites the stored one."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"


def check(name: str, text: str) -> None:
    """Fail unless the text equals the stored one."""
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{path} differs; UPDATE_GOLDEN=1 rewrites it"
