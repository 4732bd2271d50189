# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from tests.hosts import record
from wirespeed.host.collect import collect
from wirespeed.model.errors import BadInput
from wirespeed.remote import archive as archives
from wirespeed.remote.archive import open_archive
from wirespeed.remote.interface import NotRecorded
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import load

RECORDED = Path(record.__file__).parent / "s2-r730"


def _member(archive: tarfile.TarFile, name: str, text: str = "x\n", kind: bytes = b"0") -> None:
    about = tarfile.TarInfo(name)
    about.type, about.linkname = kind, "/etc/shadow"
    about.size = len(text.encode()) if kind == tarfile.REGTYPE else 0
    archive.addfile(about, io.BytesIO(text.encode()) if about.size else None)


def _archive(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w:gz") as archive:
        for name, text in files.items():
            _member(archive, f"sosreport-r730{name}", text)
    return path


@pytest.mark.parametrize("name", ["r730.tar.xz", "r730.tar.gz"])
def test_archive_of_a_recorded_server_has_its_cpus_and_nodes(tmp_path: Path, name: str) -> None:
    recording = load(RECORDED)
    path = _archive(tmp_path / name, {**recording.files, "/etc/hostname": "r730\n"})
    facts = collect(open_archive(path))
    whole = collect(RecordedRunner(recording))
    assert facts.host == whole.host
    assert facts.cpus == whole.cpus
    assert [node.memory_kib for node in facts.nodes] == [n.memory_kib for n in whole.nodes]
    assert facts.kernel.cmdline == whole.kernel.cmdline
    assert facts.ovs is None
    assert any(missing.fact.startswith("ovs") for missing in facts.missing)


def test_archive_file_that_it_lacks_is_unknown(tmp_path: Path) -> None:
    host = open_archive(_archive(tmp_path / "a.tar.gz", {"/proc/cmdline": "quiet\n"}))
    assert host.read("/proc/cmdline") == "quiet\n"
    with pytest.raises(NotRecorded):
        host.read("/proc/cpuinfo")
    with pytest.raises(NotRecorded):
        host.glob("/sys/class/net/*")


@pytest.mark.parametrize("name", ["/etc/passwd", "sos/../../etc/passwd", "../proc/cmdline"])
def test_archive_path_that_leaves_its_folder_is_rejected(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        _member(archive, name)
    with pytest.raises(BadInput, match="leaves its folder"):
        open_archive(path)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_archive_links_and_devices_are_not_followed(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        _member(archive, "sos/proc/cmdline", kind=kind)
        _member(archive, "sos/proc/cpuinfo")
    with pytest.raises(NotRecorded):
        open_archive(path).read("/proc/cmdline")


def test_archive_that_unpacks_to_too_much_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_WHOLE", 1 << 20)
    path = _archive(tmp_path / "bomb.tar.gz", {"/var/log/messages": "0" * (8 << 20)})
    assert path.stat().st_size < 1 << 16
    with pytest.raises(BadInput, match="unpacks to more than"):
        open_archive(path)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_archive_large_header_is_rejected_unread(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("sos/proc/cmdline")
    header.type, header.size = kind, 4 << 30
    path = tmp_path / "a.tar"
    path.write_bytes(header.tobuf(tarfile.USTAR_FORMAT) + bytes(4096))
    with pytest.raises(BadInput, match="a header of 4294967296 octets"):
        open_archive(path)


def test_archive_large_file_is_unreadable_and_the_rest_is_kept(tmp_path: Path) -> None:
    files = {"/proc/kcore": "0" * (2 << 20), "/proc/cmdline": "quiet\n"}
    host = open_archive(_archive(tmp_path / "a.tar.gz", files))
    assert host.read("/proc/cmdline") == "quiet\n"
    with pytest.raises(OSError, match="could not be read"):
        host.read("/proc/kcore")


@pytest.mark.parametrize("damage", [b"", b"no archive at all", b"\x1f\x8b\x08\x00cut"])
def test_archive_that_is_none_is_rejected(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(damage)
    with pytest.raises(BadInput, match=r"a\.tar\.gz"):
        open_archive(path)


def test_archive_cut_short_is_rejected(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.tar.gz", {f"/proc/{n}": str(n) * 999 for n in range(99)})
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(BadInput):
        open_archive(path)
