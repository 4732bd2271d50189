# SPDX-License-Identifier: Apache-2.0
"""Time the demo's study against the three minutes that it may take."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import show

ALLOWED_S = 180.0


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'demo.sqlite'}"
        command = [sys.executable, "-m", "wirespeed.cli.main", "run", "quickstart"]
        began = time.monotonic()
        code = subprocess.run([*command, "--store", store], check=False).returncode
        took_s = time.monotonic() - began
    show("demo_measures_for", took_s, f"s asked {ALLOWED_S:g}")
    return code


if __name__ == "__main__":
    sys.exit(main())
