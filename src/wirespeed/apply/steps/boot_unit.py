# SPDX-License-Identifier: Apache-2.0
"""Restore the settings that a reboot loses with one systemd unit and its script.

The kernel command line keeps pages and isolation, Open vSwitch its own database. The others are VFs
and their order, drivers, interrupts whose numbers change, and governors. Neither udev rules nor
tmpfiles.d can express the order that they need (docs/decisions/0007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.apply.actions import Action, Run, script
from wirespeed.apply.setting import Setting, Value
from wirespeed.apply.step import Step
from wirespeed.apply.steps.text_file import TextFile
from wirespeed.remote.interface import Runner

UNIT = "wirespeed-host.service"
_UNIT_PATH = f"/etc/systemd/system/{UNIT}"
SCRIPT = "/var/lib/wirespeed/apply/at-boot.sh"
_UNIT_TEXT = f"""\
# Written by `wirespeed apply`, removed by `wirespeed rollback`.
[Unit]
Description=VFs, drivers, interrupts and governors as planned
After=systemd-udevd.service systemd-udev-trigger.service systemd-modules-load.service
Before=network-pre.target openvswitch-switch.service openvswitch.service libvirtd.service
Wants=network-pre.target
RequiresMountsFor=/var/lib/wirespeed
ConditionPathExists={SCRIPT}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh {SCRIPT}

[Install]
WantedBy=multi-user.target
"""
_BECAUSE = "a reboot loses these settings, the kernel command line cannot carry them"


@dataclass(frozen=True, slots=True)
class EnabledUnit(Setting):
    """Start of a unit at boot by systemd: "enabled", or None."""

    unit: str

    @property
    def name(self) -> str:
        return f"unit {self.unit}"

    def read(self, runner: Runner) -> Value:
        done = runner.run(["systemctl", "is-enabled", self.unit], check=False)
        return "enabled" if done.stdout.strip() == "enabled" else None

    def actions(self, value: Value) -> tuple[Action, ...]:
        verb = "disable" if value is None else "enable"
        return (
            Run(("systemctl", "daemon-reload")),
            Run(("systemctl", verb, self.unit), may_fail=value is None),
            Run(("sync", "-f", "/etc/systemd/system")),
        )


_SETTINGS = (TextFile(SCRIPT), TextFile(_UNIT_PATH), EnabledUnit(UNIT))
BOOT_NAMES = frozenset(setting.name for setting in _SETTINGS)


def boot_steps(volatile: Sequence[Step]) -> list[Step]:
    """Return the steps of the unit that sets these steps' settings at boot."""
    if not volatile:
        return []
    actions: list[Action] = [Run(("udevadm", "settle", "--timeout=30"), may_fail=True)]
    for step in volatile:
        actions += step.setting.actions(step.wanted)
    text = script("What `wirespeed apply` set and a reboot loses.", actions)
    values = (text, _UNIT_TEXT, "enabled")
    return [Step(s, value, "", _BECAUSE) for s, value in zip(_SETTINGS, values, strict=True)]
