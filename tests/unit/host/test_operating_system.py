# SPDX-License-Identifier: Apache-2.0
"""Test the distribution that os-release names."""

from __future__ import annotations

import pytest

from tests.hosts.fake_runner import FakeRunner
from wirespeed.document.sift import NotOfItsForm, sift
from wirespeed.host.file import HOST_FILE
from wirespeed.host.operating_system import read_operating_system
from wirespeed.host.reader import Reader
from wirespeed.model.host.facts import Cpu, HostFacts, Kernel, Missing, NumaNode
from wirespeed.model.host.operating_system import OperatingSystem

ETC, USR = "/etc/os-release", "/usr/lib/os-release"


def read(files: dict[str, str | OSError]) -> tuple[OperatingSystem | None, tuple[Missing, ...]]:
    reader = Reader(FakeRunner(files=files))
    return read_operating_system(reader), reader.missing


def test_os_release_is_read_as_a_shell_reads_it() -> None:
    text = (
        '# a comment\n\nNAME=\'SLES\'\nID="sles"\nID_LIKE="suse opensuse"\n'
        'VERSION_ID=15.6\nPRETTY_NAME="x"\nANSI_COLOR="0;32"\n'
    )
    system, missing = read({ETC: text})
    assert system == OperatingSystem("sles", ("suse", "opensuse"), "15.6", "SLES")
    assert str(system) == "SLES 15.6"
    assert missing == ()


def test_os_release_of_usr_is_read_where_etc_has_none() -> None:
    assert read({USR: "ID=debian\n"})[0] == OperatingSystem("debian", name="Linux")
    both = read({ETC: "ID=ubuntu\n", USR: "ID=debian\n"})[0]
    assert both is not None
    assert both.id == "ubuntu"


def test_os_release_that_is_absent_is_unknown() -> None:
    assert read({}) == (None, ())


def test_os_release_without_an_id_has_the_manuals_defaults() -> None:
    assert read({ETC: "VERSION_ID=1\n"})[0] == OperatingSystem("linux", (), "1", "Linux")


@pytest.mark.parametrize("line", ["ID='sles", "ID=sles x", 'ID="a" "b"'])
def test_os_release_with_another_line_names_it(line: str) -> None:
    system, missing = read({ETC: f"{line}\nVERSION_ID=15\n"})
    assert system is not None
    assert system.id == "linux"
    assert missing[0].fact == "operating_system"
    assert "is not an assignment of one word" in missing[0].reason


def test_os_release_that_cannot_be_read_names_the_reason() -> None:
    assert "needs root" in read({ETC: PermissionError(13, "")})[1][0].reason
    system, missing = read({ETC: "ID=x\n" + "#" * 70_000})
    assert system is None
    assert "more than 65536" in missing[0].reason


def facts(system: OperatingSystem | None) -> HostFacts:
    node = NumaNode(0, (0,), memory_kib=1, free_kib=1)
    return HostFacts("h", Kernel("6", ""), (Cpu(0, siblings=(0,)),), (node,),
                     operating_system=system)  # fmt: skip


@pytest.mark.parametrize("odd", ["$(reboot)", "a b", "x" * 300, "-x"])
def test_id_that_is_no_word_is_dropped_with_a_reason(odd: str) -> None:
    said: list[str] = []
    kept = sift(facts(OperatingSystem(odd)), lambda fact, _: said.append(fact))
    assert kept.operating_system is None
    assert said == ["operating_system"]
    with pytest.raises(NotOfItsForm):
        sift(OperatingSystem(odd), lambda *_: None)


def test_host_file_keeps_the_distribution_and_older_ones_lack_it() -> None:
    document = HOST_FILE.document(facts(OperatingSystem("sles", ("suse",), "15.6", "SLES")))
    assert document["operating_system"] == {
        "id": "sles", "id_like": ["suse"], "version_id": "15.6", "name": "SLES",
    }  # fmt: skip
    text = '{"schema_version": "1.5", "host": "h", "kernel": {"release": "6", "cmdline": ""}, '
    text += '"cpus": [{"id": 0, "siblings": [0]}], '
    text += '"nodes": [{"id": 0, "cpus": [0], "memory_kib": 1, "free_kib": 1}]}'
    assert HOST_FILE.parse(text, "old.json") == facts(None)
