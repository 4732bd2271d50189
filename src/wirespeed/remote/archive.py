# SPDX-License-Identifier: Apache-2.0
"""Read an archive of a host's files, as sosreport writes one, into a Recording.

The archive may come from anybody. Nothing of it is written to a disk, no link is followed, and
what is read is bounded in size and number. An archive has only some of a host's files: one that it
lacks is unknown, not absent.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Self, cast

from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import NotRecorded
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import Recording

# In octets: one file that is kept, all that are kept, and what the archive unpacks to.
_FILE, _KEPT, _WHOLE = 1 << 20, 64 << 20, 4 << 30
_MEMBERS = 500_000
# Headers that tarfile reads whole into memory, and how large one may be, in octets.
_EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
             tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)  # fmt: skip
_HEADER = 1 << 20
_READ_BELOW = ("/proc/", "/sys/", "/etc/hostname")
_NEXT = "Ask for the archive again, as `sos report` wrote it."
_UNPACK: Mapping[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda file: cast(IO[bytes], gzip.GzipFile(fileobj=file)),
    b"\xfd7zXZ\x00": lambda file: cast(IO[bytes], lzma.LZMAFile(file)),  # noqa: SIM115
    b"BZh": lambda file: cast(IO[bytes], bz2.BZ2File(file)),
}


class ArchivedRunner(RecordedRunner):
    """Answers from the files of an archive."""

    def glob(self, *patterns: str) -> tuple[str, ...]:
        """Return the archive's paths. Raises NotRecorded where it has none: they are unknown."""
        found = self.known(patterns)
        if not found:
            raise NotRecorded(f"{' and '.join(patterns)}: not in the archive of {self.name}")
        return found


class _Header(tarfile.TarInfo):
    """A header that tarfile does not read when it is too large."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _EXTENDED and found.size > _HEADER:
            raise tarfile.ReadError(f"a header of {found.size} octets")
        return found


class _Bounded(io.RawIOBase):
    """The unpacked archive, which ends with BadInput at a limit."""

    def __init__(self, source: IO[bytes], name: str) -> None:
        self._source, self._name, self._read = source, name, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self._read += size
        if self._read > _WHOLE:
            raise BadInput(f"{self._name}: unpacks to more than {_WHOLE >> 30} GiB", _NEXT)
        return self._source.read(size)


def open_archive(path: Path) -> ArchivedRunner:
    """Return the host whose files the archive has: tar, as it is or with gzip, xz or bzip2.

    Raises BadInput for a file that is none, and for one with an unsafe path or beyond a limit.
    """
    try:
        with path.open("rb") as file:
            start = file.read(6)
            file.seek(0)
            kinds = [unpack for magic, unpack in _UNPACK.items() if start.startswith(magic)]
            unpacked = kinds[0](file) if kinds else file
            bounded = _Bounded(unpacked, str(path))
            with tarfile.open(fileobj=bounded, mode="r|", tarinfo=_Header) as archive:
                return ArchivedRunner(_recording(archive, path))
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError) as fault:
        raise BadInput(f"{path}: not a whole archive: {fault}", _NEXT) from fault
    except OSError as fault:
        raise BadInput(f"{path}: {fault.strerror or fault}", "Check the path.") from fault


def _recording(archive: tarfile.TarFile, path: Path) -> Recording:
    recording, kept = Recording(host=path.name.partition(".")[0]), 0
    for number, member in enumerate(archive):
        if number >= _MEMBERS:
            raise BadInput(f"{path}: more than {_MEMBERS} files", _NEXT)
        inside = _inside(member.name, path)
        if not member.isreg() or inside is None or not inside.startswith(_READ_BELOW):
            continue
        if member.size > _FILE:
            recording.unreadable.add(inside)
            continue
        kept += member.size
        if kept > _KEPT:
            raise BadInput(f"{path}: more than {_KEPT >> 20} MiB of /proc and /sys", _NEXT)
        content = archive.extractfile(member)
        assert content is not None  # a regular file has one
        recording.files[inside] = content.read().decode(errors="replace")
    if not recording.files:
        raise BadInput(f"{path}: no file of /proc or /sys below one folder", _NEXT)
    recording.host = recording.files.pop("/etc/hostname", recording.host).strip()
    return recording


def _inside(name: str, path: Path) -> str | None:
    """Return the path on the host; None for the archive's own folder."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise BadInput(f"{path}: has a path that leaves its folder: {name[:80]!r}", _NEXT)
    return f"/{'/'.join(parts[1:])}" if len(parts) > 1 else None
