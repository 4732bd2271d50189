# SPDX-License-Identifier: Apache-2.0
"""Provide an emulated two-socket server, planned for one guest and configured as planned."""

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


@dataclass(frozen=True, slots=True)
class PlannedHost:
    """A server configured as planned."""

    node: LabNode
    plan: Plan
    facts: HostFacts
    """Facts after the boot with the plan's settings."""
    up_s: float
    """Time until it answered over ssh."""
    applied_s: float
    """Further time until it was as planned."""


@contextmanager
def planned_host(folder: Path) -> Iterator[PlannedHost]:
    """Run the planned host while the block runs. folder: for the files of the commands."""
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
    """Write the host's own name into /etc/hosts, and start Open vSwitch with DPDK."""
    with node.runner() as runner:
        runner.write("/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {node.name}\n")
        start_switch(runner, timeout_s=_BOOTS_S)


def _give_nova_its_file(node: LabNode, plan: Plan) -> None:
    """Write the rendered nova.conf; `apply` compares it with the plan at its end."""
    text = render(plan, ["openstack"])[f"openstack/{node.name}/nova.conf"]
    with node.runner() as runner:
        runner.run(["mkdir", "-p", NOVA_FILES])
        runner.write(f"{NOVA_FILES}/60-wirespeed.conf", text)


def _said(node: LabNode, *words: str) -> str:
    """Return the output of one of our commands. Raises AssertionError if it fails."""
    done = node.wirespeed(*words, timeout_s=_BOOTS_S)
    assert done.returncode == 0, f"wirespeed {' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout
