# SPDX-License-Identifier: Apache-2.0
"""Provide the shipped examples of pods, and workloads made from one of them."""

from __future__ import annotations

from dataclasses import replace

from tests.support.examples import ROOT, example_host
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.render.targets import render
from wirespeed.plan.workload.file import parse_workload

# Example of pods, and the example whose host it uses.
POD_EXAMPLES = {
    "s1-bng-pods": "s1-bng",
    "s2-chains-pods": "s2-chains",
    "s3-jumbo-pods": "s3-jumbo",
    # The only example of its host.
    "s4-onp-pods": "s4-onp-pods",
}

# Errors to plant in what is rendered for s1-bng-pods: file, text, and what takes its place.
PLANTED_IN_OBJECTS = (
    ("performance-profile.yaml", "isolated:", "isolatd:"),
    ("performance-profile.yaml", "count: 4", 'count: "4"'),
    ("nfv-nfv-network-0000-08-00-0.yaml", '"vfio-pci"', '"vfio"'),
    ("nfv-nfv-network-0000-08-00-0.yaml", "numVfs: 8", "numVfs: -1"),
    ("nfv-network.yaml", 'spoofChk: "off"', 'spoofChk: "maybe"'),
    ("bng.yaml", "replicas: 1", 'replicas: "one"'),
    ("bng.yaml", "nodeSelector:", "nodeSelectors:"),
    ("bng-claim.yaml", "exactly:", "exact:"),
    ("bng-claim.yaml", "matchAttribute:", "attribute:"),
)
PLANTED_IN_KUBELET_FILES = (
    ("kubelet.yaml", "single-numa-node", "strict"),
    ("kubelet.yaml", "cpuManagerPolicyOptions", "cpuManagerOptions"),
)


def rendered_objects(example: str) -> dict[str, str]:
    """Return what is rendered of the example for an API server, by path."""
    return {
        path: text
        for path, text in render(shipped(example)).items()
        if path.endswith(".yaml") and not path.endswith("/kubelet.yaml")
    }


def workload_text(example: str) -> str:
    return (ROOT / "examples" / example / "workload.toml").read_text(encoding="utf-8")


def planned(text: str, *hosts: HostFacts) -> Plan:
    """Return the plan of a workload; by default on the host of S1."""
    return plan_workload(parse_workload(text, "w.toml"), hosts or [example_host("s1-bng")])


def shipped(example: str) -> Plan:
    path = ROOT / "examples" / example / "plan.json"
    return PLAN_FILE.parse(path.read_text(encoding="utf-8"), str(path))


def twin(facts: HostFacts, name: str) -> HostFacts:
    return replace(facts, host=name)
