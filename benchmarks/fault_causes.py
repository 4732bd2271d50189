# SPDX-License-Identifier: Apache-2.0
"""Kinds of faults by mechanism: each acts on a live bench and undoes itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.fault_on_switch import (
    added_rule,
    changed_rule,
    deleted_rules,
    group,
    interface,
    meter,
    moved_port,
    other_config,
    policed,
)
from benchmarks.fault_on_threads import (
    frozen,
    hog,
    interrupted,
    limited,
    moved,
    niced,
    scheduled,
    traced,
)

from wirespeed.bench.interface import Part, Step
from wirespeed.bench.session import RealBench
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk

GENERATOR = "generator"
Act = Callable[["Live"], AbstractContextManager[None]]
BOTH, PVP = ("p2p", "pvp"), ("pvp",)


@dataclass(frozen=True, slots=True)
class Live:
    """A bench that is up: its polling threads by the part that they belong to, and its switch."""

    parts: dict[str, Part]
    switch: OvsDpdk

    @classmethod
    def of(cls, bench: RealBench) -> Live:
        parts = {part.name: part for part in bench.rig.parts}
        return cls(parts, next(p for p in parts.values() if isinstance(p, OvsDpdk)))

    def part(self, name: str) -> Part:
        return self.switch if name == "switch" else self.parts[name]

    def tid(self, name: str) -> int:
        """The first polling thread of a part."""
        return self.part(name).pollers()[0].tid

    def cpu(self, name: str) -> int:
        return next(iter(os.sched_getaffinity(self.tid(name))))


@dataclass(frozen=True, slots=True)
class Causing:
    """A kind. limits: those that name its mechanism; setting: what names it as a changed setting,
    a part of its name. stop: a part that is stopped by SIGSTOP for a share of each trial, instead
    of an act."""

    kind: str
    act: Act
    limits: tuple[str, ...] = ()
    topologies: tuple[str, ...] = BOTH
    settings: tuple[str, ...] = ()
    stop: str | None = None
    setting: str = ""

    @property
    def delays(self) -> bool:
        """Return whether it acts on the generator, so that unsent frames are its effect."""
        return "generator" in self.kind

    @property
    def each_trial(self) -> bool:
        return self.stop is not None

    def pulses(self, live: Live, duration_s: float) -> Sequence[Step]:
        """Stop the part's program for a third of the trial."""
        send = partial(self._signal, live)
        return [(duration_s / 3, lambda: send(signal.SIGSTOP)),
                (2 * duration_s / 3, lambda: send(signal.SIGCONT))]  # fmt: skip

    def rest(self, live: Live) -> None:
        """Let the stopped program answer questions again."""
        self._signal(live, signal.SIGCONT)

    def _signal(self, live: Live, number: int) -> None:
        if self.stop is not None:
            live.part(self.stop).processes[0].signal(number)


@contextmanager
def nothing(_live: Live) -> Iterator[None]:
    yield


def on(name: str, act: Callable[..., AbstractContextManager[None]], *words: object) -> Act:
    """An act on the first polling thread of a part."""
    return lambda live: act(live.tid(name), *words)


def on_cpu(name: str, act: Callable[..., AbstractContextManager[None]], *words: object) -> Act:
    """An act on the CPU of a part's first polling thread."""
    return lambda live: act(live.cpu(name), *words)


def on_switch(act: Callable[..., AbstractContextManager[None]], *words: object) -> Act:
    return lambda live: act(live.switch, *words)


def _move(name: str, to: str) -> Act:
    return lambda live: moved(live.tid(name), live.cpu(to))


_SHARED = ("pollers_share_cpu", "poller_moved")
_MTU = ("traffic.frame=512",)
VNF, SWITCH = "vnf0", "switch"
CAUSES = (
    # Time of polling threads.
    Causing("pmd-throttled", on(SWITCH, limited, 0.3), ("throttled",),
            setting="cgroup"),
    Causing("vnf-throttled", on(VNF, limited, 0.2), ("throttled",), PVP,
            setting="cgroup"),
    Causing("generator-throttled", on(GENERATOR, limited, 0.4), ("throttled",),
            setting="cgroup"),
    Causing("pmd-traced", on(SWITCH, traced, 0.15), ("poller_stopped",)),
    Causing("vnf-traced", on(VNF, traced, 0.15), ("vnf_stopped", "poller_stopped"), PVP),
    Causing("generator-traced", on(GENERATOR, traced, 0.15), ("poller_stopped",)),
    Causing("pmd-frozen", on(SWITCH, frozen, 0.15), ("poller_stopped",)),
    Causing("switch-stopped", nothing, ("poller_stopped",), stop=SWITCH),
    Causing("vnf-stopped", nothing, ("vnf_stopped",), PVP, stop=VNF),
    Causing("generator-stopped", nothing, ("poller_stopped",), stop=GENERATOR),
    Causing("pmd-moved", _move(SWITCH, GENERATOR), _SHARED,
            setting=": CPUs changed"),
    Causing("generator-moved", _move(GENERATOR, SWITCH), _SHARED,
            setting=": CPUs changed"),
    Causing("vnf-moved", _move(VNF, GENERATOR), _SHARED, PVP,
            setting=": CPUs changed"),
    Causing("pmd-sleeps", on_switch(other_config, "pmd-maxsleep", "10000"), ("poller_asleep",),
            setting="other_config:"),
    Causing("pmd-niced", on(SWITCH, niced, 19),
            setting=": nice changed"),
    Causing("generator-niced", on(GENERATOR, niced, 19),
            setting=": nice changed"),
    Causing("pmd-idle-policy", on(SWITCH, scheduled, os.SCHED_IDLE),
            setting=": policy changed"),
    Causing("vnf-batch-policy", on(VNF, scheduled, os.SCHED_BATCH), (), PVP,
            setting=": policy changed"),
    # The host.
    Causing("fifo-hog-on-pmd", on_cpu(SWITCH, hog, 0.5), ("pmd_core_shared",)),
    Causing("fifo-hog-on-generator", on_cpu(GENERATOR, hog, 0.5), ("generator_core_shared",)),
    Causing("timer-interrupts", on_cpu(SWITCH, interrupted, 20_000), ("interrupts",)),
    Causing("generator-interrupts", on_cpu(GENERATOR, interrupted, 20_000), ("interrupts",)),
    # The switch.
    Causing("rule-drops-all", on_switch(added_rule, "", "drop"), ("foreign_rule",),
            setting="Open vSwitch: rule"),
    Causing("rule-drops-some", on_switch(added_rule, ",ip,nw_src=0.0.0.1/0.0.0.1", "drop"),
            ("foreign_rule",),
            setting="Open vSwitch: rule"),
    Causing("rule-changed-to-drop", on_switch(changed_rule, "drop"), ("foreign_rule",),
            setting="Open vSwitch: rule"),
    Causing("rule-back-to-sender", on_switch(changed_rule, "in_port"), ("foreign_rule",),
            setting="Open vSwitch: rule"),
    Causing("rules-deleted", on_switch(deleted_rules), ("no_flow",),
            setting="Open vSwitch: rule"),
    Causing("endless-resubmit", on_switch(added_rule, "", "resubmit(,0)"), ("datapath",),
            setting="Open vSwitch: rule"),
    Causing("rule-to-nowhere", on_switch(added_rule, "", "goto_table:7"), ("datapath",),
            setting="Open vSwitch: rule"),
    Causing("meter", on_switch(meter, 5_000), ("meter",),
            setting="Open vSwitch: rule"),
    Causing("group-drops-half", on_switch(group), ("datapath",),
            setting="Open vSwitch: rule"),
    Causing("port-down", on_switch(moved_port, "down"), ("port_down", "not_connected"),
            setting=", config changed"),
    Causing("port-no-forward", on_switch(moved_port, "no-forward"), ("datapath", "port_down"),
            setting=", config changed"),
    Causing("port-no-receive", on_switch(moved_port, "no-receive"), ("datapath",),
            setting=", config changed"),
    Causing("mtu-lowered", on_switch(interface, "mtu_request=400"), ("mtu",), BOTH, _MTU,
            setting="mtu changed"),
    Causing("policed-in", on_switch(policed, 2_000), ("policer",),
            setting="ingress_policing"),
    Causing("tiny-flow-limit", on_switch(other_config, "max-idle", "1"),
            ("flows_deleted", "upcalls"),
            setting="other_config:"),
    Causing("pmd-mask-changed", on_switch(other_config, "pmd-cpu-mask", "1"), _SHARED,
            setting="other_config:pmd-cpu-mask"),
    Causing("emc-off", on_switch(other_config, "emc-insert-inv-prob", "0"),
            setting="other_config:"),
    Causing("smc-on", on_switch(other_config, "smc-enable", "true"),
            setting="other_config:"),
    Causing("stats-interval", on_switch(other_config, "stats-update-interval", "60000"),
            setting="other_config:"),
)  # fmt: skip
# Settings that no frame is lost for.
EFFECTLESS = frozenset(
    {"emc-off", "smc-on", "stats-interval", "vnf-batch-policy"}
)  # fmt: skip
