# SPDX-License-Identifier: Apache-2.0
"""Which wirespeed-speedtest do tests run? One that stops at overflows and at wrong assertions."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
_DEBUG = REPOSITORY / "speedtest/target/debug/wirespeed-speedtest"
# Another build, such as the released one, can be named in the environment.
PROGRAM = Path(os.environ.get("SPEEDTEST", _DEBUG))


def build() -> None:
    if PROGRAM == _DEBUG:
        subprocess.run(["make", "--silent", "speedtest-debug"], cwd=REPOSITORY, check=True)
