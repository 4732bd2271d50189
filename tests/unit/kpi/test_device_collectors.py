# SPDX-License-Identifier: Apache-2.0
"""Check the collectors of PCIe links and virtual functions on texts of real hosts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from tests.unit.kpi.fake_host import BOOT, FakeHost, missing, read
from wirespeed.kpi.collectors.pcie import PcieCollector
from wirespeed.kpi.collectors.sriov import SriovCollector
from wirespeed.kpi.interface import Missing
from wirespeed.remote.interface import Runner
from wirespeed.remote.local import LocalRunner

NIC = "/sys/bus/pci/devices/0000:3b:00.0"
LINK = {
    f"{NIC}/class": "0x020000\n",
    f"{NIC}/current_link_speed": "8.0 GT/s PCIe\n",
    f"{NIC}/max_link_speed": "16.0 GT/s PCIe\n",
    f"{NIC}/current_link_width": "8\n",
    f"{NIC}/max_link_width": "16\n",
    f"{NIC}/aer_dev_correctable": "RxErr 0\nBadTLP 3\nTOTAL_ERR_COR 3\n",
    f"{NIC}/aer_dev_fatal": "Undefined 0\nTOTAL_ERR_FATAL 0\n",
}
DISK = {
    "/sys/bus/pci/devices/0000:5e:00.0/class": "0x010802\n",
    "/sys/bus/pci/devices/0000:5e:00.0/current_link_width": "4\n",
}


def test_pcie_link_of_a_nic_is_below_its_most_and_has_its_errors() -> None:
    _, found = read(PcieCollector(), LINK | DISK)
    label = ("0000:3b:00.0",)
    assert found == {
        ("pcie_link_transfers_per_second", label): 8_000_000_000,
        ("pcie_link_transfers_per_second_max", label): 16_000_000_000,
        ("pcie_link_lanes", label): 8,
        ("pcie_link_lanes_max", label): 16,
        ("pcie_errors", (*label, "correctable")): 3,
        ("pcie_errors", (*label, "fatal")): 0,
    }


def test_pcie_link_that_is_unknown_has_no_speed() -> None:
    _, found = read(PcieCollector(), LINK | {f"{NIC}/current_link_speed": "Unknown speed\n"})
    assert ("pcie_link_transfers_per_second", ("0000:3b:00.0",)) not in found


def test_pcie_without_a_network_device_is_missing_with_their_number() -> None:
    assert "none of the 0 network devices" in missing(PcieCollector(), DISK)


# What iproute2 6.1 prints of an i40e's function, shortened.
SHOWN = [{"ifname": "enp59s0f0", "vfinfo_list": [{
    "vf": 1, "link_type": "ether", "address": "02:00:00:00:00:01", "trust": True,
    "stats": {
        "rx": {"bytes": 6400, "packets": 100, "multicast": 0, "broadcast": 0, "dropped": 2},
        "tx": {"tx_bytes": 640, "tx_packets": 10},
    },
}]}]  # fmt: skip


@dataclass
class Printing(FakeHost):
    """A host on which `ip` prints a JSON text."""

    def run(self, *_: Any, **__: Any) -> Any:
        return type("Done", (), {"stdout": json.dumps(SHOWN)})


def test_virtual_functions_have_counts_by_direction() -> None:
    files = {f"{NIC}/sriov_numvfs": "2\n", f"{NIC}/sriov_totalvfs": "64\n",
             f"{NIC}/net/enp59s0f0": ""}  # fmt: skip
    found = SriovCollector().probe(cast(Runner, Printing({**BOOT, **files})))
    assert not isinstance(found, Missing)
    [source] = found
    assert dict(source.read().values) == {
        ("virtual_functions", ("0000:3b:00.0",)): 2,
        ("virtual_functions_max", ("0000:3b:00.0",)): 64,
        ("vf_packets", ("enp59s0f0", "1", "rx")): 100,
        ("vf_bytes", ("enp59s0f0", "1", "rx")): 6400,
        ("vf_dropped_packets", ("enp59s0f0", "1", "rx")): 2,
        ("vf_packets", ("enp59s0f0", "1", "tx")): 10,
        ("vf_bytes", ("enp59s0f0", "1", "tx")): 640,
    }


def test_device_without_virtual_functions_starts_no_program() -> None:
    files = {f"{NIC}/sriov_numvfs": "0\n", f"{NIC}/sriov_totalvfs": "64\n",
             f"{NIC}/net/enp59s0f0": ""}  # fmt: skip
    _, found = read(SriovCollector(), files)
    assert found["virtual_functions", ("0000:3b:00.0",)] == 0
    assert "can have virtual functions" in missing(SriovCollector(), {})


def test_devices_of_this_machine_are_read_or_missing_in_one_sentence() -> None:
    for collector in (PcieCollector(), SriovCollector()):
        found = collector.probe(LocalRunner())
        if isinstance(found, Missing):
            assert found.because
        else:
            assert [source.read().values for source in found]
