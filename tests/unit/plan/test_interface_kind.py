# SPDX-License-Identifier: Apache-2.0
"""Check that port types are chosen, and limits named, as in S2."""

from __future__ import annotations

import pytest

from wirespeed.model.host.facts import PciDevice
from wirespeed.model.plan.policy import DataPlane, InterfaceKind, NicUse, Pattern
from wirespeed.model.plan.workload import Chain, Nic, ProviderNetwork, Vnf, VnfPort, Workload
from wirespeed.plan.host.interface_kind import choose_kind, kind_warnings, pcie_limit_bps

XL710 = PciDevice("0000:04:00.0", "8086", "1583", link_width=8, link_gts=8.0, sriov_total=64)
CHAIN = Chain("c", ("a", "b", "c", "d", "e", "f"))


def lab(*uses: NicUse) -> Workload:
    nics = tuple(Nic("n", use, ("p",)) for use in uses)
    return Workload("w", (), networks=(ProviderNetwork("n", "p"),), nics=nics, chains=(CHAIN,))


def chosen(port: VnfPort, plane: DataPlane, *uses: NicUse) -> InterfaceKind:
    vnf = Vnf("a", 2, 1024, data_plane=plane, ports=(port,))
    nics = [XL710] if NicUse.SRIOV in uses else []
    return choose_kind(port, vnf, lab(*uses), nics).value


NORTH = VnfPort("p", "n")
EAST = VnfPort("p", "n", pattern=Pattern.EAST_WEST, chain="c", rate_fps=2e6, frame_bytes=512)


@pytest.mark.parametrize(
    ("port", "plane", "uses", "kind"),
    [
        (NORTH, DataPlane.DPDK, (NicUse.SRIOV, NicUse.DPDK), InterfaceKind.SRIOV),
        (NORTH, DataPlane.KERNEL, (NicUse.SRIOV,), InterfaceKind.SRIOV),
        (NORTH, DataPlane.DPDK, (NicUse.DPDK,), InterfaceKind.VHOST),
        (NORTH, DataPlane.KERNEL, (NicUse.DPDK,), InterfaceKind.VIRTIO),
        (EAST, DataPlane.DPDK, (NicUse.SRIOV, NicUse.DPDK), InterfaceKind.VHOST),
        (EAST, DataPlane.KERNEL, (NicUse.SRIOV,), InterfaceKind.VIRTIO),
    ],
)
def test_auto(
    port: VnfPort, plane: DataPlane, uses: tuple[NicUse, ...], kind: InterfaceKind
) -> None:
    assert chosen(port, plane, *uses) is kind


def test_pcie_limit_is_s2s_50_gbps_on_x8() -> None:
    assert pcie_limit_bps(XL710) == pytest.approx(50e9, rel=0.001)


def test_s2s_example_of_a_six_guest_chain() -> None:
    """Check 5 Gbit/s through six guests (30 in each direction, fits), and 10 (60, does not fit)."""
    for gbps, warned in ((5, False), (10, True)):
        rate = gbps * 1e9 / (1500 * 8)
        port = VnfPort("p", "n", InterfaceKind.SRIOV, rate, 1500, Pattern.EAST_WEST, "c")
        found = kind_warnings(port, InterfaceKind.SRIOV, lab(NicUse.SRIOV), [XL710])
        assert bool(found) is warned
        if warned:
            assert (
                "needs 60.0 Gbit/s in each direction on PCIe, 0000:04:00.0 carries 45.0" in found[0]
            )


def test_a_vf_beyond_what_the_nic_processes() -> None:
    port = VnfPort("p", "n", InterfaceKind.SRIOV, 40e6, 64)
    found = kind_warnings(port, InterfaceKind.SRIOV, lab(NicUse.SRIOV), [XL710])
    assert "40.0 Mpps are beyond what a NIC processes" in found[0]
