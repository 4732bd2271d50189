# SPDX-License-Identifier: Apache-2.0
"""Check that files made to harm end in one error or are ignored, in little memory.

All are read by one child process whose memory has a limit. Limits of an archive are lowered in it,
so that bombs are made and read in less time; what they are is in wirespeed.remote.archive.
"""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.sosreport import To, packed
from tests.unit.host.test_imported import SOS, WHOLE
from wirespeed.host.imported import ovs_lists
from wirespeed.host.imported.interfaces import write_interfaces, write_speed
from wirespeed.host.imported.interrupts import write_actions
from wirespeed.host.imported.lspci import write_devices
from wirespeed.remote.file_tree import FileTree

_MIB = 1 << 20
_CHILD = """
import resource, sys
from pathlib import Path
from wirespeed.host.imported.source import read_imported
from wirespeed.model.errors import BadInput
from wirespeed.remote import archive
archive._WHOLE, archive._MEMBERS = 48 << 20, 4_000
now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (128 << 20),) * 2)
for path in sys.argv[1:]:
    try:
        facts = read_imported(Path(path))
        print("read", facts.kernel.cmdline or "-")
    except BadInput as error:
        print("refused", error.what.replace("\\n", " "), "|", error.next_step)
"""


def _header(size: int = 1 << 30) -> bytes:
    about = tarfile.TarInfo("sos/var/log/messages")
    about.size = size
    return about.tobuf()


def _zeros() -> bytes:
    """Return 160 MiB of zeros in one file, packed in members of 32 MiB."""
    return gzip.compress(_header()) + gzip.compress(bytes(32 * _MIB)) * 5


def _many(kind: bytes, size: int, name: str) -> bytes:
    """Return an archive of 20,000 equal members, packed in blocks of 2,000."""
    about = tarfile.TarInfo(name)
    about.type, about.linkname, about.size = kind, "cmdline", size
    block = about.tobuf() + bytes(-(-size // 512) * 512)
    return gzip.compress(block * 2_000) * 10


def _deep_links() -> bytes:
    links = {f"/sys/class/net/{n:03}": To("../" * 9 + "sys/class/net") for n in range(400)}
    return packed({**SOS, **links})


def _nested(sysinfo: bytes) -> bytes:
    return packed({"/quay-io/nodes/w1/sysinfo.tgz": sysinfo}, "must-gather.local.1")


_NAMES = ("\x1b[2J\n", "w\x1b[31m\n1"), ("a", "w2")
CMDLINE = WHOLE.kernel.cmdline
CASES: dict[str, tuple[Callable[[], bytes], str]] = {
    "gzip bomb": (_zeros, "unpacks to more than"),
    "xz bomb": (lambda: lzma.compress(_header() + bytes(160 * _MIB), preset=0), "unpacks to more"),
    "nested gzip bomb": (lambda: _nested(_zeros()), "unpacks to more than"),
    "nested archive cut short": (lambda: _nested(gzip.compress(b"x" * 99)), "sysinfo.tgz of w1"),
    "members": (lambda: _many(tarfile.REGTYPE, 0, "sos/a"), "more than 4000 files"),
    "members of one path": (lambda: _many(tarfile.REGTYPE, 512, "sos/proc/cmdline"), "4000 files"),
    "hard links to themselves": (lambda: _many(tarfile.LNKTYPE, 0, "sos/proc/a"), "4000 files"),
    "headers": (lambda: _many(tarfile.XGLTYPE, 512, "x"), "not a whole archive"),
    "long names": (lambda: _many(tarfile.GNUTYPE_LONGNAME, 512, "x"), "headers are nested"),
    "links in a circle": (_deep_links, CMDLINE),
    "link to the system's file": (
        lambda: packed({**SOS, "/proc/cmdline": To("/etc/hostname")}), WHOLE.host),
    "link out of the archive": (
        lambda: packed({**SOS, "/proc/cmdline": To("../../../../etc/shadow")}), "-"),
    "a sosreport inside": (
        lambda: packed({**SOS, "/sys/devices/inside.tar": packed(SOS)}), CMDLINE),
    "only a sosreport inside": (
        lambda: packed({"/sosreport-b.tar": packed(SOS)}), "no file of /proc or /sys"),
    "two hosts": (
        lambda: packed(SOS)[:-10240] + packed(SOS, "sosreport-b"), "has files of two hosts"),
    "names that control a terminal": (
        lambda: packed({f"/{folder}/nodes/{node}/sysinfo.tgz": b"" for folder, node in _NAMES}),
        r"w\x1b[31m\x0a1, w2"),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("hostile")
    paths = []
    for number, (make, _) in enumerate(CASES.values()):
        paths.append(folder / f"{number}.tar")
        paths[-1].write_bytes(make())
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *map(str, paths)],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_hostile_file_is_refused_or_ignored(answers: dict[str, str], case: str) -> None:
    assert CASES[case][1] in answers[case]
    assert answers[case].isprintable()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('name : {"' + r"\"" * 200_000, id="string without end"),
        pytest.param("name : " + '["' * 200_000, id="strings"),
        pytest.param("a" * 400_000, id="no column"),
    ],
)
def test_hostile_table_is_looked_through_once(text: str) -> None:
    try:
        (row,) = ovs_lists.rows(text)
    except ValueError:
        return
    assert len(str(row["name"])) <= 2 * len(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\n" * 400_000, id="empty lines"),
        pytest.param("04:00.0 " + "[0200]: " * 50_000, id="titles"),
        pytest.param("04:00.0 A [0200]: B [8086:1583]\n\tLnkCap: " + "Speed 8GT/s " * 50_000,
                     id="speeds"),
        pytest.param(f"1: {'1 ' * 200_000}", id="numbers"),
        pytest.param(f"1: eth0: <{'<' * 400_000}", id="flags"),
    ],
)  # fmt: skip
def test_hostile_output_is_looked_through_once(text: str) -> None:
    tree = FileTree("a.tar")
    tuple(write_devices(tree, text))
    write_interfaces(tree, text)
    write_speed(tree, "eth0", text)
    tree.add("/proc/interrupts", text)
    write_actions(tree)
    assert tree.names("/sys/class") == ()
