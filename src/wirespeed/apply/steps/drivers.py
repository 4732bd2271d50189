# SPDX-License-Identifier: Apache-2.0
"""Bind a PCI function to a driver: vfio-pci for DPDK ports and guests.

driver_override names the driver of one function only (Documentation/ABI/testing/sysfs-bus-pci).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import Action, Put, Run
from wirespeed.apply.setting import Setting, Value, interfaces_of
from wirespeed.apply.steps.vfio_holder import let_go
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import SYS_PCI, VFIO, driver_of

_NONE = "(null)"


@dataclass(frozen=True, slots=True)
class Driver(Setting):
    """Driver of a function. The value is JSON: [driver, driver_override], "" for none.

    A planned null accepts any override.
    """

    risks_connection: ClassVar[bool] = True
    lost_at_reboot: ClassVar[bool] = True

    address: str

    @property
    def name(self) -> str:
        return f"driver of {self.address}"

    def read(self, runner: Runner) -> Value:
        if not runner.glob(f"{SYS_PCI}/{self.address}"):
            return None
        override = _read(runner, f"{SYS_PCI}/{self.address}/driver_override")
        return bound_to(driver_of(runner, self.address), "" if override == _NONE else override)

    def actions(self, value: Value) -> tuple[Action, ...]:
        if value is None:  # A VF that did not exist before disappears with the other VFs of its PF.
            return ()
        driver, override = load_json(value)
        return bind(self.address, driver, override or "")

    def make(self, runner: Runner, value: Value) -> None:
        if value is not None:
            let_go(runner, self.address)
        Setting.make(self, runner, value)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        found = self.read(runner)
        if value is None or found is None:
            # A VF that has disappeared with its PF's other VFs is bound to nothing.
            free = value is None or load_json(value)[0] == ""
            return () if found is None and free else (self.shown(found),)
        (driver, override), (is_driver, is_override) = load_json(value), load_json(found)
        same = driver == is_driver and override in (None, is_override)
        return () if same else (self.shown(found),)

    def takes(self, facts: HostFacts, value: Value) -> frozenset[str]:
        del value
        return interfaces_of(facts, (self.address,))

    def why_later(self, runner: Runner) -> str | None:
        if runner.glob("/sys/kernel/iommu_groups/*"):
            return None
        return "vfio-pci needs the IOMMU, which is off until then"

    def shown(self, value: Value) -> str:
        return "absent" if value is None else load_json(value)[0] or "none"


def bound_to(driver: str, override: str | None) -> str:
    """Return the value of such a binding."""
    return json.dumps([driver, override])


def bind(address: str, driver: str, override: str) -> tuple[Action, ...]:
    """Return the actions that unbind the function, then bind it to `driver`, or to none ("")."""
    device = f"{SYS_PCI}/{address}"
    actions: list[Action] = []
    if driver == VFIO:
        actions.append(Run(("modprobe", VFIO), may_fail=True))
    actions.append(Put(f"{device}/driver_override", driver or override, may_fail=True))
    actions.append(Put(f"{device}/driver/unbind", address, may_fail=True))
    if driver:
        actions.append(Put("/sys/bus/pci/drivers_probe", address, may_fail=True))
    if override != driver:
        actions.append(Put(f"{device}/driver_override", override, may_fail=True))
    return tuple(actions)


def _read(runner: Runner, path: str) -> str:
    try:
        return runner.read(path).strip()
    except OSError:
        return ""
