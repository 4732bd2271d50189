# SPDX-License-Identifier: Apache-2.0
"""Write every generated page of docs/reference into the named directory."""

from __future__ import annotations

import sys
from pathlib import Path

from wirespeed.cli.reference.pages import PAGES

for file_name, page in PAGES.items():
    (Path(sys.argv[1]) / file_name).write_text(page(), encoding="utf-8")
