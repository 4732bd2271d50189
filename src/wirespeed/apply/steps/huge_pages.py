# SPDX-License-Identifier: Apache-2.0
"""Set the huge pages of one size on one NUMA node; at boot the kernel command line does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import Action, Put
from wirespeed.apply.setting import Setting, Value
from wirespeed.apply.step import Step
from wirespeed.model.plan.plan import HostPlan
from wirespeed.remote.interface import Runner

_NODES = "/sys/devices/system/node"
_NO_NUMA = "/sys/kernel/mm/hugepages"


@dataclass(frozen=True, slots=True)
class HugePagePool(Setting):
    """Huge pages of one size on one node.

    The kernel reserves fewer pages than asked where contiguous free memory is short, without an
    error. It keeps pages that are in use.
    """

    made_at_boot: ClassVar[bool] = True

    folder: str
    node: int
    size_kib: int

    @property
    def name(self) -> str:
        return f"huge pages of {self.size_kib} KiB on node {self.node}"

    @property
    def path(self) -> str:
        return f"{self.folder}/hugepages-{self.size_kib}kB/nr_hugepages"

    def read(self, runner: Runner) -> Value:
        return runner.read(self.path).strip()

    def actions(self, value: Value) -> tuple[Action, ...]:
        return (Put(self.path, value or "0"),)

    def why_absent(self, runner: Runner) -> str | None:
        if runner.glob(self.path):
            return None
        return f"the kernel has no pages of {self.size_kib} KiB on node {self.node}"

    def may_lack(self, value: Value) -> bool:
        return value == "0"


def page_steps(host: HostPlan, runner: Runner) -> list[Step]:
    """Return a step for each planned pool; pools of other sizes stay unchanged."""
    numa = bool(runner.glob(f"{_NODES}/node[0-9]*"))
    steps = []
    for page in host.huge_pages.value:
        folder = f"{_NODES}/node{page.node}/hugepages" if numa else _NO_NUMA
        setting = HugePagePool(folder, page.node, page.size_kib)
        steps.append(Step(setting, str(page.count), "huge_pages", host.huge_pages.because))
    return steps
