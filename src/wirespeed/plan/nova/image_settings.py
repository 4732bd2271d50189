# SPDX-License-Identifier: Apache-2.0
"""Merge the settings of an image's properties into a VNF, and find contradictions to its keys.

S1 shows image properties as an alternative to flavor keys. The rules are Nova's: the existing
properties, and those allowed next to a flavor key (nova/virt/hardware.py, release 34). The VNF's
table is changed in place: settings that only the image makes are added.
"""

from __future__ import annotations

from typing import Any

from wirespeed.model.cpuset import parse_list
from wirespeed.model.input.fault import ABSENT, Fault
from wirespeed.plan.nova.image_properties import unknown_property

# Image property -> the VNF's key with the same meaning.
_PLAIN = {
    "hw_cpu_policy": "cpu_policy",
    "hw_cpu_thread_policy": "thread_policy",
    "hw_pci_numa_affinity_policy": "pci_numa_policy",
}
# (property, flavor's value, image's value) for which Nova uses the flavor's. With any other
# difference it refuses the guest or ignores the image.
_FLAVOR_WINS = {
    ("hw_cpu_policy", "dedicated", "shared"),
    ("hw_cpu_policy", "dedicated", "mixed"),
    ("hw_cpu_policy", "mixed", "shared"),
}
_REFUSED = {
    "hw_numa_mempolicy": "no Nova has it (S1 shows it); memory is strict with pinned CPUs",
    "hw_cpu_threads_policy": "Nova's name is hw_cpu_thread_policy (S0 and S1 misspell it)",
    "hw_cpu_dedicated_mask": "Nova reads it from the flavor only; write dedicated_cpus",
    "hw_emulator_threads_policy": "Nova reads it from the flavor only; write emulator_policy",
}


def merge_image_settings(vnf: dict[str, Any], where: str) -> list[Fault]:
    """Merge vnf["image_properties"] into the VNF's table and return the errors."""
    properties = vnf.get("image_properties")
    if not isinstance(properties, dict):
        return []
    faults: list[Fault] = []
    vnf["image_properties"] = {key: _text(value) for key, value in properties.items()}
    properties = vnf["image_properties"]
    for key, value in properties.items():
        if why := _REFUSED.get(key) or unknown_property(key):
            faults.append(Fault(f"{where}.image_properties.{key}", value, why))
    for key, meant in _PLAIN.items():
        if key in properties:
            _plain(vnf, where, key, meant, faults)
    if "hw_numa_nodes" in properties:
        _whole(vnf, where, "hw_numa_nodes", "numa_nodes", faults)
    if "hw_vif_multiqueue_enabled" in properties:
        _boolean(vnf, where, "hw_vif_multiqueue_enabled", "multiqueue", faults)
    if "hw_mem_page_size" in properties:
        _page(vnf, where, faults)
    _numbered(vnf, where, faults)
    return faults


def _plain(vnf: dict[str, Any], where: str, key: str, meant: str, faults: list[Fault]) -> None:
    flavor, image = vnf.get(meant), vnf["image_properties"][key]
    if flavor is None:
        vnf[meant] = image
    elif flavor != image and (key, flavor, image) not in _FLAVOR_WINS:
        faults.append(
            Fault(f"{where}.image_properties.{key}", image, f"contradicts {meant} = {flavor!r}")
        )


def _whole(vnf: dict[str, Any], where: str, key: str, meant: str, faults: list[Fault]) -> None:
    image = vnf["image_properties"][key]
    path = f"{where}.image_properties.{key}"
    if meant in vnf:
        faults.append(Fault(path, image, f"Nova forbids it together with {meant}; keep one"))
    elif not image.isdecimal() or int(image) < 1:
        faults.append(Fault(path, image, "must be a whole number from 1"))
    else:
        vnf[meant] = int(image)


def _boolean(vnf: dict[str, Any], where: str, key: str, meant: str, faults: list[Fault]) -> None:
    image = vnf["image_properties"][key]
    path = f"{where}.image_properties.{key}"
    if image not in ("true", "false"):
        faults.append(Fault(path, image, "must be true or false"))
    elif vnf.get(meant, image == "true") != (image == "true"):
        faults.append(Fault(path, image, f"contradicts {meant} = {vnf[meant]!r}"))
    else:
        vnf[meant] = image == "true"


def _page(vnf: dict[str, Any], where: str, faults: list[Fault]) -> None:
    """Merge the page size: an image may only narrow a flavor's "large" or "any"."""
    image = vnf["image_properties"]["hw_mem_page_size"]
    path = f"{where}.image_properties.hw_mem_page_size"
    if vnf.get("page_size") not in ("large", "any"):
        faults.append(Fault(path, image, 'Nova needs page_size = "large" or "any" here'))
    elif image not in ("small", "large", "any") and not image.isdecimal():
        faults.append(Fault(path, image, 'must be KiB, "small", "large" or "any"'))
    else:
        vnf["page_size"] = image


def _numbered(vnf: dict[str, Any], where: str, faults: list[Fault]) -> None:
    """Merge hw_numa_cpus.N and hw_numa_mem.N; Nova stops reading at the first missing N."""
    properties = vnf["image_properties"]
    for prefix, meant in (("hw_numa_cpus.", "numa_cpus"), ("hw_numa_mem.", "numa_memory_mib")):
        found = sorted(key for key in properties if key.startswith(prefix))
        if not found:
            continue
        path = f"{where}.image_properties.{found[0]}"
        if meant in vnf:
            faults.append(Fault(path, ABSENT, f"Nova forbids it together with {meant}; keep one"))
            continue
        expected = [f"{prefix}{n}" for n in range(len(found))]
        if set(found) != set(expected):
            faults.append(Fault(path, ABSENT, f"must be numbered {', '.join(expected)}"))
            continue
        try:
            texts = [properties[key] for key in expected]
            values = [parse_list(t) if meant == "numa_cpus" else int(t) for t in texts]
        except ValueError as error:
            faults.append(Fault(path, ABSENT, str(error)))
            continue
        vnf[meant] = values


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
