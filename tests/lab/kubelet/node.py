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
from wirespeed.remote.interface import Completed, HostUnreachable, Runner

Value = TypeVar("Value")
# An emulated CPU takes minutes for what takes a second elsewhere.
LIMIT_S = 900.0
_LOOK_AGAIN_S = 2.0
_MANIFESTS = "/etc/kubernetes/manifests"
# The name that the rendered file gives itself.
_CONFIGURATION = "/etc/kubernetes/kubelet.conf.d/60-wirespeed.conf"
_PODS = "http://127.0.0.1:10255/pods"
# The limit is the pod's: Debian's containerd 1.6 sets none for a container.
_FILES = ("cpuset.cpus.effective", "cpuset.mems.effective", "hugetlb.1GB.numa_stat",
          "../hugetlb.1GB.max")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Granted:
    """CPUs, memory and pages that the kernel lets a container use, and the pages it has taken."""

    cpus: tuple[int, ...]
    nodes: tuple[int, ...]
    """NUMA nodes of its memory."""
    page_limit: int
    """Limit of its pod's pages of 1 GiB, in octets."""
    pages: Mapping[int, int]
    """Its pages of 1 GiB by NUMA node, in octets; nodes without any are not listed."""


class KubeletNode:
    """A server with a standalone kubelet."""

    def __init__(self, node: LabNode) -> None:
        self._node = node
        self._runner = node.runner()

    def __enter__(self) -> KubeletNode:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def start(self, packed: Path, configuration: str) -> None:
        """Bring the files to the server, and start containerd and the kubelet.

        packed: of payload.py. configuration: the rendered KubeletConfiguration.
        """
        config = self._node.lab.node(self._node.name).config
        with packed.open("rb") as files:
            subprocess.run(
                ["ssh", "-F", str(config), self._node.name, "tar -x -C /"], stdin=files, check=True
            )
        self._run("mkdir", "-p", _MANIFESTS, str(Path(_CONFIGURATION).parent))
        self._write(_CONFIGURATION, configuration)
        self._write("/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {self._node.name}\n")
        self._run("systemctl", "daemon-reload")
        self._run("systemctl", "start", "containerd")
        self._run("ctr", "-n", "k8s.io", "images", "import", IMAGE)
        self._run("ctr", "-n", "k8s.io", "images", "tag", "--force", FUNCTION, SANDBOX)
        self._run("systemctl", "start", "kubelet")

    def admit(self, pod: str, manifest: str) -> str:
        """Give the kubelet a static pod; return the reason of its refusal, "" when it runs."""
        # The kubelet reads a file again that it has seen half written.
        self._write(f"{_MANIFESTS}/{pod}.yaml", manifest)
        found: dict[str, dict[str, Any]] = {}

        def settled() -> bool:
            found.update(self.pods())
            return _phase(found.get(pod)) in ("Running", "Failed")

        assert reached(settled, True), (
            f"pod {pod} neither runs nor is refused: {found.get(pod)}\n{self.log()}"
        )
        return str(found[pod]["status"].get("reason", ""))

    def withdraw(self, pod: str) -> None:
        self._run("rm", "-f", f"{_MANIFESTS}/{pod}.yaml")

    def pods(self) -> dict[str, dict[str, Any]]:
        """Return the pods by their names in the manifests; none while the kubelet is silent."""
        asked = self._run("busybox", "wget", "-q", "-O", "-", _PODS, check=False)
        if asked.exit_code != 0:
            return {}
        items = json.loads(asked.stdout)["items"] or ()
        # The kubelet adds the name of the node.
        suffix = f"-{self._node.name}"
        return {pod["metadata"]["name"].removesuffix(suffix): pod for pod in items}

    def granted(self) -> dict[tuple[str, str], Granted]:
        """Return what each running container has, by pod and container."""
        # cgroupfs, the default driver: a folder a container. All pods are Guaranteed.
        return {
            (pod, container): self._granted(
                f"/sys/fs/cgroup/kubepods/pod{described['metadata']['uid']}/{number}"
            )
            for pod, described in self.pods().items()
            for container, number in _running(described).items()
        }

    def _granted(self, folder: str) -> Granted:
        paths = [f"{folder}/{name}" for name in _FILES]
        cpus, nodes, pages, limit = self._run("cat", *paths).stdout.splitlines()
        by_node = (word[1:].split("=") for word in pages.split() if word.startswith("N"))
        return Granted(
            cpus=tuple(parse_list(cpus)),
            nodes=tuple(parse_list(nodes)),
            page_limit=int(limit),
            pages={int(node): int(octets) for node, octets in by_node if int(octets)},
        )

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
        self._run(*command)
        another = reached(lambda: self._process() not in (before, "0\n"), True)
        assert another, self.log()

    def log(self) -> str:
        """Return the last words of containerd and the kubelet."""
        units = ("-u", "containerd", "-u", "kubelet")
        return self._run("journalctl", "--no-pager", "-n", "60", *units, check=False).stdout

    def _process(self) -> str:
        return self._run("systemctl", "show", "--property=MainPID", "--value", "kubelet").stdout

    def _run(self, *words: str, check: bool = True) -> Completed:
        return self._again(lambda runner: runner.run(words, timeout_s=LIMIT_S, check=check))

    def _write(self, path: str, text: str) -> None:
        self._again(lambda runner: runner.write(path, text))

    def _again(self, call: Callable[[Runner], Value]) -> Value:
        """Make a call that may be repeated, with a new connection where the last one broke.

        An emulated server whose kubelet starts on a busy machine may be silent for longer than
        ssh waits.
        """
        end = time.monotonic() + LIMIT_S
        while True:
            try:
                return call(self._runner)
            except HostUnreachable:
                if time.monotonic() > end:
                    raise
            self._runner.close()
            self._runner = self._node.runner()


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
