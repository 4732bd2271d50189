# SPDX-License-Identifier: Apache-2.0
"""Start a standalone kubelet on a server, give it pods, and read what their containers got."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tests.lab.kubelet.payload import FUNCTION, IMAGE, SANDBOX
from tests.support.lab_node import LabNode
from wirespeed.model.cpuset import parse_list
from wirespeed.remote.interface import Runner

Value = TypeVar("Value")
# An emulated CPU takes minutes for what takes a second elsewhere.
LIMIT_S = 900.0
_LOOK_AGAIN_S = 0.5
_ETC = "/etc/kubernetes"
_MANIFESTS = f"{_ETC}/manifests"
# The name that the rendered file gives itself.
_CONFIGURATION = f"{_ETC}/kubelet.conf.d/60-wirespeed.conf"
_PODS = "http://127.0.0.1:10255/pods"
_FILES = ("cpuset.cpus.effective", "cpuset.mems.effective", "hugetlb.1GB.max",
          "hugetlb.1GB.numa_stat")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Granted:
    """What the kernel lets a container use, and the huge pages that it has taken."""

    cpus: tuple[int, ...]
    nodes: tuple[int, ...]
    """NUMA nodes of its memory."""
    page_limit: int
    """Limit of its pages of 1 GiB, in octets."""
    pages: Mapping[int, int]
    """Its pages of 1 GiB by NUMA node, in octets; nodes without any are not listed."""


@dataclass(frozen=True, slots=True)
class KubeletNode:
    """A server with a standalone kubelet."""

    name: str
    runner: Runner

    def admit(self, pod: str, manifest: str) -> str:
        """Give the kubelet a static pod; return the reason of its refusal, "" when it runs."""
        staged = f"{_ETC}/{pod}.yaml"
        self.runner.write(staged, manifest)
        # The kubelet reads a file as soon as it is there.
        self.runner.run(["mv", staged, _MANIFESTS])
        settled = reached(lambda: _phase(self.pods().get(pod)) in ("Running", "Failed"), True)
        found = self.pods().get(pod)
        assert settled, f"pod {pod} neither runs nor is refused: {found}\n{self.log()}"
        assert found
        return str(found["status"].get("reason", ""))

    def withdraw(self, pod: str) -> None:
        self.runner.run(["rm", f"{_MANIFESTS}/{pod}.yaml"])
        assert reached(lambda: pod in self.pods(), False) is False, self.log()

    def pods(self) -> dict[str, dict[str, Any]]:
        """Return the pods by their names in the manifests; none while the kubelet is silent."""
        asked = self.runner.run(["busybox", "wget", "-q", "-O", "-", _PODS], check=False)
        if asked.exit_code != 0:
            return {}
        items = json.loads(asked.stdout)["items"] or ()
        # The kubelet adds the name of the node.
        return {pod["metadata"]["name"].removesuffix(f"-{self.name}"): pod for pod in items}

    def granted(self) -> dict[tuple[str, str], Granted]:
        """Return what each running container has, by pod and container."""
        # cgroupfs, the default driver: a folder a container. All pods are Guaranteed.
        return {
            (pod, container): _granted(
                self.runner, f"/sys/fs/cgroup/kubepods/pod{described['metadata']['uid']}/{number}"
            )
            for pod, described in self.pods().items()
            for container, number in _running(described).items()
        }

    def containers(self) -> dict[tuple[str, str], str]:
        """Return the id of each running container, by pod and container."""
        return {
            (pod, container): number
            for pod, described in self.pods().items()
            for container, number in _running(described).items()
        }

    def restart(self, *command: str) -> None:
        """Run a command that ends the kubelet; wait until another one is there."""
        before = self._process()
        self.runner.run(command, timeout_s=LIMIT_S)
        another = reached(lambda: self._process() not in (before, "0"), True)
        assert another, self.log()

    def log(self) -> str:
        """Return the last words of containerd and the kubelet."""
        words = ["journalctl", "--no-pager", "-n", "60", "-u", "containerd", "-u", "kubelet"]
        return self.runner.run(words, check=False).stdout

    def _process(self) -> str:
        words = ["systemctl", "show", "--property=MainPID", "--value", "kubelet"]
        return self.runner.run(words).stdout.strip()


def start(node: LabNode, runner: Runner, packed: Path, configuration: str) -> KubeletNode:
    """Bring the files to the server, and start containerd and the kubelet.

    packed: of payload.py. configuration: the rendered KubeletConfiguration.
    """
    config = node.lab.node(node.name).config
    with packed.open("rb") as files:
        subprocess.run(
            ["ssh", "-F", str(config), node.name, "tar -x -C /"], stdin=files, check=True
        )
    runner.run(["mkdir", "-p", _MANIFESTS, str(Path(_CONFIGURATION).parent)])
    runner.write(_CONFIGURATION, configuration)
    runner.write("/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {node.name}\n")
    for words in (
        ("systemctl", "daemon-reload"),
        ("systemctl", "start", "containerd"),
        ("ctr", "-n", "k8s.io", "images", "import", IMAGE),
        ("ctr", "-n", "k8s.io", "images", "tag", FUNCTION, SANDBOX),
        ("systemctl", "start", "kubelet"),
    ):
        runner.run(words, timeout_s=LIMIT_S)
    return KubeletNode(node.name, runner)


def static_pod(deployment: str, name: str) -> str:
    """Return a pod of a rendered Deployment as a static pod: its template, and a name.

    The nodeSelector is removed. A standalone kubelet knows no labels of its node, and its flag
    --node-labels refuses those of node-role.kubernetes.io.
    """
    template = yaml.safe_load(deployment)["spec"]["template"]
    del template["spec"]["nodeSelector"]
    template["metadata"]["name"] = name
    return yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", **template})


def reached(read: Callable[[], Value], wanted: Value) -> Value:
    """Read until the value is the wanted one, LIMIT_S at most; return the last value."""
    end = time.monotonic() + LIMIT_S
    while (found := read()) != wanted and time.monotonic() < end:
        # The kubelet offers no event, and each question takes time of its CPU.
        time.sleep(_LOOK_AGAIN_S)
    return found


def _phase(pod: Mapping[str, Any] | None) -> str:
    """Return "Running" only when all containers run."""
    if pod is None:
        return ""
    if pod["status"]["phase"] == "Running" and len(_running(pod)) < len(pod["spec"]["containers"]):
        return "Pending"
    return str(pod["status"]["phase"])


def _running(pod: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids of the pod's running containers by name."""
    return {
        status["name"]: status["containerID"].removeprefix("containerd://")
        for status in pod["status"].get("containerStatuses") or ()
        if "running" in status["state"]
    }


def _granted(runner: Runner, folder: str) -> Granted:
    cpus, nodes, limit, pages = (runner.read(f"{folder}/{name}").strip() for name in _FILES)
    by_node = (word[1:].split("=") for word in pages.split() if word.startswith("N"))
    return Granted(
        cpus=tuple(parse_list(cpus)),
        nodes=tuple(parse_list(nodes)),
        page_limit=int(limit),
        pages={int(node): int(octets) for node, octets in by_node if int(octets)},
    )
