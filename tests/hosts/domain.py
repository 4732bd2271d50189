# SPDX-License-Identifier: Apache-2.0
"""Write the libvirt XML of a described guest, as `virsh dumpxml` prints it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Domain:
    """A guest."""

    name: str
    vcpus: int
    memory_mib: int
    pins: dict[int, int] = field(default_factory=dict)
    """CPU of each vCPU."""
    emulator: str | None = None
    node: int | None = None
    huge_pages: bool = True
    vhost: tuple[tuple[str, int], ...] = ()
    """(socket path, number of queues) of each port."""
    vfs: tuple[str, ...] = ()
    """PCI addresses of the passed-through VFs."""
    flavor: str = "nfv"
    specs: dict[str, str] | None = None
    """Extra specs of the flavor in Nova's metadata; None where Nova does not write them."""

    def xml(self) -> str:
        return f"""<domain type='kvm' id='1'>
  <name>{self.name}</name>
{self._metadata()}  <memory unit='KiB'>{self.memory_mib * 1024}</memory>
  <vcpu placement='static'>{self.vcpus}</vcpu>
{self._backing()}{self._tuning()}  <cpu mode='host-model'/>
  <devices>
{self._devices()}  </devices>
</domain>
"""

    def _metadata(self) -> str:
        if self.specs is None:
            return ""
        specs = "".join(
            f"          <nova:extraSpec name='{key}'>{value}</nova:extraSpec>\n"
            for key, value in self.specs.items()
        )
        return f"""  <metadata>
    <nova:instance xmlns:nova='http://openstack.org/xmlns/libvirt/nova/1.1'>
      <nova:flavor name='{self.flavor}' id='1'>
        <nova:memory>{self.memory_mib}</nova:memory>
        <nova:vcpus>{self.vcpus}</nova:vcpus>
        <nova:extraSpecs>
{specs}        </nova:extraSpecs>
      </nova:flavor>
    </nova:instance>
  </metadata>
"""

    def _backing(self) -> str:
        if not self.huge_pages:
            return ""
        return (
            "  <memoryBacking><hugepages><page size='1048576' unit='KiB' nodeset='0'/></hugepages>"
            "</memoryBacking>\n"
        )

    def _tuning(self) -> str:
        pins = "".join(
            f"    <vcpupin vcpu='{vcpu}' cpuset='{cpu}'/>\n" for vcpu, cpu in self.pins.items()
        )
        emulator = f"    <emulatorpin cpuset='{self.emulator}'/>\n" if self.emulator else ""
        memory = (
            f"  <numatune><memory mode='strict' nodeset='{self.node}'/></numatune>\n"
            if self.node is not None
            else ""
        )
        return (f"  <cputune>\n{pins}{emulator}  </cputune>\n" if pins else "") + memory

    def _devices(self) -> str:
        ports = "".join(
            f"    <interface type='vhostuser'><source type='unix' path='{path}' mode='server'/>"
            f"<model type='virtio'/><driver queues='{queues}'/></interface>\n"
            for path, queues in self.vhost
        )
        return ports + "".join(f"    {_hostdev(address)}\n" for address in self.vfs)


def _hostdev(address: str) -> str:
    domain, bus, rest = address.split(":")
    slot, function = rest.split(".")
    source = (
        f"<address type='pci' domain='0x{domain}' bus='0x{bus}' slot='0x{slot}' "
        f"function='0x{function}'/>"
    )
    return f"<interface type='hostdev' managed='yes'><source>{source}</source></interface>"
