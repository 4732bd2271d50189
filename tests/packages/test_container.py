# SPDX-License-Identifier: Apache-2.0
"""Measure in the container's root, and build it again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.packages.commands import BUILT, ROOT, Log
from tests.packages.fresh_root import FreshRoot

pytestmark = pytest.mark.packages(whole=True)
IMAGE = BUILT / "wirespeed.oci.tar"


def unpack(image: Path, root: Path) -> None:
    """Unpack the one layer of an image, as a container engine does."""
    with tarfile.open(image) as archive:

        def read(descriptor: dict[str, str]) -> tarfile.ExFileObject:
            path = f"blobs/{descriptor['digest'].replace(':', '/')}"
            found = archive.extractfile(path)
            assert isinstance(found, tarfile.ExFileObject)
            return found

        index = archive.extractfile("index.json")
        assert index is not None
        [listed] = json.load(index)["manifests"]
        [layer] = json.load(read(listed))["layers"]
        root.mkdir()
        with read(layer) as file:
            subprocess.run(["tar", "-C", root, "-xzf", "-"], input=file.read(), check=True)


def test_container_measures_as_a_user_without_rights(tmp_path: Path) -> None:
    log = Log("container")
    root = FreshRoot(tmp_path / "root", log)
    unpack(IMAGE, root.path)
    user = ("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--no-new-privs",
            "--bounding-set=-all", "env", "HOME=/tmp")  # fmt: skip
    assert "works    run wire" in root.run(*user, "wirespeed", "doctor", "wire", offline=True)
    assert "wire, 64 B" in root.run(*user, "wirespeed", "run", "wire", offline=True)
    assert "Usage" in root.run("wirespeed-speedtest", "--help", offline=True)
    log.show(root.path)
    shutil.rmtree(root.path)


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_container_of_the_same_packages_is_equal_to_the_octet(tmp_path: Path) -> None:
    for package in BUILT.glob("*.deb"):
        shutil.copy(package, tmp_path)
    Log("container").run([ROOT / "setup/container.sh", tmp_path], os.environ)
    assert digest(tmp_path / IMAGE.name) == digest(IMAGE)
