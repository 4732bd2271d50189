# SPDX-License-Identifier: Apache-2.0
"""Read one node of an OpenShift must-gather.

`oc adm must-gather` with performance data has a folder nodes/NAME/ of each node. sysinfo.tgz in it
is a snapshot of some files of /proc and /sys; lspci has the rest of the PCI devices. The kubelet's
settings are in the cluster's objects. Source: gather_ppc and gather_ppc_single_node of
openshift/must-gather 4.9 to 4.21, gather-sysinfo of the cluster-node-tuning-operator.
"""

from __future__ import annotations

import io

from wirespeed.host.imported.keeper import keep
from wirespeed.host.imported.lspci import write_devices
from wirespeed.host.imported.machine_configs import MachineConfigs
from wirespeed.host.imported.sosreport import is_wanted
from wirespeed.model.errors import BadInput
from wirespeed.model.input.text import printable
from wirespeed.remote.archive import NEXT, Budget, Member
from wirespeed.remote.archived import ArchivedRunner

_FOLDER, SNAPSHOT, _PCI = "nodes", "sysinfo.tgz", "lspci"
# In octets: one snapshot, packed, and all files that are kept. One of 112 CPUs has 360 kB.
_PACKED, _TEXT, _KEPT = 64 << 20, 1 << 20, 128 << 20
# Longest list of nodes in an error.
_NAMED = 20


class Nodes:
    """The nodes of an archive; keeps the files of the wanted one alone.

    wanted: name of a node, or None for the only one.
    """

    def __init__(self, name: str, wanted: str | None) -> None:
        self._name, self._wanted = name, wanted
        self._names: dict[str, None] = {}
        self._files: dict[tuple[str, str], bytes] = {}
        self._octets = 0
        self.machine_configs = MachineConfigs()

    def __bool__(self) -> bool:
        return bool(self._names)

    def take(self, member: Member) -> bool:
        """Note the node whose file this is, and keep the file if it is read.

        Returns False for another file.
        """
        if self.machine_configs.take(member):
            return True
        if len(member.parts) < 3 or member.parts[-3] != _FOLDER or member.read is None:
            return False
        node, file = member.parts[-2:]
        if file not in (SNAPSHOT, _PCI):
            return False
        if file == SNAPSHOT:
            self._names[node] = None
        limit = _PACKED if file == SNAPSHOT else _TEXT
        is_first = self._wanted is None and list(self._names) in ([], [node])
        if member.size <= limit and (node == self._wanted or is_first):
            # Of a node that is not the only one nothing is read.
            self._octets += member.size
            if self._octets > _KEPT:
                raise BadInput(f"{self._name}: more than {_KEPT >> 20} MiB of nodes", NEXT)
            self._files[node, file] = member.read()
        return True

    def open(self, budget: Budget) -> ArchivedRunner:
        """Return the wanted node, or the only one. Raises BadInput, which names all nodes."""
        names = sorted(self._names)
        node = self._wanted or names[0]
        if node not in names or (self._wanted is None and len(names) > 1):
            shown = ", ".join(printable(name, 80) for name in names[:_NAMED])
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            what = f"has no node {node}" if self._wanted else f"has {len(names)} nodes"
            raise BadInput(f"{self._name}: {what}", f"Give --node with one of: {shown}{more}.")
        if (node, SNAPSHOT) not in self._files:
            size = _PACKED >> 20
            raise BadInput(f"{self._name}: {SNAPSHOT} of {node} is over {size} MiB", NEXT)
        where = f"{self._name}: {SNAPSHOT} of {printable(node, 80)}"
        tree = keep(io.BytesIO(self._files[node, SNAPSHOT]), where, budget, is_wanted)
        runner = ArchivedRunner(tree, node, "the must-gather")
        devices = self._files.get((node, _PCI), b"").decode(errors="replace")
        for folder in tuple(write_devices(tree, devices)):
            runner.is_whole(folder)
        return runner
