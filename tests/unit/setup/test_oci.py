# SPDX-License-Identifier: Apache-2.0
"""Test that an image holds its root, by digests that fit, and is the same twice."""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from setup.oci import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "hello").write_text("hello\n")
    path = tmp_path / "root.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(tmp_path / "hello", "hello")
    return path


class Image:
    """Files of an image, by path."""

    def __init__(self, path: Path) -> None:
        with tarfile.open(path) as archive:
            self.files = {
                member.name: archive.extractfile(member).read()  # type: ignore[union-attr]
                for member in archive.getmembers()
            }

    def json(self, path: str) -> Any:
        return json.loads(self.files[path])

    def blob(self, descriptor: dict[str, Any]) -> bytes:
        """Return a blob whose digest and size are those of its descriptor."""
        content = self.files[f"blobs/{descriptor['digest'].replace(':', '/')}"]
        assert f"sha256:{hashlib.sha256(content).hexdigest()}" == descriptor["digest"]
        assert len(content) == descriptor["size"]
        return content


def test_write_image_has_layer_config_and_name(root: Path, tmp_path: Path) -> None:
    write(root, tmp_path / "image.tar", "wirespeed:1", 0)
    image = Image(tmp_path / "image.tar")
    assert image.json("oci-layout") == {"imageLayoutVersion": "1.0.0"}
    [listed] = image.json("index.json")["manifests"]
    assert listed["annotations"]["org.opencontainers.image.ref.name"] == "wirespeed:1"
    manifest = json.loads(image.blob(listed))
    [layer] = manifest["layers"]
    assert gzip.decompress(image.blob(layer)) == root.read_bytes()
    config = json.loads(image.blob(manifest["config"]))
    unpacked = hashlib.sha256(root.read_bytes()).hexdigest()
    assert config["rootfs"]["diff_ids"] == [f"sha256:{unpacked}"]
    assert config["config"]["Cmd"] == ["wirespeed", "doctor"]


def test_write_image_with_a_command_runs_it(root: Path, tmp_path: Path) -> None:
    write(root, tmp_path / "image.tar", "function:1", 0, ("/hello", "world"))
    image = Image(tmp_path / "image.tar")
    [listed] = image.json("index.json")["manifests"]
    config = json.loads(image.blob(json.loads(image.blob(listed))["config"]))
    assert config["config"]["Cmd"] == ["/hello", "world"]


def test_write_image_twice_is_equal_to_the_byte(root: Path, tmp_path: Path) -> None:
    images = [tmp_path / name for name in ("one.tar", "two.tar")]
    for image in images:
        write(root, image, "wirespeed:1", 1_700_000_000)
    assert images[0].read_bytes() == images[1].read_bytes()
