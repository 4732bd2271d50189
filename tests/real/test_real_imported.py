# SPDX-License-Identifier: Apache-2.0
"""Check what is read of real programs' outputs against what is read of this machine itself."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from wirespeed.host.collect import collect
from wirespeed.host.imported.interfaces import write_interfaces
from wirespeed.host.imported.interrupts import write_actions
from wirespeed.host.imported.lspci import write_devices
from wirespeed.host.imported.sosreport import complete
from wirespeed.host.imported.source import read_imported
from wirespeed.host.kernel import read_irqs
from wirespeed.host.ovs import read_ovs
from wirespeed.host.pci import read_interfaces, read_pci
from wirespeed.host.reader import Reader
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.archived import ArchivedRunner
from wirespeed.remote.file_tree import FileTree
from wirespeed.remote.interface import Completed
from wirespeed.remote.local import LocalRunner

pytestmark = pytest.mark.usefixtures("needs_root")


def printed(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_lstopo_of_this_machine_has_its_topology(tmp_path: Path) -> None:
    program = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    assert program, "apt-get install hwloc-nox"
    path = tmp_path / "here.xml"
    before = collect(LocalRunner())
    path.write_text(printed(program, "--of", "xml", "-"), encoding="utf-8")
    here, read = collect(LocalRunner()), read_imported(path)
    assert read.host == here.host
    assert _places(read) == _places(here)
    assert {cache for cache in read.caches if cache.kind != "Instruction"} == {
        cache for cache in here.caches if cache.kind != "Instruction"
    }
    assert _memory(read) in (_memory(before), _memory(here))
    nics = {nic.address: nic.interfaces for nic in read.nics}
    assert nics == {nic.address: nic.interfaces for nic in here.nics}
    assert read.kernel.release == here.kernel.release


def _places(facts: HostFacts) -> object:
    return [(c.id, c.node, c.package, c.core, c.siblings) for c in facts.cpus if c.online]


def _memory(facts: HostFacts) -> object:
    return [
        (node.id, node.cpus, node.memory_kib, node.distances,
         sorted((pool.size_kib, pool.total) for pool in node.huge_pages))
        for node in facts.nodes
    ]  # fmt: skip


_PLUGINS = "processor,numa,memory,hardware,pci,networking,system,kernel,openvswitch,systemd"


def test_sosreport_of_this_machine_has_its_facts(tmp_path: Path) -> None:
    before = collect(LocalRunner())
    printed("sos", "report", "--batch", "--tmp-dir", str(tmp_path), "-o", _PLUGINS)
    (path,) = tmp_path.glob("sosreport-*.tar.xz")
    here, read = collect(LocalRunner()), read_imported(path)
    assert read.host == here.host
    assert read.kernel == here.kernel
    # sos does not copy which CPUs its own process may use.
    assert read.cpus == tuple(replace(cpu, allowed=True) for cpu in here.cpus)
    assert read.caches == here.caches
    # Other tests reserve pages and make interfaces meanwhile.
    assert _memory(read) in (_memory(before), _memory(here))
    assert read.vulnerabilities == here.vulnerabilities
    assert read.uncore == here.uncore
    assert read.default_route_interface == here.default_route_interface
    assert [irq.actions for irq in read.irqs or ()] == [irq.actions for irq in here.irqs or ()]
    assert _devices(read) == _devices(here)
    assert (read.ovs is None) == (here.ovs is None)
    # sos does not copy the queues of interfaces. Tests may take away the ones that they made and
    # make others of the same names.
    stayed = {replace(each, rx_queues=0, tx_queues=0)
              for each in here.interfaces
              if each in before.interfaces and not each.name.startswith(("wlnet", "wsd"))
              }  # fmt: skip
    assert stayed
    assert stayed <= set(read.interfaces)


def _devices(facts: HostFacts) -> object:
    return [
        (each.address, each.vendor, each.device, each.class_code, each.node, each.driver,
         each.interfaces, each.sriov_total, each.sriov_num, each.iommu_group)
        for each in facts.pci
    ]  # fmt: skip


def test_lspci_of_this_machine_has_its_devices() -> None:
    tree = FileTree("here")
    runner = ArchivedRunner(tree, "here", "lspci")
    for folder in tuple(write_devices(tree, printed("lspci", "-nnvv"))):
        runner.is_whole(folder)
    read, here = (read_pci(Reader(each)) for each in (runner, LocalRunner()))
    assert [replace(each, interfaces=()) for each in here] == list(read)


def test_interrupts_of_this_machine_have_the_kernels_handlers() -> None:
    tree = FileTree("here")
    tree.add("/proc/interrupts", Path("/proc/interrupts").read_text())
    write_actions(tree)
    irqs = read_irqs(Reader(LocalRunner()))
    assert irqs
    for irq in irqs:
        text = tree.find(f"/sys/kernel/irq/{irq.number}/actions")
        # An interrupt that never came is not listed.
        assert text is None or str(text).strip() == irq.actions


# The kernel tells a link's state a moment after the link is up.
_NAMESPACE = """
mount -t sysfs none /sys
ip link add name port7 mtu 9000 type veth peer name port8
ip link set port7 up
ip link set port8 up
timeout 60 sh -c 'until grep -q up /sys/class/net/port7/operstate &&
  grep -q up /sys/class/net/port8/operstate; do :; done'
ip -d address
echo ======
grep -H . /sys/class/net/*/mtu /sys/class/net/*/operstate
"""


def test_ip_address_has_the_kernels_interfaces() -> None:
    shown, _, files = printed("unshare", "-m", "-n", "sh", "-ec", _NAMESPACE).partition("======\n")
    trees = FileTree("ip"), FileTree("sys")
    write_interfaces(trees[0], shown)
    texts: dict[str, str] = {}
    for path, _, line in (line.partition(":") for line in files.splitlines()):
        texts[path] = texts.get(path, "") + f"{line}\n"
    for path, text in texts.items():
        trees[1].add(path, text)
    read, here = (read_interfaces(Reader(ArchivedRunner(tree, "x", "it")), ()) for tree in trees)
    assert read == here
    assert ("port7", 9000, True) in [(each.name, each.mtu, each.up) for each in here]


class _OfDatabase(LocalRunner):
    """Asks another database than the system's."""

    def __init__(self, socket: Path) -> None:
        super().__init__()
        self.socket = socket

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        where = [f"--db=unix:{self.socket}"] if argv[0] == "ovs-vsctl" else []
        return super().run([argv[0], *where, *argv[1:]], timeout_s=timeout_s, stdin=stdin, env=env,
                           check=check)  # fmt: skip


_SET_UP = """init
-- set Open_vSwitch . other_config:dpdk-init=true other_config:pmd-cpu-mask=0x3c
   other_config:empty='""' ovs_version=2.17.2 dpdk_initialized=true
-- add-br br-ex -- set Bridge br-ex datapath_type=netdev
-- add-bond br-ex bond-1 dpdk0 dpdk1 -- set Interface dpdk0 type=dpdk mtu_request=9000
   'options:dpdk-devargs="0000:17:00.0,representor=[0-3]"' options:n_rxq=2
-- add-br br-int -- add-port br-int 1500
-- set Interface 1500 type=dpdkvhostuserclient mtu=1500
   'options:vhost-server-path="/run/a b=\\\\c,{d}"'
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[_OfDatabase]:
    """Run a database of Open vSwitch with a bond and a vhost-user port, and no switch."""
    socket, file = tmp_path / "db.sock", tmp_path / "conf.db"
    printed("ovsdb-tool", "create", str(file), "/usr/share/openvswitch/vswitch.ovsschema")
    server = subprocess.Popen(
        ["ovsdb-server", str(file), f"--remote=punix:{socket}", f"--unixctl={tmp_path}/ctl"]
    )
    try:
        runner = _OfDatabase(socket)
        runner.run(["ovs-vsctl", "--timeout=20", "--retry", "--no-wait", *shlex.split(_SET_UP)])
        yield runner
    finally:
        server.terminate()
        server.wait(10)


def test_ovs_vsctl_list_has_what_its_json_has(database: _OfDatabase) -> None:
    tree = FileTree("sos")
    for name, words in (("list_Open_vSwitch", "list Open_vSwitch"), ("show", "show"),
                        ("list_interface", "list interface")):  # fmt: skip
        done = database.run(["ovs-vsctl", "-t", "5", *words.split()])
        tree.add(f"/sos_commands/openvswitch/ovs-vsctl_-t_5_{name}", done.stdout)
    runner = ArchivedRunner(tree, "sos", "the sosreport")
    complete(runner)
    read, here = read_ovs(Reader(runner)), read_ovs(Reader(database))
    assert here is not None
    assert read is not None
    assert read.bridges == here.bridges
    assert read.interfaces == here.interfaces
    assert read.other_config == here.other_config
    assert (read.version, read.dpdk_initialized) == (here.version, here.dpdk_initialized)
    assert {each.bond for each in here.interfaces} == {None, "bond-1"}
