# SPDX-License-Identifier: Apache-2.0
"""Emulated two-socket server, planned for one guest and configured as planned."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.lab_switch import start_switch

from tests.support.lab_node import LabNode, images, lab_while
from wirespeed.host.file import HOST_FILE
from wirespeed.image.recipes import compute
from wirespeed.lab.lab import NAMES, Lab
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.plan.render.targets import render

WORKLOAD = Path(__file__).with_name("workload.toml")
# PMDs take a core of node 1 with both threads: the guest needs another one there.
_CPUS = 12
_BOOTS_S = 1800.0
# Nova reads them after nova.conf, in the order of their names.
NOVA_FILES = "/etc/nova/nova.conf.d"
# Debian has both, and starts the one without until an administrator says otherwise.


@dataclass(frozen=True, slots=True)
class PlannedHost:
    """facts: once it had booted as planned. up_s, applied_s: until it answered, was as planned."""

    node: LabNode
    plan: Plan
    facts: HostFacts
    up_s: float
    applied_s: float


@contextmanager
def planned_host(folder: Path) -> Iterator[PlannedHost]:
    """Provide the planned host while the block runs. folder: for the files of the commands."""
    began = time.monotonic()
    with lab_while(_start) as lab:
        node = LabNode(lab, NAMES[0])
        up_s = time.monotonic() - began
        _prepare(node)
        host, plan = folder / "host.json", folder / "plan.json"
        host.write_text(_said(node, "inspect", "--host", node.url, "--json"))
        _said(node, "plan", str(WORKLOAD), "--host", str(host), "-o", str(plan))
        _give_nova_its_file(node, PLAN_FILE.parse(plan.read_text(), str(plan)))
        _said(node, "apply", str(plan), "--host", node.url, "--reboot")
        facts = HOST_FILE.parse(
            _said(node, "inspect", "--host", node.url, "--json"), "the planned host"
        )
        applied_s = time.monotonic() - began - up_s
        yield PlannedHost(
            node, PLAN_FILE.parse(plan.read_text(), str(plan)), facts, up_s, applied_s
        )


def _start(lab: Lab) -> None:
    lab.up(images(), nodes=1, cpus=_CPUS, recipe=compute)


def _prepare(node: LabNode) -> None:
    """As a Debian server is before a plan is applied: it knows its own name, and Open vSwitch runs,
    the one with DPDK."""
    with node.runner() as runner:
        runner.write("/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {node.name}\n")
        start_switch(runner, timeout_s=_BOOTS_S)


def _give_nova_its_file(node: LabNode, plan: Plan) -> None:
    """Before apply, which at its end compares this file with the plan, too."""
    text = render(plan, ["openstack"])[f"openstack/{node.name}/nova.conf"]
    with node.runner() as runner:
        runner.run(["mkdir", "-p", NOVA_FILES])
        runner.write(f"{NOVA_FILES}/60-wirespeed.conf", text)


def _said(node: LabNode, *words: str) -> str:
    """Return the output of one of our commands. Raises AssertionError if it fails."""
    done = node.wirespeed(*words, timeout_s=_BOOTS_S)
    assert done.returncode == 0, f"wirespeed {' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout
