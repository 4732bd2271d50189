# SPDX-License-Identifier: Apache-2.0
"""Collect the PCIe link of each network device: speed, width, and the errors that AER counted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.files import Texts, file_source
from wirespeed.kpi.interface import NUMBER, Missing, Name, Source, counter, gauge
from wirespeed.remote.interface import Runner

_DEVICES = "/sys/bus/pci/devices"
# Class of network devices (PCI Code and ID Assignment Specification).
_NETWORK = "0x02"
_SPEED = re.compile(r"([\d.]+) GT/s")
_TOTAL = re.compile(r"^TOTAL_ERR_\w+ (\d+)$", re.MULTILINE)
_LINK = {
    "current_link_speed": "pcie_link_transfers_per_second",
    "max_link_speed": "pcie_link_transfers_per_second_max",
    "current_link_width": "pcie_link_lanes",
    "max_link_width": "pcie_link_lanes_max",
}
_ERRORS = {
    "aer_dev_correctable": "correctable",
    "aer_dev_nonfatal": "nonfatal",
    "aer_dev_fatal": "fatal",
}


class PcieCollector:
    name = "pcie"
    cheap = False
    metrics = (
        gauge("pcie_link_transfers_per_second", NUMBER, "device",
              "Transfers a second of each lane of a link", f"{_DEVICES}/*/current_link_speed"),
        gauge("pcie_link_transfers_per_second_max", NUMBER, "device",
              "Most transfers a second of each lane of a device", f"{_DEVICES}/*/max_link_speed"),
        gauge("pcie_link_lanes", NUMBER, "device", "Lanes of a link",
              f"{_DEVICES}/*/current_link_width"),
        gauge("pcie_link_lanes_max", NUMBER, "device", "Most lanes of a device",
              f"{_DEVICES}/*/max_link_width"),
        counter("pcie_errors", NUMBER, "device kind", "Errors of a link",
                f"{_DEVICES}/*/aer_dev_*"),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        classes = runner.read_many(runner.glob(f"{_DEVICES}/*/class"))
        folders = [
            path.removesuffix("/class")
            for path, text in classes.items()
            if isinstance(text, str) and text.startswith(_NETWORK)
        ]
        patterns = [f"{folder}/{file}" for folder in folders for file in (*_LINK, *_ERRORS)]
        paths = runner.glob(*patterns) if patterns else ()
        if not paths:
            return Missing(
                f"none of the {len(folders)} network devices in {_DEVICES} has a PCIe link"
            )
        return file_source(self.name, runner, paths, parse)


def parse(texts: Texts) -> Mapping[Name, int]:
    """Return the series of all network devices. A link that is down has no speed."""
    found: dict[Name, int] = {}
    for path, text in texts.items():
        device, file = path.split("/")[-2:]
        if file in _ERRORS:
            if total := _TOTAL.search(text):
                found["pcie_errors", (device, _ERRORS[file])] = int(total[1])
        elif "width" in file:
            if text.strip().isdecimal():
                found[_LINK[file], (device,)] = int(text)
        elif speed := _SPEED.match(text):
            found[_LINK[file], (device,)] = round(float(speed[1]) * 1e9)
    return found
