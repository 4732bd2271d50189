# SPDX-License-Identifier: Apache-2.0
"""Check that an archive from anybody is read within bounds, or refused with one error."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.remote import archive as archives
from wirespeed.remote.archive import Budget, members


def _tar(*entries: tarfile.TarInfo, form: int = tarfile.GNU_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for entry in entries:
            archive.addfile(entry, io.BytesIO(b"x" * entry.size) if entry.isreg() else None)
    return file.getvalue()


def _entry(name: str, size: int = 1, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = kind, size if kind == tarfile.REGTYPE else 0
    entry.linkname = "/etc/shadow"
    return entry


def _names(content: bytes) -> list[str]:
    return ["/".join(m.parts) for m in members(io.BytesIO(content), "a.tar", Budget())]


def _refused(content: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said) as raised:
        _names(content)
    assert raised.value.what.startswith("a.tar: ")
    assert raised.value.what.isprintable()


@pytest.mark.parametrize("name", ["/etc/passwd", "sos/../../etc/passwd", "../proc/cmdline"])
def test_archive_path_that_leaves_its_folder_is_rejected(name: str) -> None:
    _refused(_tar(_entry(name)), "leaves its folder")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_archive_devices_are_skipped(kind: bytes) -> None:
    assert _names(_tar(_entry("sos/proc/cmdline", kind=kind), _entry("sos/proc/b"))) == [
        "sos/proc/b"
    ]


def test_archive_links_are_names_alone() -> None:
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE)
    file = io.BytesIO(_tar(*(_entry(f"sos/{n}", kind=kind) for n, kind in enumerate(kinds))))
    found = [(m.target, m.is_hard, m.read) for m in members(file, "a.tar", Budget())]
    assert found == [("/etc/shadow", False, None), ("/etc/shadow", True, None)]


def test_archive_names_with_control_characters_stay_out_of_errors() -> None:
    _refused(_tar(_entry("sos/\x1b[31m\n/../x")), r"\\x1b\[31m\\x0a")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_archive_that_unpacks_to_too_much_is_rejected(
    pack: type[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_WHOLE", 1 << 20)
    packed = pack(_tar(_entry("sos/var/log/messages", 8 << 20)))  # type: ignore[call-arg]
    _refused(bytes(packed), "unpacks to more than")  # type: ignore[call-overload]


def test_archive_xz_with_a_huge_dictionary_is_rejected() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 512 << 20}]
    _refused(lzma.compress(_tar(_entry("sos/a")), filters=filters), "Memory usage limit")


def test_archive_of_too_many_members_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MEMBERS", 10)
    _refused(_tar(*(_entry(f"sos/{n}") for n in range(11))), "more than 10 files")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_archive_large_header_is_rejected_unread(kind: bytes) -> None:
    header = tarfile.TarInfo("sos/proc/cmdline")
    header.type, header.size = kind, 4 << 30
    _refused(header.tobuf(tarfile.GNU_FORMAT) + bytes(4096), "a header of 4294967296 octets")


@pytest.mark.parametrize("kind", [tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_archive_headers_without_end_are_rejected(kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 512
    body = b"11 a=bcdef\n".ljust(512, b"\0") if kind == tarfile.XGLTYPE else b"n".ljust(512, b"\0")
    _refused((header.tobuf(tarfile.GNU_FORMAT) + body) * 5000, "its headers are nested")


def test_archive_sparse_file_of_gnu_is_rejected() -> None:
    header = tarfile.TarInfo("sos/proc/cmdline")
    header.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[482] = 1  # its map goes on in the next block
    block[148:156] = b"%06o\0 " % (sum(block[:148]) + sum(block[156:512]) + 8 * 32)
    _refused(bytes(block) + bytes(range(1, 129)) * 400, "a sparse file")


def test_archive_sparse_file_of_pax_is_rejected() -> None:
    entry = _entry("sos/proc/cmdline", 512)
    entry.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.realsize": "9",
    }
    _refused(_tar(entry, form=tarfile.PAX_FORMAT), "a sparse file")


@pytest.mark.parametrize("depth", [65, 3000])
def test_archive_deep_and_overlong_paths_are_skipped(depth: int) -> None:
    entries = (_entry("sos/" + "a/" * depth + "b"), _entry("sos/c"))
    assert _names(_tar(*entries)) == ["sos/c"]


@pytest.mark.parametrize(
    "damage", [b"", b"no archive at all", b"\x1f\x8b\x08\x00cut", b"\xfd7zXZ\0x"]
)
def test_archive_that_is_none_is_rejected(damage: bytes) -> None:
    _refused(damage, "not a whole archive")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_archive_cut_short_is_rejected(pack: type[object]) -> None:
    whole = bytes(pack(_tar(*(_entry(f"sos/{n}", 999) for n in range(99)))))  # type: ignore[call-arg, call-overload]
    for cut in (len(whole) // 2, 700):
        _refused(whole[: min(cut, len(whole) - 40)], "not a whole archive")


def test_archive_cut_inside_a_file_is_rejected_where_it_is_read() -> None:
    whole = _tar(_entry("sos/proc/cmdline", 9000))
    (member, *_) = [next(members(io.BytesIO(whole[:2000]), "a.tar", Budget()))]
    assert member.read is not None
    with pytest.raises(BadInput, match="not a whole archive"):
        member.read()
