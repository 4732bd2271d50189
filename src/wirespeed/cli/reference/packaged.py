# SPDX-License-Identifier: Apache-2.0
"""Write manual pages and completion into a folder, which packages install next to the command.

Usage: python -m wirespeed.cli.reference.packaged FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

from wirespeed.cli.reference.completion import completions
from wirespeed.cli.reference.manual import manual_pages


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**manual_pages(), **completions()}.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
