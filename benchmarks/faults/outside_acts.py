# SPDX-License-Identifier: Apache-2.0
"""Disturb a live bench as administrators, agents and the kernel's own services do."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.faults.on_switch import actions_of, added_rule
from benchmarks.faults.on_threads import joined, running

from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk

_CPUSET, _KSM = Path("/sys/fs/cgroup/cpuset"), Path("/sys/kernel/mm/ksm")
_RPS = Path("/sys/class/net/lo/queues/rx-0/rps_cpus")
_PAGES = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


def process_of(tid: int) -> int:
    """Return the process that a thread belongs to."""
    status = Path(f"/proc/{tid}/status").read_text()
    return int(status.partition("Tgid:")[2].split()[0])


def _comm(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


@contextmanager
def paused(pid: int, stopped_s: float, runs_s: float) -> Iterator[None]:
    """Stop and continue a process by signals, again and again."""
    try:
        with running("pause", pid, stopped_s, runs_s):
            yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _freezer(tid: int) -> Path:
    """Return a cgroup of version 2 for the thread's process."""
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    root = next(Path(at) for _, at, kind, *_ in mounts if kind == "cgroup2")
    return root / f"container-{process_of(tid)}"


@contextmanager
def contained(tid: int) -> Iterator[None]:
    """Hold the thread's process in a cgroup, as a container does."""
    group = _freezer(tid)
    with joined(group, group.parent, "cgroup.procs", process_of(tid)):
        yield


@contextmanager
def frozen(tid: int, frozen_s: float, runs_s: float) -> Iterator[None]:
    """Freeze and thaw that cgroup, as `docker pause` does."""
    state = _freezer(tid) / "cgroup.freeze"
    try:
        with running("write", state, "1", frozen_s, "0", runs_s):
            yield
    finally:
        state.write_text("0")


@contextmanager
def confined(tid: int, cpu: int) -> Iterator[None]:
    """Leave the thread's process one CPU, by a cpuset cgroup (v1)."""
    pid = process_of(tid)
    group = _CPUSET / f"confined-{pid}"
    group.mkdir()
    (group / "cpuset.cpus").write_text(str(cpu))
    (group / "cpuset.mems").write_text("0")
    with joined(group, _CPUSET, "cgroup.procs", pid):
        yield


@contextmanager
def looping(
    script: str, environment: Mapping[str, str], cpu: int | None = None, copies: int = 1
) -> Iterator[None]:
    """Run a shell script again and again, on one CPU where that is given."""
    again = f"while :; do {script}; done"
    pinned = [] if cpu is None else ["taskset", "-c", str(cpu)]
    with subprocess.Popen(
        [*pinned, "sh", "-c", f"echo ready; {f'{again} & ' * copies}wait"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, **environment},
    ) as shell:  # fmt: skip
        try:
            assert shell.stdout is not None
            assert shell.stdout.readline() == "ready\n"
            yield
        finally:
            os.killpg(shell.pid, signal.SIGKILL)


@contextmanager
def short_programs(cpu: int) -> Iterator[None]:
    """Start programs that live for a millisecond."""
    with looping("/bin/true", {}, cpu, copies=4):
        yield


@contextmanager
def merged_memory(cpu: int) -> Iterator[None]:
    """Let the kernel look for equal pages on that CPU (KSM)."""
    wanted = {"smart_scan": "0", "sleep_millisecs": "0", "pages_to_scan": "100000", "run": "1"}
    before = {name: (_KSM / name).read_text() for name in wanted}
    daemon = next(int(p.name) for p in Path("/proc").glob("[0-9]*") if _comm(int(p.name)) == "ksmd")
    cpus = os.sched_getaffinity(daemon)
    os.sched_setaffinity(daemon, {cpu})
    try:
        with running("mergeable", 400):
            for name, value in wanted.items():
                (_KSM / name).write_text(value)
            yield
    finally:
        (_KSM / "run").write_text("2")
        for name, text in before.items():
            (_KSM / name).write_text(text)
        os.sched_setaffinity(daemon, cpus)


@contextmanager
def steered_packets(cpu: int, beside: int) -> Iterator[None]:
    """Let the kernel handle packets of the loopback interface on that CPU (RPS)."""
    before = _RPS.read_text()
    _RPS.write_text(f"{1 << cpu:x}")
    try:
        with running("flood", beside, 20):
            yield
    finally:
        _RPS.write_text(before)


@contextmanager
def paged_out(tid: int, each_s: float) -> Iterator[None]:
    """Take the program text of the thread's process out of its page tables."""
    with running("pageout", process_of(tid), each_s):
        yield


@contextmanager
def probed(tid: int) -> Iterator[None]:
    """Put a probe on the function that reads frames from a vhost ring (uprobe)."""
    maps = Path(f"/proc/{tid}/maps").read_text().split()
    library = next(path for path in maps if "librte_vhost.so" in path)
    with running("probe", tid, library, "rte_vhost_dequeue_burst"):
        yield


@contextmanager
def free_pages(_tid: int) -> Iterator[None]:
    """Reserve further huge pages that nobody uses."""
    before = int(_PAGES.read_text())
    _PAGES.write_text(str(before + 8))
    try:
        yield
    finally:
        _PAGES.write_text(str(int(_PAGES.read_text()) - 8))


@contextmanager
def asked(switch: OvsDpdk, each_s: float, *command: str) -> Iterator[None]:
    """Give Open vSwitch a command of ovs-appctl, again and again."""
    with running("tell", switch.control.daemon, each_s, *command):
        yield


@contextmanager
def watched(switch: OvsDpdk) -> Iterator[None]:
    """Let an agent on the PMD's CPU ask for everything, again and again."""
    [cpu] = os.sched_getaffinity(switch.pollers()[0].tid)
    control = switch.control
    script = (
        f"ovs-ofctl -O OpenFlow15 dump-flows {_management(switch)}; "
        f"ovs-appctl -t {control.daemon} dpctl/dump-flows; "
        f"ovs-vsctl --db={control.database} list interface"
    )
    with looping(f"{{ {script}; }} >/dev/null", control.environment, cpu, copies=4):
        yield


def _management(switch: OvsDpdk) -> str:
    return f"unix:{switch.control.run_dir / switch.bridges[0].name}.mgmt"


@contextmanager
def flapping(switch: OvsDpdk) -> Iterator[None]:
    """Set the port where frames leave down and up again, for good when it ends."""
    port = switch.bridges[0].ports[1].name
    tell = f"ovs-ofctl -O OpenFlow15 mod-port {_management(switch)} {port}"
    with looping(f"{tell} down; sleep 0.05; {tell} up; sleep 0.15", switch.control.environment):
        yield


@contextmanager
def ports_come_and_go(switch: OvsDpdk) -> Iterator[None]:
    """Add and delete a vhost port, as a cloud does where VMs start and end."""
    control, bridge = switch.control, switch.bridges[0].name
    tell = f"ovs-vsctl --db={control.database}"
    options = f"type=dpdkvhostuserclient options:vhost-server-path={control.run_dir}/passing"
    script = (
        f"{tell} add-port {bridge} passing -- set Interface passing {options}; sleep 0.1; "
        f"{tell} del-port passing; sleep 0.1"
    )
    with looping(script, control.environment):
        yield


@contextmanager
def configured(switch: OvsDpdk, *words: str) -> Iterator[None]:
    """Change the database. In words, BRIDGE, IN and OUT stand for the bridge and its ports."""
    bridge = switch.bridges[0]
    names = {"BRIDGE": bridge.name, "IN": bridge.ports[0].name, "OUT": bridge.ports[1].name}
    switch.control.vsctl(*(names.get(word, word) for word in words))
    yield


@contextmanager
def mirrored(switch: OvsDpdk) -> Iterator[None]:
    """Copy all frames to the port where they come in, which then takes in no others."""
    bridge = switch.bridges[0]
    with configured(
        switch, "--", "--id=@out", "get", "port", bridge.ports[0].name,
        "--", "--id=@all", "create", "mirror", "name=all", "select-all=true",
        "output-port=@out", "--", "set", "bridge", bridge.name, "mirrors=@all",
    ):  # fmt: skip
        yield


@contextmanager
def sampled(switch: OvsDpdk) -> Iterator[None]:
    """Report every frame by sFlow."""
    with configured(
        switch, "--", "--id=@all", "create", "sflow", "agent=lo", 'target="127.0.0.1:6343"',
        "header=128", "sampling=1", "polling=0", "--", "set", "bridge", switch.bridges[0].name,
        "sflow=@all",
    ):  # fmt: skip
        yield


@contextmanager
def shaped(switch: OvsDpdk) -> Iterator[None]:
    """Limit what leaves to 1 Mbit/s (a QoS row)."""
    with configured(
        switch, "set", "port", "OUT", "qos=@limit", "--", "--id=@limit", "create", "qos",
        "type=egress-policer", "other-config:cir=125000", "other-config:cbs=2048",
    ):  # fmt: skip
        yield


@contextmanager
def tracked(switch: OvsDpdk) -> Iterator[None]:
    """Let frames pass the connection tracker on their way."""
    [action, *_] = actions_of(switch)
    with added_rule(switch, ",ip", f"ct(commit),{action}"):
        yield


@contextmanager
def unrelated_rules(switch: OvsDpdk) -> Iterator[None]:
    lines = "\n".join(f"priority=10,udp,in_port=99,tp_src={n},actions=drop" for n in range(500))
    switch.control.ofctl("add-flows", "-", stdin=lines)
    yield


@contextmanager
def appctl(switch: OvsDpdk, *command: str) -> Iterator[None]:
    """Give Open vSwitch a command of ovs-appctl once."""
    switch.control.ask(*command)
    yield


@contextmanager
def database_paused(switch: OvsDpdk) -> Iterator[None]:
    """Stop the database server for a while, again and again."""
    pids = [process.pid for process in switch.processes]
    with paused(next(pid for pid in pids if _comm(pid) == "ovsdb-server"), 0.2, 0.3):
        yield
