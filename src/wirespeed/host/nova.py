# SPDX-License-Identifier: Apache-2.0
"""Read what this host's nova.conf sets for CPUs, PCI devices, filters and the CPU mode.

The file is read as oslo.config reads it: sections, repeated keys (device_spec, alias), continuation
lines by indentation, drop-ins after the main file. Source: Nova's configuration reference.
"""

from __future__ import annotations

import re
from collections import defaultdict

from wirespeed.host.reader import Reader
from wirespeed.model.cpuset import parse_list
from wirespeed.model.host.guest_facts import NovaFacts
from wirespeed.model.input.fault import show

# TripleO's containers mount the first path; packages and DevStack use the others.
PATHS = (
    "/var/lib/config-data/puppet-generated/nova_libvirt/etc/nova/nova.conf",
    "/etc/nova/nova.conf",
    "/etc/nova/nova-cpu.conf",
)
DROP_INS = "/etc/nova/nova.conf.d/*.conf"
_ASSIGNMENT = re.compile("([^=:]+)[=:](.*)")

# Values by (section, key), in file order.
Options = dict[tuple[str, str], list[str]]


def read_nova(reader: Reader) -> NovaFacts | None:
    """Return the relevant settings of nova.conf; None where it is absent or unreadable."""
    found = _read(reader)
    return None if found is None else _facts(reader, *found)


def management_address(reader: Reader) -> str | None:
    """Return this host's address in the cloud (my_ip), or None where it is not set."""
    found = _read(reader)
    told = found[1].get(("DEFAULT", "my_ip")) if found else None
    return told[-1] if told else None


def _read(reader: Reader) -> tuple[str, Options] | None:
    """Return the path of nova.conf, and its options with those of the drop-ins."""
    for path in PATHS:
        text = reader.text(path, "nova")
        if text is not None:
            extra = reader.many([DROP_INS], "nova") if path.startswith("/etc/nova/") else {}
            options: Options = defaultdict(list)
            for name, content in {path: text, **extra}.items():
                for line in parse_oslo(content, options):
                    reader.lacks("nova", f"{name}: {show(line)} is no option with a value")
            return path, options
    return None


def parse_oslo(text: str, options: Options) -> list[str]:
    """Add all values of an oslo.config file; comments and blank lines are skipped.

    Returns the lines that oslo.config would refuse: neither a section nor an option with a value.
    """
    section, last, refused = "DEFAULT", ("", ""), []
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        if line[0].isspace() and last in options:
            options[last][-1] += " " + stripped
        elif stripped.startswith("[") and stripped.endswith("]"):
            section, last = stripped[1:-1].strip(), ("", "")
        elif found := _ASSIGNMENT.fullmatch(stripped):
            last = (section, found[1].strip())
            options[last].append(found[2].strip())
        else:
            refused.append(stripped)
    return refused


def _facts(reader: Reader, path: str, options: Options) -> NovaFacts:
    def last(*names: tuple[str, str]) -> str | None:
        found = [values[-1] for name in names if (values := options.get(name))]
        return found[0] if found else None

    def cpus(section: str, key: str) -> tuple[int, ...] | None:
        text = last((section, key))
        try:
            return parse_list(text) if text else None
        except ValueError as fault:
            reader.fault(f"{path} [{section}] {key}", str(fault))
            return None

    filters = last(
        ("filter_scheduler", "enabled_filters"), ("DEFAULT", "scheduler_default_filters")
    )
    reserved = last(("DEFAULT", "reserved_host_memory_mb"))
    return NovaFacts(
        path=path,
        dedicated_cpus=cpus("compute", "cpu_dedicated_set"),
        shared_cpus=cpus("compute", "cpu_shared_set"),
        vcpu_pin_set=cpus("DEFAULT", "vcpu_pin_set"),
        enabled_filters=_words(filters) if filters is not None else None,
        device_specs=tuple(
            options.get(("pci", "device_spec"), [])
            + options.get(("pci", "passthrough_whitelist"), [])
            + options.get(("DEFAULT", "pci_passthrough_whitelist"), [])
        ),
        aliases=tuple(
            options.get(("pci", "alias"), []) + options.get(("DEFAULT", "pci_alias"), [])
        ),
        cpu_mode=last(("libvirt", "cpu_mode")),
        cpu_models=_words(last(("libvirt", "cpu_models"), ("libvirt", "cpu_model")) or ""),
        cpu_extra_flags=_words(last(("libvirt", "cpu_model_extra_flags")) or ""),
        reserved_memory_mib=reader.count("nova", f"{path} reserved_host_memory_mb", reserved),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
