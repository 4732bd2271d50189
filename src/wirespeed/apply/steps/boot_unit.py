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

_TEXT = """\
# Written by `wirespeed {verb}`, removed by `wirespeed rollback`.
[Unit]
Description={description}
{order}
RequiresMountsFor=/var/lib/wirespeed
ConditionPathExists={script}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh {script}

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


@dataclass(frozen=True, slots=True)
class BootUnit:
    """A unit of the host, and the script that it runs at boot."""

    unit: str
    script: str
    verb: str
    """Command that writes it."""
    description: str
    order: str
    """Lines of the unit that order it among others."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        path = f"/etc/systemd/system/{self.unit}"
        return (TextFile(self.script), TextFile(path), EnabledUnit(self.unit))

    @property
    def names(self) -> frozenset[str]:
        """Names of its settings."""
        return frozenset(setting.name for setting in self.settings)

    @property
    def text(self) -> str:
        return _TEXT.format(
            verb=self.verb, description=self.description, order=self.order, script=self.script
        )


PLANNED = BootUnit(
    "wirespeed-host.service", "/var/lib/wirespeed/apply/at-boot.sh", "apply",
    "VFs, drivers, interrupts and governors as planned",
    "After=systemd-udevd.service systemd-udev-trigger.service systemd-modules-load.service\n"
    "Before=network-pre.target openvswitch-switch.service openvswitch.service libvirtd.service\n"
    "Wants=network-pre.target",
)  # fmt: skip
KEPT = BootUnit(
    "wirespeed-kept.service", "/var/lib/wirespeed/apply/kept-at-boot.sh", "tune --keep",
    "Settings that measurements have proven",
    f"After={PLANNED.unit} systemd-udevd.service systemd-sysctl.service tuned.service",
)  # fmt: skip


def boot_steps(volatile: Sequence[Step], unit: BootUnit = PLANNED) -> list[Step]:
    """Return the steps of the unit that sets these steps' settings at boot."""
    if not volatile:
        return []
    actions: list[Action] = [Run(("udevadm", "settle", "--timeout=30"), may_fail=True)]
    for step in volatile:
        actions += step.setting.actions(step.wanted)
    text = script(f"What `wirespeed {unit.verb}` set and a reboot loses.", actions)
    values = (text, unit.text, "enabled")
    return [Step(s, value, "", _BECAUSE) for s, value in zip(unit.settings, values, strict=True)]
