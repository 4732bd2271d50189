# SPDX-License-Identifier: Apache-2.0
"""Read a testbed file, and check that it has the hosts that a study needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import ErrorDetails

from wirespeed.bench.assembly.kinds import topology_of
from wirespeed.bench.topology.wiring import PORTS
from wirespeed.document.text_file import read_text_file
from wirespeed.document.toml_kind import TomlKind
from wirespeed.document.validation import MISSING, dotted, fault_of
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.frame import Encapsulation
from wirespeed.model.host.lab import Lab, LabHost, is_pci
from wirespeed.model.input.fault import Fault
from wirespeed.model.input.text import INTERFACE, HostName
from wirespeed.model.study.spec import Frames, Workload
from wirespeed.model.units import mtu_for
from wirespeed.study.errors import StudyError

_NEXT = "docs/howto/two-hosts.md shows a testbed file."
_AF_PACKET_MTU = 1500


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    hosts: Annotated[dict[HostName, LabHost], Field(min_length=1)]


def load_lab(path: Path) -> Lab:
    """Read a testbed file. Raises BadInput with all errors at once."""
    try:
        text = read_text_file(path, "utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}", _NEXT) from error
    return parse_lab(_KIND.tables(text, str(path)), str(path))


def parse_lab(raw: Mapping[str, Any], source: str) -> Lab:
    """Return the testbed that TOML data describes.

    source: name of the file in errors. Raises BadInput with all errors at once.
    """
    hosts = _KIND.parse(raw, source).hosts
    if faults := list(_faults(hosts)):
        raise faulty_file(source, [str(fault) for fault in faults], _NEXT)
    return Lab(hosts, source)


def check_hosts(workloads: Iterable[Workload], lab: Lab | None, study: str) -> tuple[str, ...]:
    """Return the testbed's hosts that these workloads need, in the order of first use.

    Raises StudyError if the testbed lacks a host, or BadInput if the file lacks a port of one.
    """
    faults: list[Fault] = []
    lacking: list[Fault] = []
    wanted: dict[str, None] = {}
    for workload in workloads:
        if (frames := workload.frames) is None:
            continue
        for role in ("generator", "sut"):
            name = getattr(frames.hosts, role)
            if name is None:
                continue
            if lab is None or name not in lab.hosts:
                faults.append(Fault(f"hosts.{role}", name, _unknown(lab)))
                continue
            wanted[name] = None
            if not frames.sut.ports:
                on_nic = bool(topology_of(frames).virtual_functions(frames))
                lacking += _ports_lacking(name, lab.hosts[name], PORTS[:1] if on_nic else PORTS)
                check = _not_by_pci if on_nic else _not_by_interfaces
                faults += check(frames, name, lab.hosts[name])
    if faults:
        raise StudyError(study, faults)
    if lab is not None and lacking:
        told = list(dict.fromkeys(str(fault) for fault in lacking))
        raise faulty_file(lab.source, told, _NEXT)
    return tuple(wanted)


def _unknown(lab: Lab | None) -> str:
    if lab is None:
        return "names a host, and there is no testbed file; give one with --lab FILE"
    return f"is no host of {lab.source}, which has {', '.join(lab.hosts)}"


def _ports_lacking(name: str, host: LabHost, wanted: Sequence[str]) -> Iterator[Fault]:
    for port in wanted:
        if port not in host.ports:
            allowed = f"lacks the port {port}: the generator's are {' and '.join(PORTS)}, and ports"
            yield Fault(f"hosts.{name}.ports", dict(host.ports),
                        f"{allowed} of the same name are cabled to each other")  # fmt: skip


def _not_by_pci(frames: Frames, name: str, host: LabHost) -> Iterator[Fault]:
    """Yield ports without a PCI address, which virtual functions need."""
    for port in PORTS:
        if port in host.ports and not is_pci(host.ports[port]):
            allowed = f"needs hosts.{name}.ports.{port} by PCI address, which is {host.ports[port]}"
            yield Fault("topology.kind", frames.topology.kind, allowed)


def _not_by_interfaces(frames: Frames, name: str, host: LabHost) -> Iterator[Fault]:
    """Yield frames that DPDK's AF_PACKET driver cannot pass.

    These are frames above its MTU, and outer tags of type 0x88a8. The kernel removes such a tag,
    and the driver restores it as 0x8100.
    """
    interfaces = [d for port, d in host.ports.items() if port in PORTS and not is_pci(d)]
    if not interfaces:
        return
    who = f"{', '.join(interfaces)} of {name}, interfaces of the kernel; name ports by PCI address"
    if (needed := mtu_for(max(frames.wire_bytes))) > _AF_PACKET_MTU:
        allowed = f"needs an MTU of {needed}; {_AF_PACKET_MTU} is the most of {who}"
        yield Fault("traffic.frame", frames.traffic.frame.text, allowed)
    tagged = "has outer tags of type 0x88a8, which would be changed by"
    if frames.traffic.encapsulation is Encapsulation.QINQ:
        yield Fault("traffic.encapsulation", "qinq", f"{tagged} {who}")
    if frames.bng is not None:
        yield Fault("bng", "(set)", f"{tagged} {who}")


def _faults(hosts: Mapping[str, LabHost]) -> Iterator[Fault]:
    """Yield errors that the types cannot express."""
    by_address: dict[str | None, str] = {}
    for name, host in hosts.items():
        first = by_address.setdefault(host.ssh, name)
        if first != name:
            where = "no ssh: both would be this machine" if host.ssh is None else "the same address"
            yield Fault(f"hosts.{name}.ssh", host.ssh or "(omitted)", f"hosts.{first} has {where}")
        if host.wsdp is not None and not host.wsdp.startswith("/"):
            yield Fault(f"hosts.{name}.wsdp", host.wsdp, "must be an absolute path on that host")
        yield from _port_faults(name, host)


def _port_faults(name: str, host: LabHost) -> Iterator[Fault]:
    devices: dict[str, str] = {}
    for port, device in host.ports.items():
        key = f"hosts.{name}.ports.{port}"
        if not is_pci(device) and not INTERFACE.fits(device):
            yield Fault(
                key, device, "must be a PCI address (0000:3b:00.0) or the name of an interface"
            )
        first = devices.setdefault(device.lower() if is_pci(device) else device, port)
        if first != port:
            yield Fault(key, device, f"is the port {first}, too")


def _fault(detail: ErrorDetails) -> Fault:
    if detail["type"] in (*MISSING, "too_short"):
        return Fault(dotted(detail["loc"]), {}, "must have at least one table [hosts.NAME]")
    known = "ssh, ports and wsdp" if len(detail["loc"]) > 2 else "[hosts.NAME] tables"
    return fault_of(detail, f"unknown key; there are {known}")


_KIND = TomlKind(_File.model_validate, _NEXT, _fault)
