# SPDX-License-Identifier: Apache-2.0
"""Let a sosreport answer what is asked of a host.

A sosreport has files of the host under their own paths, and what commands printed in sos_commands/.
It has neither /sys/bus/pci nor most of /sys/class/net; lspci, ip and ethtool printed the same.
Source: the plugins of sos 4.0 to 4.12 (processor, numa, memory, hardware, pci, networking,
openvswitch, virsh, libvirt, tuned, systemd, openstack_nova).
"""

from __future__ import annotations

import re

from wirespeed.host.cpu import SYS_CPU
from wirespeed.host.firmware import MODULES
from wirespeed.host.guests import STATUS_FOLDER, VIRSH
from wirespeed.host.imported import ovs_lists
from wirespeed.host.imported.interfaces import write_interfaces, write_owners, write_speed
from wirespeed.host.imported.lspci import write_devices
from wirespeed.host.nova import PATHS as NOVA_PATHS
from wirespeed.host.ovs import APPCTL, INTERFACE_COLUMNS, VSCTL
from wirespeed.host.owners import SERVICES, SHOW
from wirespeed.host.routes import DEFAULT_ROUTES
from wirespeed.remote.archived import ArchivedRunner
from wirespeed.remote.pci import SYS_PCI

COMMANDS = "/sos_commands"
_OVS, _NET = f"{COMMANDS}/openvswitch", f"{COMMANDS}/networking"
# Files that `collect` reads, and links to them. A sosreport has much more of /proc and /sys.
_BELOW = (
    "/proc/irq/", "/proc/sys/kernel/", "/proc/sys/vm/", "/sys/devices/", "/sys/class/net/",
    "/sys/class/dmi/", "/sys/class/iommu/", "/sys/bus/pci/", "/sys/kernel/mm/",
    "/sys/kernel/irq/", "/sys/kernel/iommu_groups/", "/sys/module/pcie_aspm/", "/etc/tuned/",
    "/usr/lib/tuned/", "/etc/nova/nova.conf.d/", f"{STATUS_FOLDER}/", f"{_OVS}/ovs-vsctl_-t_5_",
    f"{_OVS}/ovs-appctl_dp", f"{COMMANDS}/virsh/virsh_-r_", f"{_NET}/ethtool_",
)  # fmt: skip
_FILES = {
    "/proc/cmdline", "/proc/cpuinfo", "/proc/meminfo", "/proc/interrupts", "/proc/net",
    "/proc/self", *DEFAULT_ROUTES, "/etc/hostname", "/etc/os-release", "/usr/lib/os-release",
    "/boot/grub2/grubenv", "/boot/grub/grubenv", *NOVA_PATHS, f"{COMMANDS}/pci/lspci_-nnvv",
    f"{COMMANDS}/hardware/dmidecode", f"{COMMANDS}/systemd/systemctl_show_service_--all",
    f"{_NET}/ip_-d_address",
}  # fmt: skip
# /proc/net leads to a process; /boot/grub2/grubenv to EFI's partition.
_LINKED = re.compile(r"/proc/(?:[0-9]+|self)/net/(?:ipv6_)?route|/boot/efi/EFI/[^/]+/grubenv")
_SKIPPED = re.compile(r".*/statistics/.*|.*/ethtool_-.*|/sys/devices/virtual/(?:block|tty)/.*")
_ERROR = "ovs-appctl: "
_RUNNING = re.compile(r"\s*[0-9]+\s+(\S+)\s+\S.*")


def is_wanted(path: str) -> bool:
    """Return whether a path of a sosreport is read, without the archive's own folder."""
    if path in _FILES or _LINKED.fullmatch(path):
        return True
    return path.startswith(_BELOW) and not _SKIPPED.fullmatch(path)


def complete(runner: ArchivedRunner) -> None:
    """Let the outputs in sos_commands/ answer as the commands that wirespeed runs."""
    if runner.tree.has(f"{SYS_CPU}/isolated"):
        # sos copies all of this folder; `complete_cpus` notes the CPUs that it leaves out.
        runner.is_whole(SYS_CPU)
    _network(runner)
    _pci(runner)
    _ovs(runner)
    _guests(runner)
    _modules(runner)
    _services(runner)


def _printed(runner: ArchivedRunner, path: str) -> str | None:
    found = runner.tree.find(path)
    return found if isinstance(found, str) else None


def _network(runner: ArchivedRunner) -> None:
    write_interfaces(runner.tree, _printed(runner, f"{_NET}/ip_-d_address") or "")
    for name in runner.tree.names("/sys/class/net"):
        write_speed(runner.tree, name, _printed(runner, f"{_NET}/ethtool_{name}") or "")


def _pci(runner: ArchivedRunner) -> None:
    printed = _printed(runner, f"{COMMANDS}/pci/lspci_-nnvv")
    if printed is not None and not runner.tree.names(SYS_PCI):
        for folder in tuple(write_devices(runner.tree, printed)):
            runner.is_whole(folder)
        write_owners(runner.tree)


def _ovs(runner: ArchivedRunner) -> None:
    texts = [
        _printed(runner, f"{_OVS}/ovs-vsctl_-t_5_{name}")
        for name in ("list_Open_vSwitch", "show", "list_interface")
    ]
    if (texts[0] or "").startswith("ovs-vsctl: "):
        runner.fail([*VSCTL, "list", "Open_vSwitch"], texts[0] or "")
        return
    try:
        switches, shown, interfaces = (text or "" for text in texts)
        tables = ovs_lists.tables(
            ovs_lists.rows(switches), ovs_lists.bridges(shown), ovs_lists.rows(interfaces)
        )
    except ValueError:
        return
    asked = {
        "Open_vSwitch": [],
        "Bridge": ["--columns=name,datapath_type,ports"],
        "Port": ["--columns=_uuid,name,interfaces"],
        "Interface": [f"--columns={INTERFACE_COLUMNS}"],
    }
    for name, options in asked.items():
        runner.answer([*VSCTL, *options, "list", name], tables[name])
    threads = _printed(runner, f"{_OVS}/ovs-appctl_dpif-netdev.pmd-rxq-show")
    if threads is not None and _ERROR not in threads:
        runner.answer([*APPCTL, "dpif-netdev/pmd-rxq-show"], threads)
    begin = "ovs-appctl_dpctl.show_-s_"
    paths = [name for name in runner.tree.names(_OVS) if name.startswith(begin)]
    ports = "".join(_printed(runner, f"{_OVS}/{name}") or "" for name in paths)
    if ports and _ERROR not in ports:
        runner.answer([*APPCTL, "dpctl/show", "--statistics"], ports)


def _guests(runner: ArchivedRunner) -> None:
    """Prefer libvirt's own files of running domains to what virsh printed."""
    if any(name.endswith(".xml") for name in runner.tree.names(STATUS_FOLDER)):
        runner.lacks_program("virsh")
        return
    listed = _printed(runner, f"{COMMANDS}/virsh/virsh_-r_list_--all")
    if listed is None or "---" not in listed:
        return
    names = [found[1] for line in listed.split("\n") if (found := _RUNNING.fullmatch(line))]
    runner.answer([*VIRSH, "list", "--name"], "\n".join(names) + "\n")
    for name in names:
        file = re.sub(r"[^\w\-.]+", "_", f"virsh_-r_dumpxml_{name}")
        document = _printed(runner, f"{COMMANDS}/virsh/{file}")
        if document is not None:
            runner.answer([*VIRSH, "dumpxml", "--domain", name], document)


def _modules(runner: ArchivedRunner) -> None:
    printed = _printed(runner, f"{COMMANDS}/hardware/dmidecode")
    if printed is not None and printed.startswith("# dmidecode"):
        title, *tables = printed.split("\n\n")
        kept = [title, *(table for table in tables if ", DMI type 17," in table)]
        runner.answer(MODULES, "\n\n".join(kept))


def _services(runner: ArchivedRunner) -> None:
    """Answer for SERVICES; systemd shows the units that it has loaded, and no other is active."""
    printed = _printed(runner, f"{COMMANDS}/systemd/systemctl_show_service_--all")
    if printed is None or "\nActiveState=" not in printed:
        return
    states = {}
    for block in printed.split("\n\n"):
        keys = dict(line.split("=", 1) for line in block.split("\n") if "=" in line)
        states[keys.get("Id", "")] = keys.get("ActiveState", "")
    units = [f"{name}.service" for name in SERVICES]
    shown = [f"Id={unit}\nActiveState={states.get(unit) or 'inactive'}" for unit in units]
    runner.answer(SHOW, "\n\n".join(shown) + "\n")
