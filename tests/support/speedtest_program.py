# SPDX-License-Identifier: Apache-2.0
"""Choose the wirespeed-speedtest of the tests: a debug build with overflow checks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_DEBUG = REPOSITORY / "speedtest/target/debug/wirespeed-speedtest"
# The environment may name another build, such as the release.
PROGRAM = Path(os.environ.get("SPEEDTEST", _DEBUG))


def build() -> None:
    if PROGRAM == _DEBUG:
        subprocess.run(["make", "--silent", "speedtest-debug"], cwd=REPOSITORY, check=True)
