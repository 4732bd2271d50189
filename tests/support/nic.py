# SPDX-License-Identifier: Apache-2.0
"""Add a NIC with SR-IOV to hosts of tests that have none."""

from __future__ import annotations

from dataclasses import replace

from wirespeed.model.host.facts import HostFacts, PciDevice

PF = "0000:3b:00.0"


def with_nic(facts: HostFacts) -> HostFacts:
    nic = PciDevice(PF, "8086", "10c9", driver="igb", interfaces=("ens1f0",), sriov_total=7)
    return replace(facts, pci=(*facts.pci, nic))
