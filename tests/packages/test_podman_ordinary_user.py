# SPDX-License-Identifier: Apache-2.0
"""Start the container with Podman as an ordinary user, who has no right on this host."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests.packages.commands import BUILT, Log
from tests.packages.test_podman import documented, fitting

pytestmark = pytest.mark.packages(whole=True)
USER, FIRST_SUBORDINATE = 60001, 200_000
# Process 1 of namespaces: this host's users stay as they are, and Podman's processes end with it.
_ENTER = f"""
mount --bind "$0" /mnt
for file in passwd group subuid subgid; do mount --bind "/mnt/$file" "/etc/$file"; done
chown {USER}:{USER} /mnt/home /mnt/run
cd /mnt/home
exec setpriv --reuid={USER} --regid={USER} --clear-groups env -i \
    PATH=/usr/bin:/bin HOME=/mnt/home XDG_RUNTIME_DIR=/mnt/run sh -e "$1"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Provide a folder with the home of a user, and the files of /etc that name the user."""
    tmp_path.chmod(0o755)
    for name in ("home", "run"):
        (tmp_path / name).mkdir(mode=0o700)
    for name, line in (
        ("passwd", f"someone:x:{USER}:{USER}::/mnt/home:/bin/sh"), ("group", f"someone:x:{USER}:"),
    ):  # fmt: skip
        (tmp_path / name).write_text(Path("/etc", name).read_text() + line + "\n")
    for name in ("subuid", "subgid"):
        (tmp_path / name).write_text(f"someone:{FIRST_SUBORDINATE}:65536\n")
    shutil.copy(BUILT / "wirespeed.oci.tar", tmp_path / "image.tar")
    return tmp_path


def test_container_measures_for_an_ordinary_user(home: Path) -> None:
    log = Log("container, ordinary user")
    own = shlex.join(["podman", *fitting()])
    (home / "load-and-run-wire").write_text(
        f"id -u; {own} load --quiet --input /mnt/image.tar\n"
        f"{own} run --rm {shlex.join(documented()['wire'])}\n"
    )
    own_namespaces = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    said = log.run(
        [*own_namespaces, "sh", "-ec", _ENTER, home, "/mnt/load-and-run-wire"], entering=10
    )
    assert said.startswith(f"{USER}\n")
    assert "wire, 64 B" in said
    log.show(home / "home")
