# SPDX-License-Identifier: Apache-2.0
"""List errors of the IOMMU, SR-IOV, bonds and user-space drivers."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.case import Case
from tests.unit.audit.good_host import (
    PF,
    VF1,
    good_facts,
    good_plan,
    with_device,
    with_facts,
    with_kernel,
    with_port,
)
from wirespeed.model.host.facts import Interface, Missing
from wirespeed.model.host.guest_facts import GuestPort
from wirespeed.model.plan.plan import Decision
from wirespeed.model.plan.policy import Pattern

_FACTS = good_facts()
_PLAN = good_plan()
_FOUR_VFS = replace(_PLAN.hosts[0].nics[0], vfs=Decision(4, "test"))
_GONE = replace(_FOUR_VFS, address="0000:99:00.0")
_NO_GUESTS = (Missing("guests", "needs root to ask libvirt"),)
_NO_VFS = tuple(replace(d, sriov_num=0) for d in _FACTS.pci if not d.physical_function)

DEVICE_FAULTS = [
    Case(
        "WS51",
        "pages and a process of a killed run",
        with_facts(
            left_by_killed_runs=(
                "2 huge pages of 1048576 KiB on node 0",
                "process 4711 (wsdp)",
            )
        ),
        ("2 huge pages of 1048576 KiB on node 0; process 4711 (wsdp)",),
        "wirespeed clean",
    ),
    Case(
        "WS29",
        "VFs without IOMMU",
        with_facts(iommu_units=()),
        (f"VFs on {PF}, {'0000:04:02.0'} in guest vnf0, {VF1} in guest vnf1",),
        "intel_iommu=on iommu=pt",
    ),
    Case(
        "WS30", "no iommu=pt", with_kernel(cmdline="intel_iommu=on"), ("dmar0 is on",), "iommu=pt"
    ),
    Case(
        "WS33",
        "four planned, two there",
        replace(
            with_facts(), plan=replace(_PLAN, hosts=(replace(_PLAN.hosts[0], nics=(_FOUR_VFS,)),))
        ),
        (f"{PF}: 2 VFs",),
        f"echo 4 > /sys/bus/pci/devices/{PF}/sriov_numvfs",
    ),
    Case(
        "WS33",
        "planned NIC is not there",
        replace(with_facts(), plan=replace(_PLAN, hosts=(replace(_PLAN.hosts[0], nics=(_GONE,)),))),
        ("0000:99:00.0 is not in this host",),
    ),
    Case(
        "WS34",
        "PF in a guest",
        with_facts(
            guests=(replace((_FACTS.guests or ())[0], ports=(GuestPort("hostdev", pci=PF),)),)
        ),
        (f"{PF} has 2 VFs and belongs to guest vnf0",),
        "sriov_numvfs",
    ),
    Case(
        "WS34",
        "PF bound to vfio",
        with_device(PF, driver="vfio-pci"),
        (f"{PF} has 2 VFs and is bound to vfio-pci",),
    ),
    Case(
        "WS44",
        "two guests on x8",
        replace(with_device(PF, link_width=8), pattern=Pattern.EAST_WEST),
        (f"vnf0, vnf1 use VFs of {PF}, which has 8 PCIe lanes",),
        "--vnic-type normal",
    ),
    Case(
        "WS45",
        "OVS bond over two nodes",
        with_port("dpdk1", node=1),
        ("bond bond0: dpdk0 on node 0, dpdk1 on node 1",),
    ),
    Case(
        "WS45",
        "kernel bond over two nodes",
        with_facts(
            pci=tuple(replace(d, node=1) if d.address == PF else d for d in _FACTS.pci),
            interfaces=tuple(
                Interface(i.name, i.mtu, True, pci=i.pci, master="bond1", master_is_bond=True)
                for i in _FACTS.interfaces
            ),
        ),
        ("bond bond1: eno1 on node 0, ens1f0 on node 1",),
    ),
    Case(
        "WS48",
        "igb_uio",
        with_device("0000:5e:00.1", driver="igb_uio"),
        ("0000:5e:00.1 is bound to igb_uio",),
        "dpdk-devbind.py --bind=vfio-pci 0000:5e:00.1",
    ),
    Case(
        "WS48",
        "and vfio-pci is not loaded",
        replace(
            with_device("0000:5e:00.1", driver="uio_pci_generic"),
            facts=replace(
                with_device("0000:5e:00.1", driver="uio_pci_generic").facts, uio_drivers=()
            ),
        ),
        ("vfio-pci is not loaded",),
        "modprobe vfio-pci",
    ),
]

DEVICE_UNDECIDABLE = [
    Case(
        "WS29",
        "IOMMU unseen",
        with_facts(iommu_units=(), missing=(Missing("iommu_units", "needs root"),)),
        ("root",),
    ),
    Case(
        "WS29",
        "no VF, guests unseen",
        replace(
            with_facts(pci=_NO_VFS, guests=None, missing=_NO_GUESTS),
            plan=None,
        ),
        ("libvirt",),
    ),
    Case(
        "WS30",
        "IOMMU unseen",
        with_facts(missing=(Missing("iommu_units", "needs root"),)),
        ("root",),
    ),
    Case("WS34", "guests unseen", with_facts(guests=None, missing=_NO_GUESTS), ("libvirt",)),
    Case("WS44", "guests unseen", with_facts(guests=None, missing=_NO_GUESTS), ("libvirt",)),
    Case("WS44", "pattern unknown", with_device(PF, link_width=8), ("--pattern east-west",)),
    Case("WS44", "no PCIe link", with_device(PF, link_width=None), ("current_link_width",)),
]
