# SPDX-License-Identifier: Apache-2.0
"""Read a kubelet's configuration, as `kubectl get --raw .../configz` or `oc get` prints it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from wirespeed.document.text_file import read_text_file
from wirespeed.host.kubelet_documents import configuration, read_document
from wirespeed.model.cpuset import parse_list
from wirespeed.model.errors import BadInput
from wirespeed.model.input.text import printable
from wirespeed.model.plan.kubelet import (
    MOST_NUMA_NODES,
    CpuOption,
    KubeletSettings,
    NodeMemory,
    TopologyPolicy,
    TopologyScope,
)
from wirespeed.model.plan.quantity import whole

Choice = TypeVar("Choice", bound=StrEnum)
ERRORS = (KeyError, TypeError, ValueError, AttributeError)
_MOST = "max-allowable-numa-nodes"
_NEXT = "Write it with `kubectl get --raw /api/v1/nodes/NODE/proxy/configz > FILE`."


def load(path: Path) -> KubeletSettings:
    """Return the settings that decide where containers run. Raises BadInput."""
    try:
        return parse(read_document(read_text_file(path)))
    except OSError as error:
        raise BadInput(f"kubelet file {path} cannot be read: {error.strerror}", _NEXT) from error
    except ERRORS as error:
        raise BadInput(f"kubelet file {path}: {reason(error)}", _NEXT) from None


def parse(document: Any) -> KubeletSettings:
    """Return the settings of a document that `kubelet_documents` knows.

    An empty policy is the default one, as for the kubelet. Raises one of ERRORS for another
    document, and for a value that no kubelet of 1.34 has.
    """
    found = configuration(document)
    options = found.get("cpuManagerPolicyOptions") or {}
    topology = found.get("topologyManagerPolicyOptions") or {}
    return KubeletSettings(
        reserved_cpus=parse_list(found.get("reservedSystemCPUs") or ""),
        static_cpus=_is_static("cpuManagerPolicy", found, ("none", "static")),
        cpu_options=frozenset(
            _one_of(CpuOption, "cpuManagerPolicyOptions", name)
            for name, on in options.items()
            if _is_on(on)
        ),
        static_memory=_is_static("memoryManagerPolicy", found, ("None", "Static")),
        reserved_memory=tuple(
            NodeMemory(_count("numaNode", entry["numaNode"]), whole(size), _page_kib(kind))
            for entry in found.get("reservedMemory") or ()
            for kind, size in sorted(entry["limits"].items())
        ),
        topology=_one_of(
            TopologyPolicy, "topologyManagerPolicy", found.get("topologyManagerPolicy") or "none"
        ),
        scope=_one_of(
            TopologyScope, "topologyManagerScope", found.get("topologyManagerScope") or "container"
        ),
        prefer_closest=_is_on(topology.get("prefer-closest-numa-nodes", "false")),
        most_numa_nodes=_count(_MOST, topology.get(_MOST, MOST_NUMA_NODES)),
    )


def _one_of(kind: type[Choice], key: str, value: object) -> Choice:
    if value not in list(kind):
        raise ValueError(f"{key}: {value!r} is not known; known are: {', '.join(kind)}")
    return kind(str(value))


def _is_static(key: str, found: Mapping[str, Any], known: tuple[str, str]) -> bool:
    default, static = known
    value = found.get(key) or default
    if value not in known:
        raise ValueError(f"{key}: {value!r} is not known; known are: {', '.join(known)}")
    return bool(value == static)


def _count(key: str, value: object) -> int:
    """Return a number of NUMA nodes, which Kubernetes writes as a number or a text."""
    if not re.fullmatch("[0-9]{1,4}", str(value)):
        raise ValueError(f"{key}: {value!r} is not a number from 0 to 9999")
    return int(str(value))


def _is_on(value: object) -> bool:
    return str(value).lower() in ("true", "1", "t")


def _page_kib(kind: str) -> int:
    if kind == "memory":
        return 0
    return whole(kind.removeprefix("hugepages-")) >> 10


def reason(error: Exception) -> str:
    """Complete "FILE: ..." for one of ERRORS."""
    match error:
        case KeyError():
            return f"has no {error}"
        case UnicodeDecodeError():
            return "is not UTF-8"
        case ValueError():
            return printable(str(error), 300)
    return "a value is of another type than the kubelet's configuration has"
