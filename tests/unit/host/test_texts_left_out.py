# SPDX-License-Identifier: Apache-2.0
"""Check that a text that the facts leave out is named in their notes.

Each file, name and answer of a recorded host is replaced by a text that no kernel or program
writes. The facts keep the text, the host is refused, or a note of `HostFacts.missing` has it.
"""

from __future__ import annotations

import pytest

from tests.hosts.emulated import EMULATED
from tests.hosts.fake_runner import FakeRunner
from tests.support.effort import EXHAUSTIVE
from tests.unit.host.test_hostile_answers import (
    HOSTS,
    MARKER,
    a_command,
    a_file,
    changed,
    changes,
    outcome,
)
from wirespeed.host.collect import collect
from wirespeed.host.firmware import MODULES, read_dimms
from wirespeed.host.reader import Reader
from wirespeed.model.errors import WirespeedError
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import Recording, load

TEXT = f"$({MARKER})"
MACHINES = ("s3-r740xd", "s2-r730", "s0-compute", EMULATED) if EXHAUSTIVE else ("s3-r740xd",)
# No fact is made of them: the loopback interface, an interrupt without affinity, an Open vSwitch
# that does not run.
UNUSED = ("/sys/class/net/lo/", "/sys/kernel/irq/", "list Open_vSwitch")


def facts_of(recording: Recording) -> HostFacts | WirespeedError:
    return outcome(RecordedRunner(recording))


@pytest.mark.parametrize("machine", MACHINES)
def test_collect_text_is_kept_refused_or_named(machine: str) -> None:
    recording = load(HOSTS / machine)
    usual = collect(RecordedRunner(recording))
    dropped = []
    for name, change in changes(recording):
        other = changed(recording, change, TEXT)
        facts = facts_of(other)
        if other == recording or isinstance(facts, WirespeedError):
            continue
        if MARKER not in repr(facts) and facts.missing == usual.missing:
            dropped.append(name)
    assert [name for name in dropped if not any(word in name for word in UNUSED)] == []


@pytest.mark.parametrize(
    ("path", "fact"),
    [
        ("/proc/cpuinfo", "cpu_model"),
        ("/proc/net/ipv6_route", "default_route_interface"),
        ("/proc/net/route", "default_route_interface"),
        ("/proc/self/status", "allowed"),
        ("/etc/nova/nova.conf", "nova"),
        ("/sys/bus/pci/devices/0000:af:00.1/current_link_width", "pci"),
        ("/sys/bus/pci/devices/0000:af:00.1/max_link_speed", "pci"),
        ("/sys/bus/pci/devices/0000:af:00.1/uevent", "pci"),
        ("/sys/bus/pci/devices/0000:af:00.1/vendor", "pci"),
        ("/sys/class/net/eno4/operstate", "interfaces"),
        ("/sys/class/net/ens4f1/master/uevent", "interfaces"),
        ("/sys/devices/system/edac/mc/mc1/dimm5/dimm_location", "memory_channels"),
    ],
)
def test_collect_text_excluded_is_named(path: str, fact: str) -> None:
    recording = load(HOSTS / "s3-r740xd")
    usual = {missing.fact for missing in collect(RecordedRunner(recording)).missing}
    facts = facts_of(changed(recording, a_file(path), TEXT))
    assert isinstance(facts, HostFacts)
    assert fact in {missing.fact for missing in facts.missing} - usual


@pytest.mark.parametrize(
    ("command", "text", "fact"),
    [
        ("pmd-rxq-show", TEXT, "ovs.pmds"),
        ("dpctl/show", TEXT, "ovs.interfaces"),
        ("dpctl/show", f"  port 1: dpdk0 (dpdk: configured_rx_queues={TEXT})", "ovs.interfaces"),
    ],
)
def test_collect_answer_of_open_vswitch_excluded_is_named(
    command: str, text: str, fact: str
) -> None:
    recording = load(HOSTS / "s3-r740xd")
    number = next(n for n, c in enumerate(recording.commands) if command in " ".join(c.argv))
    facts = facts_of(changed(recording, a_command(number), text))
    assert isinstance(facts, HostFacts)
    assert MARKER in (facts.why_missing(fact) or "")


@pytest.mark.parametrize(
    "printed",
    [
        TEXT,
        f"# dmidecode 3.3\n\nHandle 1\nMemory Device\n\tLocator: A1\n\tSize: {TEXT}\n",
        "# dmidecode 3.3\n\nHandle 1\nMemory Device\n\tLocator: A1\n"
        f"\tConfigured Memory Speed: {TEXT}\n",
        f"# dmidecode 3.3\n\nHandle {MARKER}\nMemory Device\n\tSize: 8 GB\n",
    ],
)
def test_read_dimms_text_excluded_is_named(printed: str) -> None:
    host = FakeRunner()
    host.answer(MODULES, printed)
    reader = Reader(host)
    read_dimms(reader)
    assert MARKER in {missing.fact: missing.reason for missing in reader.missing}["dimms"]
