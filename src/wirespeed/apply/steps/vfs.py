# SPDX-License-Identifier: Apache-2.0
"""Set the VFs of a PF: their number, and MAC, VLAN, spoof check and trust of each.

VFs are made with autoprobe off: a driver that has taken a VF would keep the MAC address that it
found. The number can change only through 0. Source: Documentation/ABI/testing/sysfs-bus-pci,
ip-link(8).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wirespeed.apply.actions import Action, Put, Run, perform
from wirespeed.apply.setting import Setting, Value, interfaces_of
from wirespeed.apply.steps.drivers import bind
from wirespeed.apply.steps.vfio_holder import let_go
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import RemoteError, Runner
from wirespeed.remote.pci import SYS_PCI, VFIO, driver_of

# Driver of a VF that stays with the kernel: any kernel driver that takes it.
KERNEL_DRIVER = "*"
_ATTRIBUTES = ("mac", "vlan", "spoofchk", "trust")
_FIRST = "sriov_offset, sriov_stride"


@dataclass(frozen=True, slots=True)
class Vfs(Setting):
    """VFs of one PF. A null in the value leaves that part unchanged.

    The value is JSON: {"up", "autoprobe", "vfs": [{"mac", "vlan", "spoofchk", "trust", "driver"}]}.
    """

    risks_connection: ClassVar[bool] = True
    lost_at_reboot: ClassVar[bool] = True

    address: str
    interface: str
    addresses: tuple[str, ...]
    """Addresses of all VFs that the PF can have."""

    @property
    def name(self) -> str:
        return f"VFs of {self.address}"

    def read(self, runner: Runner) -> Value:
        return json.dumps(self._read(runner))

    def actions(self, value: Value) -> tuple[Action, ...]:
        wanted = load_json(value or "{}")
        device, count = f"{SYS_PCI}/{self.address}", len(wanted["vfs"])
        made: list[Action] = [
            Put(f"{device}/sriov_drivers_autoprobe", "0", may_fail=True),
            Put(f"{device}/sriov_numvfs", "0"),
        ]
        if count:
            made.append(Put(f"{device}/sriov_numvfs", str(count)))
        return (*made, *self._set(wanted))

    def make(self, runner: Runner, value: Value) -> None:
        wanted, now = load_json(value or "{}"), self._read(runner)
        if len(now["vfs"]) != len(wanted["vfs"]):
            for address, _ in zip(self.addresses, now["vfs"], strict=False):
                let_go(runner, address)
            Setting.make(self, runner, value)
            return
        # The VFs stay; only differing attributes are set, in VFs without a driver meanwhile.
        made: list[Action] = []
        for number, (vf, is_now) in enumerate(zip(wanted["vfs"], now["vfs"], strict=True)):
            if any(_differ(vf, is_now)):
                let_go(runner, self.addresses[number])
                made += self._set_vf(number, vf, keep=is_now)
        made += self._set_pf(wanted)
        perform(runner, made)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        wanted, now = load_json(value or "{}"), self._read(runner)
        if len(now["vfs"]) != len(wanted["vfs"]):
            return (f"{len(now['vfs'])} VFs",)
        found = [
            f"{key}: {now[key]}"
            for key in ("up", "autoprobe")
            if wanted[key] is not None and now[key] != wanted[key]
        ]
        for number, (vf, is_now) in enumerate(zip(wanted["vfs"], now["vfs"], strict=True)):
            found += [f"vf {number} {key}: {is_now[key]}" for key in _differ(vf, is_now)]
        return tuple(found)

    def takes(self, facts: HostFacts, value: Value) -> frozenset[str]:
        """Return the interfaces of the changed VFs; with another number those of PF and all VFs."""
        wanted = load_json(value or '{"vfs": []}')["vfs"]
        count = next((d.sriov_num for d in facts.pci if d.address == self.address), 0)
        if count != len(wanted):
            return interfaces_of(facts, (self.address, *self.addresses))
        set_ = [address for address, vf in zip(self.addresses, wanted, strict=False)
                if any(part is not None for part in vf.values())]  # fmt: skip
        return interfaces_of(facts, set_)

    def why_absent(self, runner: Runner) -> str | None:
        if not runner.glob(f"{SYS_PCI}/{self.address}/sriov_numvfs"):
            return f"{self.address} makes no VFs (no SR-IOV, or its driver is not bound)"
        if not self.addresses:
            return f"the kernel does not tell the addresses of its VFs ({_FIRST}: Linux 4.15)"
        return None

    def excusable(self, runner: Runner, left: Sequence[str]) -> bool:
        """Return whether only spoof check and trust differ: not every device supports them."""
        del runner
        return all(part.split(":")[0].endswith((" spoofchk", " trust")) for part in left)

    def shown(self, value: Value) -> str:
        known = load_json(value or '{"vfs": []}')["vfs"]
        set_ = [
            f"vf {n}: " + " ".join(f"{key} {vf[key]}" for key in _ATTRIBUTES if vf[key] is not None)
            for n, vf in enumerate(known)
            if any(vf[key] is not None for key in _ATTRIBUTES)
        ]
        return "; ".join([f"{len(known)} VFs", *set_])

    def _set(self, wanted: dict[str, Any]) -> Iterator[Action]:
        for number, vf in enumerate(wanted["vfs"]):
            yield from self._set_vf(number, vf, keep=None)
        yield from self._set_pf(wanted)

    def _set_vf(self, number: int, vf: dict[str, Any], keep: dict[str, Any] | None) -> list[Action]:
        """Return the actions for one VF.

        keep: its current attributes. It gets its driver back unless another one is planned.
        """
        address = self.addresses[number]
        made: list[Action] = []
        if keep and keep["driver"]:
            made.append(Put(f"{SYS_PCI}/{address}/driver/unbind", address, may_fail=True))
        made += [
            Run(("ip", "link", "set", "dev", self.interface, "vf", str(number), key, str(vf[key])),
                may_fail=True)
            for key in _ATTRIBUTES
            if vf[key] is not None
        ]  # fmt: skip
        driver = vf["driver"] if vf["driver"] is not None else keep and keep["driver"]
        if driver and driver != KERNEL_DRIVER:
            made += bind(address, driver, VFIO if driver == VFIO else "")
        return made

    def _set_pf(self, wanted: dict[str, Any]) -> Iterator[Action]:
        if wanted["autoprobe"] is not None:
            path = f"{SYS_PCI}/{self.address}/sriov_drivers_autoprobe"
            yield Put(path, wanted["autoprobe"], may_fail=True)
        for number, vf in enumerate(wanted["vfs"]):
            if vf["driver"] == KERNEL_DRIVER:
                yield Put("/sys/bus/pci/drivers_probe", self.addresses[number], may_fail=True)
        if wanted["up"] is not None:
            yield Run(("ip", "link", "set", "dev", self.interface, wanted["up"]), may_fail=True)

    def _read(self, runner: Runner) -> dict[str, Any]:
        device = f"{SYS_PCI}/{self.address}"
        count = int(runner.read(f"{device}/sriov_numvfs"))
        links = _links(runner, self.interface)
        shown = {vf["vf"]: vf for vf in links.get("vfinfo_list", [])}
        vfs = []
        for number in range(count):
            vf = _attributes(shown.get(number, {}))
            vfs.append({**vf, "driver": driver_of(runner, self.addresses[number])})
        try:
            autoprobe: str | None = runner.read(f"{device}/sriov_drivers_autoprobe").strip()
        except OSError:  # Linux before 4.12
            autoprobe = None
        up = "up" if "UP" in links.get("flags", []) else "down"
        return {"up": up, "autoprobe": autoprobe, "vfs": vfs}


def vf_addresses(runner: Runner, pf: str) -> tuple[str, ...]:
    """Return the addresses of all VFs that a PF can have.

    They follow from First VF Offset and VF Stride (PCIe, 9.2.1).
    """
    folder = f"{SYS_PCI}/{pf}"
    names = [f"{folder}/sriov_{name}" for name in ("offset", "stride", "totalvfs")]
    files = runner.read_many(names)
    numbers = [int(text) for text in files.values() if isinstance(text, str)]
    if len(numbers) < len(names):
        return ()
    offset, stride, total = numbers
    domain, bus, slot = pf.split(":")
    device, function = slot.split(".")
    first = (int(bus, 16) << 8 | int(device, 16) << 3 | int(function)) + offset
    return tuple(_address(domain, first + stride * number) for number in range(total))


def value_of(vfs: Sequence[dict[str, Any]]) -> str:
    """Return the planned value for these VFs; the PF is up, so that they have a link."""
    kernel = any(vf["driver"] == KERNEL_DRIVER for vf in vfs)
    return json.dumps({"up": "up", "autoprobe": "1" if kernel else "0", "vfs": list(vfs)})


def unset_vf() -> dict[str, Any]:
    """Return a VF without any decided attribute."""
    return {**dict.fromkeys(_ATTRIBUTES), "driver": None}


def _address(domain: str, number: int) -> str:
    return f"{domain}:{number >> 8:02x}:{number >> 3 & 31:02x}.{number & 7}"


def _attributes(shown: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes in an element of vfinfo_list.

    The element is of `ip -json link show` of iproute2 5.x or 6.x.
    """
    vlans = shown.get("vlan_list") or [{}]
    return {
        "mac": shown.get("address"),
        "vlan": vlans[0].get("vlan", 0),
        "spoofchk": _on_off(shown.get("spoofchk")),
        "trust": _on_off(shown.get("trust")),
    }


def _on_off(value: object) -> str | None:
    """Return "on" or "off"; None where the driver does not report it."""
    return {True: "on", False: "off"}.get(value) if isinstance(value, bool) else None


def _links(runner: Runner, interface: str) -> dict[str, Any]:
    done = runner.run(["ip", "-json", "link", "show", "dev", interface])
    try:
        found: dict[str, Any] = load_json(done.stdout)[0]
    except (ValueError, LookupError):
        raise RemoteError(
            f"`ip -json link show dev {interface}` printed no JSON", "It needs iproute2 4.13."
        ) from None
    return found


def _differ(vf: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the planned keys of a VF whose values differ."""
    return [
        key
        for key, value in vf.items()
        if value is not None
        and now[key] != value
        and not (value == KERNEL_DRIVER and now[key] not in ("", VFIO))
    ]
