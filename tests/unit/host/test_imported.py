# SPDX-License-Identifier: Apache-2.0
"""Check that a host is read alike from a recording, a sosreport and a must-gather of it."""

from __future__ import annotations

import io
import re
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hosts import record, sosreport
from tests.hosts.sosreport import To
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.host.collect import collect
from wirespeed.host.imported.keeper import keep
from wirespeed.host.imported.sosreport import is_wanted
from wirespeed.host.imported.source import open_imported, read_imported
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Status
from wirespeed.remote.archive import Budget
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recorder import Recorder
from wirespeed.remote.recording import load

RECORDING = load(Path(record.__file__).parent / "s2-r730")
WHOLE = collect(RecordedRunner(RECORDING))
SOS = sosreport.sosreport(RECORDING, WHOLE)


@pytest.fixture(params=["r730.tar.xz", "r730.tar.gz", "r730.tar.bz2"])
def facts(request: pytest.FixtureRequest, tmp_path: Path) -> HostFacts:
    return read_imported(sosreport.write(tmp_path / request.param, SOS))


def test_sosreport_has_the_facts_of_its_host(facts: HostFacts) -> None:
    assert facts.host == WHOLE.host
    assert facts.cpus == WHOLE.cpus
    assert facts.nodes == WHOLE.nodes
    assert facts.caches == WHOLE.caches
    assert facts.kernel == WHOLE.kernel
    assert facts.pci == WHOLE.pci
    assert facts.ovs == WHOLE.ovs
    assert facts.guests == WHOLE.guests
    assert facts.irqs == WHOLE.irqs
    # sos does not copy the queues of interfaces.
    queueless = tuple(replace(each, rx_queues=0, tx_queues=0) for each in WHOLE.interfaces)
    assert facts.interfaces == queueless


def test_sosreport_services_without_a_unit_are_not_active(facts: HostFacts) -> None:
    assert facts.services is not None
    assert [each.name for each in facts.services if each.active] == ["irqbalance"]


def test_sosreport_with_the_error_of_ovs_vsctl_has_no_openvswitch(tmp_path: Path) -> None:
    error = "ovs-vsctl: unix:/run/openvswitch/db.sock: database connection failed (No such file)\n"
    pack = {**SOS, "/sos_commands/openvswitch/ovs-vsctl_-t_5_list_Open_vSwitch": error}
    facts = read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))
    assert facts.ovs is None
    assert facts.why_missing("ovs") is None


@pytest.mark.parametrize(
    ("title", "known"),
    [("Displaying last 60 seconds pmd usage %\n", True),
     ("ovs-appctl: cannot read pidfile \"/run/openvswitch/ovs-vswitchd.pid\"\n", False)],
)  # fmt: skip
def test_sosreport_pmd_threads_are_known_unless_ovs_appctl_failed(
    tmp_path: Path, title: str, known: bool
) -> None:
    file = "/sos_commands/openvswitch/ovs-appctl_dpif-netdev.pmd-rxq-show"
    pack = {**SOS, file: title + str(SOS[file]) * known}
    facts = read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))
    assert WHOLE.ovs is not None
    assert facts.ovs is not None
    assert facts.ovs.pmds == (WHOLE.ovs.pmds if known else None)
    assert (facts.why_missing("ovs.pmds") is None) is known


def test_sosreport_lacks_only_the_cpus_of_workqueues_of_housekeeping(tmp_path: Path) -> None:
    files = {
        "/proc/sys/kernel/nmi_watchdog": "0\n", "/proc/sys/vm/stat_interval": "10\n",
        "/proc/sys/kernel/sched_rt_runtime_us": "-1\n",
        "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]\n",
        "/sys/kernel/mm/ksm/run": "0\n", "/sys/devices/system/cpu/isolated": "2-3\n",
        "/sys/module/pcie_aspm/parameters/policy": "[default] performance\n",
    }  # fmt: skip
    path = sosreport.write(tmp_path / "a.tar.gz", {**SOS, **files})
    report = audit(Subject(read_imported(path)), all_rules())
    found = {each.rule: (each.status, each.found) for each in report.findings}
    assert found["WS58"][0] is not Status.NOT_CHECKED
    assert found["WS63"][0] is Status.NOT_CHECKED
    assert found["WS63"][1].startswith("needs the CPUs of unbound workqueues: /sys/devices/")


def test_sosreport_without_openvswitch_has_its_reason(tmp_path: Path) -> None:
    pack = {path: text for path, text in SOS.items() if "openvswitch" not in path}
    facts = read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))
    assert facts.ovs is None
    assert facts.why_missing("ovs") == (
        "the sosreport has no output of `ovs-vsctl --timeout=5 --format=json list Open_vSwitch`"
    )


def test_sosreport_libvirt_status_files_are_preferred(tmp_path: Path) -> None:
    domain = next(c.stdout for c in RECORDING.commands if "vnf10" in c.argv)
    pack = {**SOS, "/run/libvirt/qemu/vnf10.xml": f"<domstatus>{domain}</domstatus>"}
    facts = read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))
    assert [guest.name for guest in facts.guests or ()] == ["vnf10"]
    assert facts.why_missing("guests") is None


def test_sosreport_lspci_without_root_leaves_links_unknown(tmp_path: Path) -> None:
    denied = (
        "04:00.0 Ethernet controller [0200]: Intel X [8086:1583]\n\tCapabilities: <access denied>\n"
    )
    pack = {**SOS, "/sos_commands/pci/lspci_-nnvv": denied}
    facts = read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))
    assert [device.address for device in facts.pci] == ["0000:04:00.0"]
    assert "current_link_width is not in the sosreport" in (facts.why_missing("pci") or "")


def test_sosreport_of_64_cpu_folders_takes_the_others_from_cpuinfo(tmp_path: Path) -> None:
    gone = {f"/sys/devices/system/cpu/cpu{cpu}/" for cpu in (3, 9)}
    pack = {path: text for path, text in SOS.items() if not path.startswith(tuple(gone))}
    blocks = [
        f"processor\t: {c.id}\nphysical id\t: {c.package}\ncore id\t\t: {c.core}\n"
        for c in WHOLE.cpus
    ]
    pack["/proc/cpuinfo"] = "model name\t: x\n" + "\n".join(blocks)
    facts = read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))
    places = [(c.id, c.package, c.core, c.siblings) for c in facts.cpus]
    assert places == [(c.id, c.package, c.core, c.siblings) for c in WHOLE.cpus]
    assert facts.why_missing("governors") == "the sosreport has no folder of CPUs 3,9"


def test_sosreport_cpu_without_a_place_is_an_error(tmp_path: Path) -> None:
    pack = {path: text for path, text in SOS.items() if "/cpu3/" not in path}
    with pytest.raises(BadInput, match="the sosreport has no topology of CPUs 3"):
        read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))


def test_sosreport_masks_passwords(tmp_path: Path) -> None:
    pack = {**SOS, "/etc/nova/nova.conf": "[compute]\ncpu_dedicated_set = 2-5\npassword = s3cret\n"}
    path = sosreport.write(tmp_path / "a.tar.gz", pack)
    runner = open_imported(path).runner
    assert runner.read("/etc/nova/nova.conf").endswith("password = ***\n")
    nova = read_imported(path).nova
    assert nova is not None
    assert nova.dedicated_cpus == (2, 3, 4, 5)


def test_sosreport_files_that_are_asked_for_are_kept() -> None:
    """Fails where a reader of hosts gets a new path: add it to what is kept of a sosreport."""
    recorder = Recorder(RecordedRunner(RECORDING))
    collect(recorder)
    asked = recorder.recording
    named = re.compile(r"\[0-9\]\*|\*")
    paths = [*asked.files, *asked.absent, *(named.sub("7", glob) for glob in asked.globs)]
    assert [path for path in paths if not is_wanted(path)] == ["/proc/self/status"]


def test_audit_of_a_sosreport_says_why_a_rule_was_not_checked(facts: HostFacts) -> None:
    report = audit(Subject(facts), all_rules())
    unchecked = [each for each in report.findings if each.status is Status.NOT_CHECKED]
    assert unchecked
    assert [each.found for each in unchecked if not each.found] == []
    whole = audit(Subject(WHOLE), all_rules())
    failed = {each.rule for each in whole.findings if each.status is Status.FAILED}
    found = {each.rule for each in report.findings if each.status is Status.FAILED}
    assert found <= failed
    assert found


@pytest.mark.parametrize("name", ["mg.tar.gz", "mg.tar.xz"])
def test_must_gather_has_the_facts_of_its_node(tmp_path: Path, name: str) -> None:
    pack = sosreport.must_gather(tmp_path, RECORDING, WHOLE, ["w1.example", "w2.example"])
    path = sosreport.write(tmp_path / name, pack, top="must-gather.local.1")
    facts = read_imported(path, "w2.example")
    assert facts.host == "w2.example"
    assert facts.caches == WHOLE.caches
    assert facts.pci == tuple(replace(device, interfaces=()) for device in WHOLE.pci)
    assert facts.irqs == WHOLE.irqs
    places = [(c.id, c.package, c.core, c.siblings) for c in facts.cpus]
    assert places == [(c.id, c.package, c.core, c.siblings) for c in WHOLE.cpus]
    assert facts.why_missing("governors") == "the must-gather has no folder cpufreq of any CPU"
    findings = audit(Subject(facts), all_rules()).findings
    (bonds,) = (each for each in findings if each.rule == "WS45")
    assert bonds.found.startswith("needs the network interfaces: ")
    assert "isolated is not in the must-gather" in (facts.why_missing("kernel") or "")


def test_must_gather_with_several_nodes_names_them(tmp_path: Path) -> None:
    pack = sosreport.must_gather(tmp_path, RECORDING, WHOLE, ["w1", "w2"])
    path = sosreport.write(tmp_path / "mg.tar.gz", pack, top="must-gather.local.1")
    with pytest.raises(BadInput, match="has 2 nodes") as raised:
        read_imported(path)
    assert raised.value.next_step == "Give --node with one of: w1, w2."
    with pytest.raises(BadInput, match="has no node w3"):
        read_imported(path, "w3")


def test_must_gather_with_one_node_needs_no_name(tmp_path: Path) -> None:
    pack = sosreport.must_gather(tmp_path, RECORDING, WHOLE, ["w1"])
    path = sosreport.write(tmp_path / "mg.tar.gz", pack, top="must-gather.local.1")
    assert read_imported(path).host == "w1"


def test_snapshot_of_gather_sysinfo_is_read_by_itself(tmp_path: Path) -> None:
    path = sosreport.write(tmp_path / "w1.tgz", sosreport.snapshot(RECORDING, WHOLE), top="")
    facts = read_imported(path)
    assert len(facts.cpus) == len(WHOLE.cpus)
    assert {device.address for device in facts.pci} == {device.address for device in WHOLE.pci}


def test_sosreport_with_a_node_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--node names a node of a must-gather"):
        read_imported(sosreport.write(tmp_path / "a.tar.gz", SOS), "w1")


def test_archive_link_chain_reaches_a_file(tmp_path: Path) -> None:
    pack = {**SOS, "/proc/cmdline": To("../sys/devices/one"), "/sys/devices/two": "quiet, two\n",
            "/sys/devices/one": To("/sys/devices/two")}  # fmt: skip
    facts = read_imported(sosreport.write(tmp_path / "a.tar.gz", pack))
    assert facts.kernel.cmdline == "quiet, two"


def test_archive_hard_link_is_a_file_that_was_kept_before() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        about = tarfile.TarInfo("sos/proc/cmdline")
        about.size = 6
        archive.addfile(about, io.BytesIO(b"quiet\n"))
        targets = ("sos/proc/cmdline", "/etc/shadow", "sos/../../etc/shadow", "sos/proc/meminfo")
        for number, target in enumerate(targets):
            link = tarfile.TarInfo(f"sos/proc/irq/{number}")
            link.type, link.linkname = tarfile.LNKTYPE, target
            archive.addfile(link)
    tree = keep(io.BytesIO(file.getvalue()), "a.tar", Budget(), is_wanted)
    assert tree.names("/proc/irq") == ("0",)
    assert tree.find("/proc/irq/0") == "quiet\n"
