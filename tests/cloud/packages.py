# SPDX-License-Identifier: Apache-2.0
"""List the Debian packages of this OpenStack, and the files of those only unpacked.

The -common packages would make users and write to /etc; of them the paste files alone are needed.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

UNPACKED = ("nova-common", "neutron-common", "glance-common", "heat-common")
_VERSIONS = ("mariadb-server-core", "rabbitmq-server", "python3-keystone", "python3-placement",
             "python3-glance", "python3-nova", "python3-neutron", "python3-heat")  # fmt: skip
_FILES = {
    "nova": "usr/share/nova-common/api-paste.ini",
    "neutron": "usr/share/neutron-common/api-paste.ini",
    "glance": "usr/share/glance-common/glance-api-paste.ini",
    "heat": "etc/heat/api-paste.ini",
}


def versions() -> dict[str, str]:
    """Return the installed packages' versions. Raise FileNotFoundError if one is missing."""
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *_VERSIONS],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = dict(line.split() for line in asked.stdout.splitlines() if len(line.split()) == 2)
    if missing := [name for name in _VERSIONS if name not in found]:
        raise FileNotFoundError(
            f"Debian packages are missing: {', '.join(missing)}. Run make test-openstack, which "
            "installs setup/packages-openstack.txt."
        )
    return found


def paste_files(cache: Path) -> dict[str, Path]:
    """Return the paste file of each API that has one, unpacked into the cache once."""
    folder = cache / "paste"
    if not folder.exists():
        _unpack(folder)
    return {service: folder / f"{service}.ini" for service in _FILES}


def _unpack(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        # apt's own user has to write here.
        Path(scratch).chmod(0o755)
        subprocess.run(
            ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *UNPACKED],
            cwd=scratch, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        for package in Path(scratch).glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, "tree"], cwd=scratch, check=True)
        made = Path(scratch, "made")
        made.mkdir()
        for service, path in _FILES.items():
            shutil.copy(Path(scratch, "tree", path), made / f"{service}.ini")
        made.rename(folder)
