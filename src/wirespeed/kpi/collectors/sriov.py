# SPDX-License-Identifier: Apache-2.0
"""Collect the virtual functions of each physical one: their number, and what each carried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.kpi.collectors.files import BOOT_ID
from wirespeed.kpi.interface import (
    NUMBER,
    OCTETS,
    PACKETS,
    Missing,
    Name,
    Source,
    Values,
    counter,
    gauge,
)
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner

_DEVICES = "/sys/bus/pci/devices"
_NUMBER, _TOTAL = "sriov_numvfs", "sriov_totalvfs"
_SHOW = ("ip", "-s", "-j", "link", "show", "dev")
_SHOWN = "ip -s link show"
_VF = "interface vf direction"
DEADLINE_S = 1.0
# Name in the kernel's answer without its direction, and key.
_KEYS = {"packets": "vf_packets", "bytes": "vf_bytes", "dropped": "vf_dropped_packets"}


class SriovCollector:
    name = "sriov"
    cheap = False
    metrics = (
        gauge("virtual_functions", NUMBER, "device", "Virtual functions of a physical one",
              f"{_DEVICES}/*/{_NUMBER}"),
        gauge("virtual_functions_max", NUMBER, "device", "Most virtual functions of a device",
              f"{_DEVICES}/*/{_TOTAL}"),
        counter("vf_packets", PACKETS, _VF, "Packets of a virtual function, as its NIC counts them",
                _SHOWN, term="Network interface packets, counted"),
        counter("vf_bytes", OCTETS, _VF, "Octets of a virtual function", _SHOWN,
                term="Network interface octets, counted"),
        counter("vf_dropped_packets", PACKETS, _VF, "Packets that a virtual function dropped",
                _SHOWN, term="Network interface drops, counted"),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        paths = runner.glob(*(f"{_DEVICES}/*/{file}" for file in (_NUMBER, _TOTAL)))
        if not paths:
            return Missing(f"no device in {_DEVICES} can have virtual functions")
        nets = runner.glob(*(f"{path.removesuffix(_NUMBER)}net/*" for path in paths
                             if path.endswith(_NUMBER)))  # fmt: skip
        interfaces = tuple(path.split("/")[-1] for path in nets)
        return (_Functions(runner, paths, interfaces, runner.read(BOOT_ID).strip()),)


@dataclass(frozen=True, slots=True)
class _Functions:
    runner: Runner
    paths: Sequence[str]
    interfaces: Sequence[str]
    epoch: str
    name: str = "sriov"

    def read(self) -> Values:
        """Read the numbers, and the counters of physical functions that have virtual ones."""
        texts = self.runner.read_many(self.paths)
        found = numbers({path: text for path, text in texts.items() if isinstance(text, str)})
        if any(count for (key, _), count in found.items() if key == "virtual_functions"):
            for interface in self.interfaces:
                shown = self.runner.run([*_SHOW, interface], timeout_s=DEADLINE_S).stdout
                found |= counters(interface, load_json(shown))
        return Values(self.epoch, found)

    def close(self) -> None: ...


def numbers(texts: Mapping[str, str]) -> dict[Name, int]:
    """Return how many virtual functions each device has, and can have."""
    found: dict[Name, int] = {}
    for path, text in texts.items():
        device, file = path.split("/")[-2:]
        key = "virtual_functions" if file == _NUMBER else "virtual_functions_max"
        found[key, (device,)] = int(text)
    return found


def counters(interface: str, shown: Any) -> dict[Name, int]:
    """Return the counters of an interface's virtual functions, of `ip -s -j link show`.

    iproute2 writes "packets" among "rx", "tx_packets" among "tx" (print_vf_stats64).
    """
    return {
        (key, (interface, str(vf), direction)): count
        for vf, direction, key, count in _counted(shown)
    }


def _counted(shown: Any) -> Iterator[tuple[int, str, str, int]]:
    for link in shown:
        for function in link.get("vfinfo_list", ()):
            for direction in ("rx", "tx"):
                seen = function.get("stats", {}).get(direction, {})
                for word, key in _KEYS.items():
                    count = seen.get(word, seen.get(f"{direction}_{word}"))
                    if count is not None:
                        yield int(function["vf"]), direction, key, int(count)
