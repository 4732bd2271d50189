# SPDX-License-Identifier: Apache-2.0
"""Emulate a host with an SR-IOV NIC, as far as sysfs and ip-link(8) show it.

As with igb, a VF's rate is rejected while the port has no link. The link comes some time after the
port was brought up or VFs were made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.unit.bench.fake_host import FakeHost
from wirespeed.remote.interface import Completed, ProgramMissing

PCI = "/sys/bus/pci/devices"
PF = "0000:3b:00.0"
NO_ROUTE = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
AUTOPROBE = f"{PCI}/{PF}/sriov_drivers_autoprobe"
CARRIER = "/sys/class/net/ens1f0/carrier"
NUMVFS = f"{PCI}/{PF}/sriov_numvfs"


def vf_address(number: int) -> str:
    return f"0000:3b:10.{number}"


class FakeNic(FakeHost):
    """A host with an SR-IOV NIC.

    - refuses: settings that the driver lacks.
    - forgets: settings that it accepts and does not keep.
    - ssh: address by which an ssh session came in.
    - written: all writes and ip commands, in order.
    - drives: whether the kernel has a driver for VFs.
    - looks_up: whether udev and the journal are there, as they are not in containers.
    - dies_before: the first write with this text ends everything, as kill -9 does.
    """

    def __init__(
        self,
        *,
        total: int = 7,
        iommu: bool = True,
        refuses: tuple[str, ...] = (),
        forgets: tuple[str, ...] = (),
        ssh: str = "",
    ) -> None:
        self.refuses, self.forgets, self.ssh, self.iommu = refuses, forgets, ssh, iommu
        self.vfs: dict[int, dict[str, Any]] = {}
        self.link: dict[str, Any] = {
            "ifname": "ens1f0", "flags": ["BROADCAST"], "mtu": 1500,
            "addr_info": [{"local": "192.0.2.7"}],
        }  # fmt: skip
        self.written: list[str] = []
        self.dies_before = ""
        self.drives = True
        self.looks_up = True
        files = {
            f"{PCI}/{PF}": "", f"{PCI}/{PF}/net/ens1f0": "",
            f"{PCI}/{PF}/sriov_totalvfs": f"{total}\n",
            NUMVFS: "0\n", AUTOPROBE: "1\n", f"{PCI}/{PF}/driver": "/sys/bus/pci/drivers/igb",
            "/sys/bus/pci/drivers/vfio-pci": "", "/proc/net/route": NO_ROUTE,
            "/sys/class/net/ens1f0": "", CARRIER: "0\n",
            "/proc/sys/net/ipv6/conf/ens1f0/disable_ipv6": "0\n",
        }  # fmt: skip
        super().__init__(files, self._kernel)
        self._group(PF, 1)

    def _group(self, address: str, number: int) -> None:
        if self.iommu:
            self.files[f"{PCI}/{address}/iommu_group"] = str(number)
            self.files[f"{PCI}/{address}/iommu_group/devices/{address}"] = ""

    def make(self, count: int) -> None:
        """Make VFs as the kernel does; 0 removes all."""
        for path in [p for p in self.files if p.startswith(f"{PCI}/0000:3b:10.") or "virtfn" in p]:
            del self.files[path]
        self.vfs.clear()
        for number in range(count):
            address = vf_address(number)
            self.files[f"{PCI}/{PF}/virtfn{number}"] = f"{PCI}/{address}"
            self.files |= {
                f"{PCI}/{address}": "", f"{PCI}/{address}/driver_override": "(null)\n",
                f"{PCI}/{address}/modalias": "pci:v00008086d000010CA\n",
                f"{PCI}/{address}/physfn": f"{PCI}/{PF}", f"{PCI}/{address}/enable": "0\n",
            }  # fmt: skip
            self._group(address, 10 + number)
            self.vfs[number] = {
                "vf": number, "address": "00:00:00:00:00:00", "vlan_list": [{}],
                "rate": {"max_tx": 0, "min_tx": 0}, "spoofchk": True, "trust": False,
            }  # fmt: skip
        self.files[NUMVFS] = f"{count}\n"

    def _kernel(self, files: dict[str, str], path: str, text: str) -> None:
        if self.dies_before and self.dies_before in path:
            raise KeyboardInterrupt
        self.written.append(f"{path} {text.strip()}")
        if path == NUMVFS:
            self.make(int(text))
            files[CARRIER] = "0\n"  # as igb restarts the port
        elif path == "/sys/bus/pci/drivers/vfio-pci/bind":
            files[f"{PCI}/{text}/driver"] = "/sys/bus/pci/drivers/vfio-pci"
        elif path == "/sys/bus/pci/drivers_probe":
            # A VF whose drivers are not to be asked is skipped.
            if files[AUTOPROBE] == "1\n" and self.drives:
                number = text.rpartition(".")[2]
                files[f"{PCI}/{text}/driver"] = "/sys/bus/pci/drivers/igbvf"
                files[f"{PCI}/{text}/net/ens1f0v{number}"] = ""
        elif path.endswith("/enable"):
            device = path.removesuffix("/enable")
            assert f"{device}/driver" not in files, "EBUSY"
            files[path] = f"{int(files[path]) + (1 if text == '1' else -1)}\n"
        elif path.endswith("/driver/unbind"):
            del files[f"{PCI}/{text}/driver"]
        else:
            files[path] = f"{text.strip()}\n"  # as sysfs shows it

    def read(self, path: str) -> str:
        seen = super().read(path)
        if path == CARRIER and "UP" in self.link["flags"]:
            self.files[CARRIER] = "1\n"  # by the next time
        return seen

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,  # noqa: ARG002
        stdin: str | None = None,  # noqa: ARG002
        env: Mapping[str, str] | None = None,  # noqa: ARG002
        check: bool = True,  # noqa: ARG002
    ) -> Completed:
        match list(argv):
            case ["udevadm" | "journalctl" as program, *_] if not self.looks_up:
                raise ProgramMissing(program, self.address)
            case ["udevadm" | "journalctl" as program, *_]:
                self.written.append(program)
            case ["ss", *_]:
                return _done(f"0 0 {self.ssh}:22 198.51.100.9:4711" if self.ssh else "")
            case ["ip", "-json", *_]:
                return _done(json.dumps([{**self.link, "vfinfo_list": list(self.vfs.values())}]))
            case ["ip", "link", "set", "dev", _, "vf", number, key, value, *more]:
                return self._set(int(number), key, value, more)
            case ["ip", "link", "set", _, *words]:
                self.written.append(" ".join(argv))
                self.link["mtu"] = int(words[1])
                self.link["flags"] = ["BROADCAST", *(["UP"] if words[-1] == "up" else [])]
                self.files[CARRIER] = "0\n"
        return _done("")

    def _set(self, number: int, key: str, value: str, more: Sequence[str]) -> Completed:
        if self.dies_before == key:
            raise KeyboardInterrupt
        if key == "max_tx_rate" and self.files[CARRIER] != "1\n":
            return Completed((), 2, "", "RTNETLINK answers: Invalid argument")
        if key in self.refuses:
            return Completed((), 2, "", "RTNETLINK answers: Operation not supported")
        self.written.append(f"vf {number} {key} {value}")
        seen = self.vfs[number]
        if key in self.forgets:
            return _done("")
        match key:
            case "mac":
                seen["address"] = value
            case "vlan":
                seen["vlan_list"] = [{"vlan": int(value), "qos": int(more[1])}]
            case "max_tx_rate":
                seen["rate"]["max_tx"] = int(value)
            case _:
                seen[key] = value == "on"
        return _done("")


def _done(text: str) -> Completed:
    return Completed((), 0, text, "")
