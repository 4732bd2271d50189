# SPDX-License-Identifier: Apache-2.0
"""List faults that somebody chose, with their answers, who had not seen the explainers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial

from benchmarks.faults.causes import SHARED
from benchmarks.faults.causing import (
    GENERATOR,
    HIGH_FPS,
    PROGRAMS,
    SWITCH,
    Causing,
    Live,
    on,
    on_cpu,
    on_switch,
)
from benchmarks.faults.on_threads import running
from benchmarks.faults.outside_acts import (
    appctl,
    asked,
    configured,
    confined,
    contained,
    database_paused,
    flapping,
    free_pages,
    frozen,
    merged_memory,
    mirrored,
    paged_out,
    ports_come_and_go,
    probed,
    sampled,
    shaped,
    short_programs,
    steered_packets,
    tracked,
    unrelated_rules,
    watched,
)


def _confined(live: Live) -> AbstractContextManager[object]:
    return confined(live.tid(SWITCH), live.cpu(GENERATOR))


def _steered(live: Live) -> AbstractContextManager[object]:
    return steered_packets(live.cpu(SWITCH), live.cpu(GENERATOR))


def _refreshed(_live: Live) -> AbstractContextManager[object]:
    return running("refresh", 1_000)


def _read(live: Live) -> AbstractContextManager[object]:
    return running("read", live.cpu(SWITCH), 20_000)


_CPU = ("pmd_core_shared",)
_AGENT = frozenset(
    {"sh", "taskset", "ovs-ofctl", "ovs-appctl", "ovs-vsctl", "ovsdb-server", "ovs-vswitchd"}
)
_outside = partial(Causing, outside=True)
_harmless = partial(_outside, harms=False)
OUTSIDE = (
    # Time of polling threads.
    _outside("switch-paused", on(SWITCH, frozen, 0.15, 0.15), ("poller_stopped",),
             setting="cgroup.freeze", programs=PROGRAMS, prepared=on(SWITCH, contained)),
    _outside("cpuset-shrunk", _confined, SHARED, setting=": CPUs changed",
             at=(SWITCH, GENERATOR)),
    _outside("short-programs", on_cpu(SWITCH, short_programs), _CPU,
             programs=frozenset({"sh", "true", "taskset"}), loads_fps=HIGH_FPS),
    _outside("telemetry-agent", on_switch(watched), _CPU, programs=_AGENT, loads_fps=HIGH_FPS),
    _outside("counters-refreshed", _refreshed, (*_CPU, "generator_core_shared"),
             at=(SWITCH, GENERATOR), programs=frozenset({"kworker", *PROGRAMS}),
             loads_fps=HIGH_FPS),
    _outside("ksm", on_cpu(SWITCH, merged_memory), _CPU, programs=frozenset({"ksmd", *PROGRAMS}),
             loads_fps=HIGH_FPS),
    # Interrupts and traps.
    _outside("counter-read", _read, ("interrupts", "generator_core_shared"),
             at=(SWITCH, GENERATOR), programs=PROGRAMS, loads_fps=HIGH_FPS),
    _outside("packets-steered", _steered, ("interrupts",), programs=PROGRAMS, loads_fps=HIGH_FPS),
    _outside("paged-out", on(SWITCH, paged_out, 0.005), ("interrupts", "kernel_time"),
             programs=PROGRAMS, loads_fps=HIGH_FPS),
    _outside("probe", on(SWITCH, probed), ("kernel_time",), programs=PROGRAMS, loads_fps=HIGH_FPS),
    # The switch.
    _outside("sflow", on_switch(sampled), ("upcalls",), setting="sFlow", loads_fps=HIGH_FPS),
    _outside("mirror", on_switch(mirrored), setting="irror", loads_fps=HIGH_FPS),
    _outside("conntrack-rule", on_switch(tracked), setting="Open vSwitch: rule",
             loads_fps=HIGH_FPS),
    _outside("shaped-out", on_switch(shaped), ("egress_policer",), setting="qos"),
    _outside("port-flaps", on_switch(flapping), ("port_down", "not_connected"),
             setting=", config changed"),
    _outside("rstp", on_switch(configured, "set", "bridge", "BRIDGE", "rstp_enable=true"),
             setting="rstp"),
    _outside("flows-flushed", on_switch(asked, 0.002, "dpctl/del-flows"),
             ("flows_deleted", "upcalls", "upcall"), programs=PROGRAMS, loads_fps=HIGH_FPS),
    _outside("ports-come-and-go", on_switch(ports_come_and_go), setting="passing",
             programs=_AGENT, loads_fps=HIGH_FPS),
    _outside("debug-log", on_switch(appctl, "vlog/set", "ANY:file:dbg")),
    # What harms nobody.
    _harmless("bypassed-tag", on_switch(configured, "set", "port", "OUT", "tag=100")),
    _harmless("unrelated-rules", on_switch(unrelated_rules)),
    _harmless("counters-cleared", on_switch(asked, 0.1, "dpif-netdev/pmd-stats-clear"),
              programs=PROGRAMS),
    _harmless("database-paused", on_switch(database_paused), programs=PROGRAMS),
    _harmless("free-pages", on(SWITCH, free_pages)),
)  # fmt: skip
