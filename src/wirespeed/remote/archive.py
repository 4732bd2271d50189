# SPDX-License-Identifier: Apache-2.0
"""Read the members of an archive: tar, as it is or with gzip, xz or bzip2.

The archive may come from anybody. Nothing of it is written to a disk, and what is read is bounded
in size and number. One Budget holds for an archive and for those inside it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Self, cast

from wirespeed.model.errors import BadInput
from wirespeed.model.input.text import printable

NEXT = "Ask for the file again, as `sos report`, `oc adm must-gather` or `lstopo` wrote it."
# In octets: what the archive unpacks to, and what the dictionary of xz may take.
_WHOLE, _XZ_MEMORY = 4 << 30, 128 << 20
_MEMBERS = 500_000
# Headers that tarfile reads whole into memory, and how large one may be, in octets.
_EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
             tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)  # fmt: skip
_HEADER = 1 << 16
_GLOBAL_KEYS = 64
# PATH_MAX of Linux, and more folders than any path of /sys has. Longer ones are skipped.
_LONGEST, _DEEPEST = 4096, 64


@dataclass(slots=True)
class Budget:
    """Octets and members that may still be read, of an archive and those inside it together."""

    octets: int = field(default_factory=lambda: _WHOLE)
    members: int = field(default_factory=lambda: _MEMBERS)


@dataclass(frozen=True, slots=True)
class Member:
    """A file, folder or link. `read` works until the next member is asked for."""

    parts: tuple[str, ...]
    size: int
    read: Callable[[], bytes] | None = None
    """Of a regular file alone."""
    target: str | None = None
    """Of a symbolic link: as it is written. Of a hard link: another member's path."""
    is_hard: bool = False
    is_folder: bool = False


class _Header(tarfile.TarInfo):
    """A header that tarfile does not read when it is too large."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _EXTENDED and found.size > _HEADER:
            raise tarfile.ReadError(f"a header of {found.size} octets")
        if found.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("a sparse file")
        return found

    def _proc_gnusparse_10(self, *_: object) -> None:
        # tarfile would keep a map of as many numbers as this header names.
        raise tarfile.ReadError("a sparse file")


class _Bounded(io.RawIOBase):
    """The unpacked archive, which ends with BadInput at a limit."""

    def __init__(self, source: IO[bytes], name: str, budget: Budget) -> None:
        self._source, self._name, self._budget = source, name, budget
        self._end = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self._budget.octets -= size
        if self._budget.octets < 0:
            raise BadInput(f"{self._name}: unpacks to more than {_WHOLE >> 30} GiB", NEXT)
        got = self._source.read(size)
        self._end = (self._end + got)[-tarfile.BLOCKSIZE :]
        return got

    def is_ended(self) -> bool:
        """Return whether the last block that was read is the empty one that ends an archive."""
        return self._end == bytes(tarfile.BLOCKSIZE)


class _Xz(io.RawIOBase):
    """An xz file, whose dictionary has a limit, unlike that of lzma.LZMAFile."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._decoder.eof:
            fed = b""
            if self._decoder.needs_input and not (fed := self._source.read(1 << 16)):
                raise EOFError("it ends before its end-of-stream marker")
            if got := self._decoder.decompress(fed, size):
                return got
        return b""


_UNPACK: Mapping[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda file: cast(IO[bytes], gzip.GzipFile(fileobj=file)),
    b"\xfd7zXZ\x00": lambda file: cast(IO[bytes], _Xz(file)),
    b"BZh": lambda file: cast(IO[bytes], bz2.BZ2File(file)),
}


def members(file: IO[bytes], name: str, budget: Budget) -> Iterator[Member]:
    """Yield the members in the archive's order. Devices and overlong paths are skipped.

    name: of the archive, in errors. Raises BadInput for a file that is none, and for one with an
    unsafe path or beyond a limit.
    """
    with _faults_named(name):
        unpacked = _unpacked(file, name, budget)
        archive = tarfile.open(  # noqa: SIM115
            fileobj=cast(IO[bytes], unpacked), mode="r|", tarinfo=_Header
        )
    with archive:
        while (about := _next(archive, name)) is not None:
            budget.members -= 1
            if budget.members < 0:
                raise BadInput(f"{name}: more than {_MEMBERS} files", NEXT)
            found = _member(archive, about, name)
            if found is not None:
                yield found
    if not unpacked.is_ended():
        raise BadInput(f"{name}: not a whole archive: it ends before its end mark", NEXT)


@contextmanager
def _faults_named(name: str) -> Iterator[None]:
    """Raise BadInput with the archive's name for what its libraries raise."""
    try:
        yield
    except RecursionError:
        raise BadInput(f"{name}: not a whole archive: its headers are nested", NEXT) from None
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError) as fault:
        why = (fault.strerror if isinstance(fault, OSError) else None) or str(fault)
        raise BadInput(f"{name}: not a whole archive: {printable(why, 200)}", NEXT) from fault


def _next(archive: tarfile.TarFile, name: str) -> tarfile.TarInfo | None:
    with _faults_named(name):
        about = archive.next()
        # tarfile keeps every header that it has read.
        archive.members = []  # type: ignore[attr-defined]
        if len(archive.pax_headers) > _GLOBAL_KEYS:
            raise tarfile.ReadError(f"more than {_GLOBAL_KEYS} global keys")
        return about


def _unpacked(file: IO[bytes], name: str, budget: Budget) -> _Bounded:
    start = file.read(6)
    file.seek(0)
    kinds = [unpack for magic, unpack in _UNPACK.items() if start.startswith(magic)]
    return _Bounded(kinds[0](file) if kinds else file, name, budget)


def _member(archive: tarfile.TarFile, about: tarfile.TarInfo, name: str) -> Member | None:
    if len(about.name) > _LONGEST or len(about.linkname) > _LONGEST:
        return None
    parts = PurePosixPath(about.name).parts
    if about.name.startswith("/") or ".." in parts or "\0" in about.name:
        shown = printable(about.name, 80)
        raise BadInput(f"{name}: has a path that leaves its folder: {shown}", NEXT)
    if not parts or len(parts) > _DEEPEST:
        return None
    if about.isdir():
        return Member(parts, 0, is_folder=True)
    if about.issym() or about.islnk():
        return Member(parts, 0, target=about.linkname, is_hard=about.islnk())
    if not about.isreg():
        return None

    def read() -> bytes:
        with _faults_named(name):
            content = archive.extractfile(about)
            assert content is not None  # a regular file has one
            return content.read()

    return Member(parts, about.size, read)
