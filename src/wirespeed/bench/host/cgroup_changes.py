# SPDX-License-Identifier: Apache-2.0
"""Define the changes of a bench to cgroups, and undo each of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.bench.host.change import Change
from wirespeed.remote.interface import Runner

CONTROLLER = "cpuset"


@dataclass(frozen=True, slots=True)
class CgroupMade(Change):
    """Cgroup of this run's programs, which end before it does."""

    path: str

    def __str__(self) -> str:
        return f"cgroup {self.path}"

    def undo(self, runner: Runner) -> str | None:
        if not runner.glob(self.path):
            return None
        runner.run(["rmdir", "--", self.path])
        return f"removed cgroup {self.path}"


@dataclass(frozen=True, slots=True)
class ControllerEnabled(Change):
    """Controller cpuset that the children of a v2 cgroup have since."""

    path: str

    def __str__(self) -> str:
        return f"controller {CONTROLLER} in {self.path}"

    def undo(self, runner: Runner) -> str | None:
        if self._used(runner):
            return None
        try:
            runner.write(self.path, f"-{CONTROLLER}")
        except OSError:
            return None  # in use by a cgroup of somebody else
        return f"took controller {CONTROLLER} out of {self.path}"

    def _used(self, runner: Runner) -> bool:
        """Return whether a child has CPUs or nodes of its own, e.g. another container.

        The kernel refuses only for children that enable the controller for their own children;
        other children lose their settings without an error.
        """
        children = f"{os.path.dirname(self.path)}/*/{CONTROLLER}."
        for path in runner.glob(f"{children}cpus", f"{children}mems"):
            try:
                if runner.read(path).strip():
                    return True
            except OSError:
                continue  # removed since
        return False

    def relied_on(self, others: Iterable[Change]) -> bool:
        return self in others
