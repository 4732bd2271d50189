# SPDX-License-Identifier: Apache-2.0
"""Compare each decided value with its value on the host."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.apply.compare_guests import compare_guest
from wirespeed.apply.finding import Found, absent, differs, same, unchecked
from wirespeed.apply.row import Row, Verdict
from wirespeed.apply.step import Result, State
from wirespeed.apply.switches import APPLIED
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Decision, HostPlan, HugePages

_NIC = re.compile(r"nics\[(.+)\]\.(driver|vfs)")
_NO_NOVA = "no nova.conf here: Nova's, which `wirespeed plan render --to openstack` writes"
_AT_BOOT = "the kernel was not started with the planned words yet"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A planned host, its facts, and the results of a preview."""

    host: HostPlan
    facts: HostFacts
    reboot_due: frozenset[str]
    """Planned words that are missing on the running kernel's command line."""
    steps: Sequence[Result]

    def row(self, where: str, decision: Decision[Any]) -> Row:
        """Compare one decision. where: its name as `plan.decisions.dotted` writes it."""
        found = self._found(where, decision.value)
        verdict, note = found.verdict, found.note
        if verdict is Verdict.DIFFERS and self._comes_at_boot(where):
            verdict, note = Verdict.REBOOT, note or _AT_BOOT
        name = f"kernel {decision.value.partition('=')[0]}" if where == "kernel" else where
        return Row(name, shown(decision.value), found.text, verdict, decision.because, note)

    def _found(self, where: str, value: Any) -> Found:
        named: dict[str, Callable[[Any], Found]] = {
            "kernel": self._kernel,
            "huge_pages": self._pages,
            "reserved_memory_mib": self._reserved,
            "cores.housekeeping": self._housekeeping,
            "cores.isolated": self._isolated,
            "cores.idle": self._idle,
            "cores.dedicated": self._dedicated,
            "cores.shared": self._shared,
        }
        if where in named:
            return named[where](value)
        if where.startswith("vswitch."):
            return self._vswitch(where.removeprefix("vswitch."), value)
        if nic := _NIC.fullmatch(where):
            return self._nic(nic[1], nic[2], value)
        if where.startswith("guests["):
            return compare_guest(self.host, self.facts, where, value)
        return absent("a part of benches, not of hosts")

    def _vswitch(self, what: str, value: Any) -> Found:
        assert self.host.vswitch is not None
        return APPLIED[self.host.vswitch.deployed_kind].compare(self.facts, what, value)

    def _comes_at_boot(self, where: str) -> bool:
        """Return whether the boot loader has the value and the running kernel does not."""
        boot_loader = any(r.decision == "kernel" and r.state is State.SO for r in self.steps)
        at_boot = ("kernel", "huge_pages", "cores.isolated")
        waiting = any(r.decision == where and r.state is State.REBOOT for r in self.steps)
        return waiting or (bool(self.reboot_due) and boot_loader and where in at_boot)

    def _kernel(self, word: str) -> Found:
        if word in self.reboot_due:
            return differs(self.facts.kernel.parameter(word.partition("=")[0]) or "absent")
        return same(word)

    def _pages(self, pages: tuple[HugePages, ...]) -> Found:
        nodes = {node.id: node for node in self.facts.nodes}
        found = []
        for page in pages:
            pool = nodes[page.node].pool(page.size_kib)
            found.append(HugePages(page.node, page.size_kib, pool.total if pool else 0))
        return _compared(pages, tuple(found))

    def _housekeeping(self, cpus: tuple[int, ...]) -> Found:
        free = set(self.facts.online_cpus) - set(self.facts.kernel.isolated)
        return Found(Verdict.OK if set(cpus) <= free else Verdict.DIFFERS, _list(free))

    def _isolated(self, cpus: tuple[int, ...]) -> Found:
        return _compared(cpus, self.facts.kernel.isolated)

    def _idle(self, cpus: tuple[int, ...]) -> Found:
        isolated = set(cpus) & set(self.facts.kernel.isolated)
        return Found(Verdict.OK if isolated == set(cpus) else Verdict.DIFFERS, _list(isolated))

    def _dedicated(self, cpus: tuple[int, ...]) -> Found:
        nova = self.facts.nova
        return self._no_nova if nova is None else _compared(cpus, nova.guest_cpus or ())

    def _shared(self, cpus: tuple[int, ...]) -> Found:
        nova = self.facts.nova
        return self._no_nova if nova is None else _compared(cpus, nova.shared_cpus or ())

    def _reserved(self, mib: int) -> Found:
        nova = self.facts.nova
        if nova is None:
            return self._no_nova
        return same(str(mib)) if nova.reserved_memory_mib == mib else differs(
            str(nova.reserved_memory_mib))  # fmt: skip

    @property
    def _no_nova(self) -> Found:
        reason = self.facts.why_missing("nova")
        return unchecked(reason) if reason else absent(_NO_NOVA)

    def _nic(self, address: str, what: str, value: Any) -> Found:
        device = next((d for d in self.facts.pci if d.address == address), None)
        if device is None:
            return differs("no such device")
        found = device.sriov_num if what == "vfs" else device.driver or "(none)"
        return same(str(found)) if found == value else differs(str(found))


def shown(value: Any) -> str:
    """Format a decided value for printing."""
    if isinstance(value, tuple) and value and all(isinstance(v, HugePages) for v in value):
        return ", ".join(f"node {p.node}: {p.count} x {p.size_kib} KiB" for p in value)
    if isinstance(value, tuple):
        return _list(value)
    return str(value)


def _compared(planned: tuple[Any, ...], found: tuple[Any, ...]) -> Found:
    same_set = set(planned) == set(found)
    return Found(Verdict.OK if same_set else Verdict.DIFFERS, shown(found))


def _list(cpus: Sequence[int] | set[int]) -> str:
    return format_list(cpus) or "none"
