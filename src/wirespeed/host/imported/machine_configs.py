# SPDX-License-Identifier: Apache-2.0
"""Find the kubelet settings of a node in the objects of an OpenShift cluster.

The annotation currentConfig of a Node names the MachineConfig that the node has, rendered of all
that are for its pool; the file of its kubelet is in it. Source: `oc adm inspect`, which writes an
object as cluster-scoped-resources/GROUP/RESOURCES/NAME.yaml, and the machine-config-operator.
"""

from __future__ import annotations

import zlib
from typing import Any

from wirespeed.host import kubelet_file
from wirespeed.model.input.bounded import load_yaml
from wirespeed.model.input.text import printable
from wirespeed.model.plan.kubelet import KubeletSettings
from wirespeed.remote.archive import Member

_BELOW = "cluster-scoped-resources"
_GROUP = "machineconfiguration.openshift.io"
_NODES, _CONFIGS = ("core", "nodes"), (_GROUP, "machineconfigs")
_ANNOTATION = f"{_GROUP}/currentConfig"
# Others are parts of these.
_RENDERED = "rendered-"
# In octets: one object, which etcd limits to 1.5 MiB, and all that are kept, packed.
_OBJECT, _KEPT = 4 << 20, 64 << 20


class NoSettings(Exception):
    """The archive lacks the settings of a kubelet; says why."""


class MachineConfigs:
    """The nodes and rendered MachineConfigs of a must-gather, packed in memory."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, ...], bytes] = {}
        self._octets = 0

    def take(self, member: Member) -> bool:
        """Keep the member if it is one of these objects. Returns False for another."""
        if len(member.parts) < 4 or member.parts[-4] != _BELOW or member.read is None:
            return False
        kind, file = member.parts[-3:-1], member.parts[-1]
        if kind not in (_NODES, _CONFIGS):
            return False
        if kind == _CONFIGS and not file.startswith(_RENDERED):
            return True
        # An archive of two gatherings has an object twice.
        if (*kind, file) not in self._objects and member.size <= _OBJECT:
            packed = zlib.compress(member.read(), 1)
            if self._octets + len(packed) <= _KEPT:
                self._octets += len(packed)
                self._objects[*kind, file] = packed
        return True

    def kubelet_of(self, node: str) -> KubeletSettings:
        """Return the settings of a node's kubelet. Raises NoSettings."""
        about = self._read(*_NODES, node)
        try:
            name = str(about["metadata"]["annotations"][_ANNOTATION])
        except (KeyError, TypeError):
            raise NoSettings(
                f"Node {printable(node, 80)} has no annotation {_ANNOTATION}"
            ) from None
        document = self._read(*_CONFIGS, name)
        try:
            return kubelet_file.parse(document)
        except kubelet_file.ERRORS as error:
            where = f"MachineConfig {printable(name, 80)}"
            raise NoSettings(f"{where}: {kubelet_file.reason(error)}") from None

    def _read(self, group: str, resources: str, name: str) -> dict[str, Any]:
        path = printable(f"{_BELOW}/{group}/{resources}/{name}.yaml", 200)
        packed = self._objects.get((group, resources, f"{name}.yaml"))
        if packed is None:
            raise NoSettings(f"{path} is not in the must-gather, or too large")
        try:
            found = load_yaml(zlib.decompress(packed).decode())
        except ValueError as error:
            raise NoSettings(f"{path}: {printable(str(error), 200)}") from None
        if not isinstance(found, dict):
            raise NoSettings(f"{path}: is not an object")
        return found
