# SPDX-License-Identifier: Apache-2.0
"""`ansible-test sanity` passes, with its requirements from PyPI in environments of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ansible_fleet import BIN, ROOT

# ansible-test fetches get-pip.py from its own CI's site. Python brings a pip that serves as well.
_GET_PIP = """
import subprocess, sys
subprocess.check_call([sys.executable, "-m", "ensurepip"])
words = [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *words]))
"""


@pytest.mark.fleet
def test_the_collection_is_sane(tmp_path: Path) -> None:
    source = tmp_path / "ansible_collections" / "wirespeed" / "nfv"
    shutil.copytree(ROOT / "ansible", source)
    cache = tmp_path / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True)
    tool = BIN.parent / "lib"
    (requirements,) = tool.glob("*/site-packages/ansible_test/_internal/python_requirements.py")
    version = re.search(r"pip='(\d+\.\d+)'", requirements.read_text())
    assert version, f"{requirements} no longer says which pip it wants"
    (cache / f"get_pip_{version[1].replace('.', '_')}.py").write_text(_GET_PIP)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    done = subprocess.run(
        [BIN / "ansible-test", "sanity", "--venv", "--python", python, "--color", "no"],
        cwd=source, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
