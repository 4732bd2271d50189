# SPDX-License-Identifier: Apache-2.0
"""Write an OCI image of one layer (OCI image format 1.0), as an archive of its layout.

Usage: setup/oci.py ROOT.tar IMAGE.tar NAME:TAG. `podman load -i IMAGE.tar` reads it. The same root
and SOURCE_DATE_EPOCH make the same image, to the byte.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

MEDIA = "application/vnd.oci.image"
# Command of a container of wirespeed's own image.
COMMAND = ("wirespeed", "doctor")


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def compress(tar: Path, layer: Path) -> None:
    """Compress without name and time, which would differ."""
    with (
        tar.open("rb") as source,
        layer.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as target,
    ):
        shutil.copyfileobj(source, target, 1 << 20)


def document(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def blob(content: bytes, kind: str) -> dict[str, Any]:
    """Return the descriptor of a document."""
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"mediaType": f"{MEDIA}.{kind}", "digest": digest, "size": len(content)}


def write(root: Path, image: Path, name: str, epoch: int, command: Sequence[str] = COMMAND) -> None:
    """Write the image of a root's tar.

    epoch: seconds since 1970 that its documents name. command: what a container of it runs.
    """
    with tempfile.TemporaryDirectory(dir=image.parent) as scratch:
        layer = Path(scratch) / "layer"
        compress(root, layer)
        packed = {
            "mediaType": f"{MEDIA}.layer.v1.tar+gzip",
            "digest": digest_of(layer),
            "size": layer.stat().st_size,
        }
        config = document({
            "architecture": "amd64",
            "os": "linux",
            "created": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "config": {
                "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
                "Cmd": list(command),
                "WorkingDir": "/root",
            },
            "rootfs": {"type": "layers", "diff_ids": [digest_of(root)]},
        })  # fmt: skip
        described = blob(config, "config.v1+json")
        manifest = document({
            "schemaVersion": 2, "mediaType": f"{MEDIA}.manifest.v1+json",
            "config": described, "layers": [packed],
        })  # fmt: skip
        listed = blob(manifest, "manifest.v1+json")
        listed["annotations"] = {"org.opencontainers.image.ref.name": name}
        texts = {
            "oci-layout": document({"imageLayoutVersion": "1.0.0"}),
            "index.json": document({"schemaVersion": 2, "manifests": [listed]}),
            _path(described): config,
            _path(listed): manifest,
        }
        with tarfile.open(image, "w", format=tarfile.USTAR_FORMAT) as archive:
            for path, text in sorted(texts.items()):
                archive.addfile(_member(path, len(text)), BytesIO(text))
            with layer.open("rb") as file:
                archive.addfile(_member(_path(packed), packed["size"]), file)


def _path(descriptor: dict[str, Any]) -> str:
    return f"blobs/{descriptor['digest'].replace(':', '/')}"


def _member(path: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, 0o644
    return member


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(os.environ["SOURCE_DATE_EPOCH"]))
