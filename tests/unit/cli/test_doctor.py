# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command
from wirespeed.bench.host import container, hugepages
from wirespeed.bench.host.programs import Program, find_program, program_version
from wirespeed.bench.interface import BenchError
from wirespeed.bench.switch.ovs_dpdk import namespace, programs
from wirespeed.model.plan.plan import HugePages
from wirespeed.remote.interface import Completed
from wirespeed.remote.local import LocalRunner


class Place(LocalRunner):
    """This machine with some of its files and answers replaced."""

    def __init__(
        self, files: Mapping[str, str], answers: Mapping[str, int], absent: str = ""
    ) -> None:
        super().__init__("place")
        self._files, self._answers, self._absent = files, answers, absent

    def read(self, path: str) -> str:
        if path == container.FIRST_PROCESS:
            return self._files.get(path, "")
        return self._files[path] if path in self._files else super().read(path)

    def glob(self, *patterns: str) -> tuple[str, ...]:
        found = super().glob(*patterns)
        gone = (*container.MARKS, *([self._absent] if self._absent else []))
        kept = [path for path in found if not path.startswith(gone)]
        return tuple(sorted({*kept, *(set(patterns) & self._files.keys())}))

    def run(self, argv: Sequence[str], **options: object) -> Completed:
        if argv[0] in self._answers:
            return Completed(tuple(argv), self._answers[argv[0]], "", "")
        return super().run(argv, **options)  # type: ignore[arg-type]


_POOL = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB"


def _pool(free: int) -> dict[str, str]:
    reserved = "/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages"
    return {f"{_POOL}/free_hugepages": str(free), reserved: "0"}


def test_doctor_study_that_works_ends_with_0(wirespeed: Command) -> None:
    ended = wirespeed("doctor", "wire", "--json")
    [ability] = json.loads(ended.out)["abilities"]
    assert ability["name"] == "run wire"
    assert ended.code == (0 if ability["works"] else 1), ability
    assert ability["works"] is (ability["lacks"] == [])


def test_doctor_unknown_study_ends_with_2(wirespeed: Command) -> None:
    ended = wirespeed("doctor", "wyre")
    assert ended.code == 2
    assert "Did you mean 'wire'?" in ended.err


def test_doctor_program_missing_names_it_and_ends_with_1(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "wirespeed.bench.assembly.ready.WSDP",
        Program("wsdp-absent", Path("/nowhere"), "make it", "the package it"),
    )
    ended = wirespeed("doctor", "wire")
    assert ended.code == 1
    assert "missing  run wire" in ended.out
    assert "wsdp-absent is not on localhost" in ended.out
    assert "make it" in ended.out
    assert "install the package it" in ended.out


def test_find_program_installed_next_to_python_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    program = Program("wsdp-absent", Path("/nowhere"), "make it", "it")
    installed = tmp_path / "wsdp-absent"
    installed.touch()
    assert find_program(LocalRunner(), program) == str(installed)


def test_check_reservable_free_pages_passes() -> None:
    hugepages.check_reservable(Place(_pool(8), {"test": 1}), [HugePages(0, 2048, 8)])


def test_check_reservable_container_names_flags() -> None:
    files = {**_pool(2), "/run/.containerenv": ""}
    with pytest.raises(BenchError, match="a container may reserve no more") as raised:
        hugepages.check_reservable(Place(files, {"test": 1}), [HugePages(0, 2048, 8)])
    assert "--cap-add IPC_LOCK" in raised.value.next_step


def test_check_reservable_read_only_container_names_flags() -> None:
    files = {**_pool(2), "/proc/1/environ": "PATH=/bin\0container=podman\0"}
    with pytest.raises(BenchError, match="a container may reserve no more"):
        hugepages.check_reservable(Place(files, {"test": 1}), [HugePages(0, 2048, 8)])


def test_check_reservable_other_user_needs_root() -> None:
    with pytest.raises(BenchError, match="only root may reserve more"):
        hugepages.check_reservable(Place(_pool(2), {"test": 1}), [HugePages(0, 2048, 8)])


def test_find_daemon_without_open_vswitch_names_package() -> None:
    with pytest.raises(BenchError, match="Open vSwitch is not installed on place") as raised:
        programs.find_daemon(Place({}, {}, absent="/usr/share/openvswitch"))
    assert "openvswitch-switch-dpdk" in raised.value.next_step


_CONTAINER = {"/run/.containerenv": ""}


@pytest.mark.parametrize(
    ("capabilities", "absent", "lacks"),
    [
        ("1000", "/dev/net/tun", "has no /dev/net/tun"),
        ("0", "", "lacks the capability NET_ADMIN"),
        ("800", "/dev/net/tun", "has no /dev/net/tun and lacks the capability NET_ADMIN"),
    ],
)
def test_namespace_check_container_without_taps_names_flags(
    capabilities: str, absent: str, lacks: str
) -> None:
    files = _CONTAINER | {"/proc/self/status": f"CapEff:\t{capabilities}\n", "/dev/net/tun": ""}
    if absent:
        del files[absent]
    with pytest.raises(BenchError) as raised:
        namespace.check(Place(files, {"unshare": 1}, absent="/dev/net/tun"))
    assert raised.value.what.endswith(f"this container {lacks}")
    assert "--cap-add NET_ADMIN --device /dev/net/tun" in raised.value.next_step


@pytest.mark.parametrize("files", [{}, _CONTAINER])
def test_namespace_check_own_namespace_or_no_container_passes(files: dict[str, str]) -> None:
    namespace.check(Place(files, {"unshare": 0 if files else 1}, absent="/dev/net/tun"))


def test_program_version_of_other_dpdk_names_release(tmp_path: Path) -> None:
    said = (
        "wsdp: error while loading shared libraries: librte_eal.so.25: "
        "cannot open shared object file: No such file or directory"
    )
    path = tmp_path / "wsdp"
    path.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 127\n")
    path.chmod(0o755)
    with pytest.raises(BenchError, match=r"librte_eal\.so\.25 is missing") as raised:
        program_version(LocalRunner(), Program("wsdp", path, "make setup", "it"))
    assert "DPDK 24.11" in raised.value.next_step


def test_page_limit_below_demand_names_file_and_value() -> None:
    limit = "/sys/fs/cgroup/box/hugetlb.2MB.max"
    place = Place({"/proc/self/cgroup": "0::/box\n", limit: str(4 << 20)}, {})
    assert list(container.page_limits(place, 2048)) == [(limit, 4 << 20)]
    unlimited = Place({"/proc/self/cgroup": "0::/box\n", limit: "max\n"}, {})
    assert list(container.page_limits(unlimited, 2048)) == []
