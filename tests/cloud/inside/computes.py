# SPDX-License-Identifier: Apache-2.0
"""Run one real nova-compute process for each simulated host, forked after Nova was imported.

Argument: a JSON file with `hosts` (see simulated_host.document), each with `configs` (files of
nova.conf), `log` and `domains` and `plugged` (directories). The document that libvirt
would get is written to domains/UUID.xml; when Nova has plugged a port, plugged/PORT is made. What a
machine without libvirt and these devices cannot do is replaced as in Nova's own functional tests.
"""

import io
import json
import os
import sys
from os import fork, waitpid  # before eventlet replaces them
from pathlib import Path
from unittest import mock

import nova.cmd.compute
from nova.tests import fixtures as nova_fixtures
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.virt.libvirt import config as vconfig

_SPECIAL_NAMES = {"pni": "sse3", "sse4_1": "sse4.1", "sse4_2": "sse4.2"}


class Device:
    """A PCI device as libvirt describes it."""

    is_capable_of_mdevs = False

    def __init__(self, spec, vfs):
        self.spec, self.vfs = spec, vfs
        self.address = spec["address"]
        self.mac_address = "52:54:00:1e:59:c6"

    @property
    def name(self):
        return "pci_" + self.address.replace(":", "_").replace(".", "_")

    @property
    def pci_device(self):
        spec = self.spec
        domain, bus, rest = self.address.split(":")
        slot, function = rest.split(".")
        capability = {
            "PF": _capability("virt_functions", self.vfs),
            "VF": _capability("phys_function", [spec["parent"]] if spec["parent"] else []),
        }.get(spec["type"], "")
        numa = "" if spec["node"] is None else f"<numa node='{spec['node']}'/>"
        return (
            f"<device><name>{self.name}</name><parent>computer</parent>"
            f"<capability type='pci'><domain>{int(domain, 16)}</domain><bus>{int(bus, 16)}</bus>"
            f"<slot>{int(slot, 16)}</slot><function>{int(function, 16)}</function>"
            f"<product id='0x{spec['product']}'>device</product>"
            f"<vendor id='0x{spec['vendor']}'>vendor</vendor>{capability}{numa}"
            "</capability></device>"
        )

    def XMLDesc(self, flags):  # libvirt's name
        return self.pci_device


def _capability(kind, addresses):
    inner = "".join(
        "<address domain='0x{}' bus='0x{}' slot='0x{}' function='0x{}'/>".format(
            *address.replace(".", ":").split(":")
        )
        for address in addresses
    )
    return f"<capability type='{kind}'>{inner}</capability>"


def pci_info(spec):
    made = fakelibvirt.HostPCIDevicesInfo(num_pfs=0, num_vfs=0)
    for each in spec["devices"]:
        vfs = [d["address"] for d in spec["devices"] if d["parent"] == each["address"]]
        device = Device(each, sorted(vfs))
        made.devices[device.name] = device
    return made


def host_info(spec):
    nodes = spec["nodes"]
    made = fakelibvirt.HostInfo(kB_mem=sum(node["memory_kib"] for node in nodes))
    made.cpus = sum(len(node["cpus"]) for node in nodes)
    made.cpu_nodes = len(nodes)
    made.cpu_sockets = 1
    made.cpu_threads = spec["threads"]
    made.cpu_cores = made.cpus // len(nodes) // spec["threads"]
    made.numa_topology = vconfig.LibvirtConfigCapsNUMATopology()
    for node in nodes:
        cell = vconfig.LibvirtConfigCapsNUMACell()
        cell.id, cell.memory = node["id"], node["memory_kib"]
        cell.mempages = fakelibvirt.create_mempages(node["pages"])
        for each in node["cpus"]:
            cpu = vconfig.LibvirtConfigCapsNUMACPU()
            cpu.id, cpu.socket_id, cpu.core_id = each["id"], each["socket"], each["core"]
            cpu.siblings = set(each["siblings"])
            cell.cpus.append(cpu)
        made.numa_topology.cells.append(cell)
    return made


class Connection(fakelibvirt.Connection):
    """Simulated libvirt connection with the host's CPU features; memory in MiB, as in getInfo."""

    features = ()

    def getInfo(self):
        info = super().getInfo()
        info[1] //= 1024
        return info

    def baselineCPU(self, cpu, flag):
        features = "".join(f"<feature policy='require' name='{f}'/>" for f in self.features)
        return (
            "<cpu mode='custom' match='exact'><model>Penryn</model><vendor>Intel</vendor>"
            f"{features}</cpu>"
        )


def connect(spec):
    made = Connection(
        "qemu:///system", host_info=host_info(spec), pci_info=pci_info(spec),
        hostname=spec["host"],
    )  # fmt: skip
    made.features = [_SPECIAL_NAMES.get(flag, flag) for flag in spec["flags"]]
    return made


def replace_the_machine(spec):
    """Replace the answers of libvirt, sysfs and the disk."""
    # Its threads end with the process; nothing is undone.
    nova_fixtures.LibvirtImageBackendFixture().setUp()
    nova_fixtures.CGroupsFixture().setUp()
    nova_fixtures.LibvirtFixture().setUp()
    nova_fixtures.OSBrickFixture().setUp()
    by_address = {device["address"]: device for device in spec["devices"]}

    def is_pf(domain, bus, slot, function):
        return by_address.get(f"{domain}:{bus}:{slot}.{function}", {}).get("type") == "PF"

    def vf_product(address):
        return next(d["product"] for d in spec["devices"] if d["parent"] == address)

    def ids(address):
        return by_address[address]["vendor"], by_address[address]["product"]

    connection = connect(spec)
    cpus = {cpu["id"] for node in spec["nodes"] for cpu in node["cpus"]}
    driver = "nova.virt.libvirt.LibvirtDriver"
    for name, value in {
        f"{driver}._create_image": mock.Mock(return_value=(False, False)),
        f"{driver}._get_local_gb_info": lambda *_: {"total": 20000, "used": 0, "free": 20000},
        "nova.virt.libvirt.driver.libvirt_utils.is_valid_hostname": lambda name: True,
        "nova.virt.libvirt.driver.libvirt_utils.file_open": lambda *a, **k: io.BytesIO(b""),
        "nova.privsep.utils.supports_direct_io": lambda path: True,
        "nova.virt.libvirt.host.Host.get_online_cpus": lambda self: cpus,
        "nova.virt.libvirt.host.Host.get_connection": lambda self: connection,
        "nova.pci.utils.is_physical_function": is_pf,
        "nova.pci.utils.get_vf_product_id_by_pf_addr": vf_product,
        "nova.pci.utils.get_pci_ids_by_pci_addr": ids,
    }.items():
        mock.patch(name, value).start()


def write_what_happens(spec):
    domains, plugged = Path(spec["domains"]), Path(spec["plugged"])
    first_init = fakelibvirt.Domain.__init__
    driver = nova.virt.libvirt.vif.LibvirtGenericVIFDriver
    first_plug = driver.plug

    def init(self, connection, xml, *args, **kwargs):
        first_init(self, connection, xml, *args, **kwargs)
        text = xml if isinstance(xml, str) else xml.decode()
        _write(domains / f"{self.UUIDString()}.xml", text)

    def plug(self, instance, vif):
        first_plug(self, instance, vif)
        _write(plugged / vif["id"], spec["host"])

    fakelibvirt.Domain.__init__ = init
    driver.plug = plug


def _write(path, text):
    partial = path.with_name(f".{path.name}")
    partial.write_text(text)
    partial.rename(path)


def be_a_compute(spec):
    log = os.open(spec["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["nova-compute", *(f"--config-file={path}" for path in spec["configs"])]
    replace_the_machine(spec)
    write_what_happens(spec)
    nova.cmd.compute.main()


if __name__ == "__main__":
    hosts = json.loads(Path(sys.argv[1]).read_text())["hosts"]
    for each in hosts:
        if fork() == 0:
            be_a_compute(each)
            os._exit(0)
    # One that ends ends all: somebody waits for this process.
    pid, status = waitpid(-1, 0)
    sys.exit(f"the compute with pid {pid} ended with status {status}")
