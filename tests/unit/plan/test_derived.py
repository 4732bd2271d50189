# SPDX-License-Identifier: Apache-2.0
"""Compare the formulas for huge pages, kernel words and PMD demand with their sources."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.examples import recorded
from wirespeed.model.plan.plan import HugePages
from wirespeed.model.plan.policy import InterfaceKind, Pattern
from wirespeed.model.plan.workload import VnfPort
from wirespeed.plan.errors import FileFaults, PlanError
from wirespeed.plan.host.kernel import kernel_arguments
from wirespeed.plan.host.pmd_demand import S2_CYCLES, clock_hz, parse_cycles, pmd_cores, port_hz
from wirespeed.plan.sizing.huge_pages import (
    hugepages_argument,
    jetpack_count,
    node_reserve_mib,
    spread_evenly,
    tripleo_count,
)

GIB = 1048576


def test_huge_page_counts_of_tripleo_and_jetpack() -> None:
    assert tripleo_count(192, 50) == 94
    assert jetpack_count(196608) == 164


def test_no_node_is_left_without_memory() -> None:
    assert node_reserve_mib(4096, 2) == 2048
    assert node_reserve_mib(0, 2) == 1024


def test_hugepages_are_spread_as_the_kernel_does() -> None:
    assert spread_evenly(5, (0, 1)) == {0: 3, 1: 2}


@pytest.mark.parametrize(
    ("counts", "release", "value"),
    [
        ({0: 8, 1: 8}, "4.18.0", "16"),
        ({0: 8, 1: 4}, "5.16.0", "0:8,1:4"),
        ({0: 8, 1: 0}, "6.1.0-18-amd64", "0:8"),
        ({0: 8, 1: 4}, "5.15.0", "16"),
        ({0: 8, 1: 4}, "unknown", "16"),
    ],
)
def test_uneven_pages_need_a_kernel_that_can(
    counts: dict[int, int], release: str, value: str
) -> None:
    assert hugepages_argument(counts, release) == value


def test_kernel_words_by_vendor_and_page_size() -> None:
    facts = recorded("s3-r740xd")
    pages = [HugePages(n, size, 4) for n in (0, 1) for size in (2048, GIB)]
    words = [w.value for w in kernel_arguments(facts, (2, 3), pages, GIB, ("mitigations=off",))]
    assert words[:5] == [
        "default_hugepagesz=1G", "hugepagesz=1G", "hugepages=8", "hugepagesz=2M", "hugepages=8",
    ]  # fmt: skip
    assert words[-1] == "mitigations=off"
    amd = replace(facts, cpu_model="AMD EPYC 7302 16-Core Processor")
    words = [w.value for w in kernel_arguments(amd, (), [], GIB, ())]
    assert "amd_iommu=on" in words
    assert not any(w.startswith(("isolcpus", "hugepages", "intel_pstate")) for w in words)


def test_s2s_single_pmd_is_one_core() -> None:
    """Compare with S2: one 2.2 GHz PMD thread carried 14.3 Mpps (64 B) from the NIC to guests."""
    assert S2_CYCLES.phy_vhost.cycles(64) * 14.285e6 == pytest.approx(2.2e9, rel=0.01)
    assert pmd_cores(154 * 14.2e6, 2.2e9, 1.0) == 1
    assert pmd_cores(154 * 14.4e6, 2.2e9, 1.0) == 2
    assert pmd_cores(0, 2.2e9, 0.8) == 1


def test_port_hz_depends_on_pattern_and_interface() -> None:
    north = VnfPort("p", "n", rate_fps=1e6, frame_bytes=64)
    east = replace(north, pattern=Pattern.EAST_WEST)
    assert port_hz(north, InterfaceKind.VHOST, S2_CYCLES) == 2 * 154e6
    assert port_hz(east, InterfaceKind.VHOST, S2_CYCLES) == 425e6
    assert port_hz(north, InterfaceKind.SRIOV, S2_CYCLES) == 0


def test_s2s_east_west_figures_come_back() -> None:
    """Compare with S2: 41.46 Mpps (64 B) and 17.73 Mpps (1518 B) over eight guests.

    Each guest had one PMD thread at 2.2 GHz.
    """
    for frame, mpps in ((64, 41.46), (1518, 17.73)):
        per_guest = mpps * 1e6 / 8
        assert per_guest * S2_CYCLES.vhost_vhost.cycles(frame) == pytest.approx(2.2e9, rel=0.02)


def test_clock_from_the_name_from_the_workload_or_assumed() -> None:
    facts = recorded("s0-compute")
    assert clock_hz(facts, None).value == 2.8e9
    assert clock_hz(facts, 3.1e9).value == 3.1e9
    unknown = clock_hz(replace(facts, cpu_model="AMD EPYC 7302"), None)
    assert unknown.value == 2.0e9
    assert "assumed" in unknown.because


def test_measured_cycles_file() -> None:
    model = parse_cycles(
        '{"schema": "wirespeed-cycles/1", "source": "lab, 2026-07-01",'
        ' "phy_vhost": {"at_64": 120, "per_byte": 0.1},'
        ' "vhost_vhost": {"at_64": 300.5, "per_byte": 0}}',
        "c.json",
    )
    assert (model.phy_vhost.at_64, model.vhost_vhost.at_64) == (120, 300.5)


def test_faults_of_a_cycles_file_at_once() -> None:
    with pytest.raises(FileFaults) as caught:
        parse_cycles(
            '{"schema": "wirespeed-cycles/1", "phy_vhost": {"at_64": 0, "per_byte": "x"},'
            ' "vhost": 1}',
            "c.json",
        )
    text = str(caught.value)
    for expected in ("phy_vhost.at_64 = 0", 'phy_vhost.per_byte = "x"', "vhost_vhost", "vhost = 1",
                     "source"):  # fmt: skip
        assert expected in text
    with pytest.raises(FileFaults, match="must be 'wirespeed-cycles/1'"):
        parse_cycles('{"schema": "x"}', "c.json")
    with pytest.raises(PlanError, match="not JSON"):
        parse_cycles("[", "c.json")
