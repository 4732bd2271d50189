# SPDX-License-Identifier: Apache-2.0
"""Test that hosts of the same hardware form a group, and that changes are differences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.fleet_hosts import BIOS, alike, recorded, snapshot
from wirespeed.fleet.comparison import compare
from wirespeed.fleet.groups import Difference
from wirespeed.fleet.words import worth_a_look
from wirespeed.model.host.facts import Dimm, HostFacts
from wirespeed.model.host.finding import Status
from wirespeed.model.host.operating_system import OperatingSystem


def one_odd(facts: HostFacts) -> tuple[Difference, ...]:
    """Return the differences of a host with these facts among nine usual ones."""
    (group,) = compare([*alike(9), snapshot("odd", facts, audited=False)]).groups
    assert len(group.hosts) == 10
    return group.differences


def slower_dimm() -> HostFacts:
    first, *rest = recorded().dimms
    return replace(recorded(), dimms=(replace(first, speed_mts=2133), *rest))


def without_smt() -> HostFacts:
    """Return a server whose BIOS has SMT off, as the kernel shows it: without siblings."""
    facts = recorded()
    kept = tuple(
        replace(cpu, siblings=(cpu.id,)) for cpu in facts.cpus if cpu.id == min(cpu.siblings)
    )
    return replace(facts, cpus=kept)


@pytest.mark.parametrize(
    ("facts", "trait", "value", "usual"),
    [
        (slower_dimm(), "DIMM A1", "16 GiB at 2133 MT/s", "16 GiB at 2666 MT/s"),
        (
            replace(recorded(), dimms=(Dimm("A1", 0), *recorded().dimms[1:])),
            "DIMM A1", "empty", "16 GiB at 2666 MT/s",
        ),
        (without_smt(), "SMT", "off", "on"),
        (
            replace(recorded(), firmware=replace(BIOS, bios_version="2.4.8")),
            "BIOS", "2.4.8 of 07/09/2021", "2.12.2 of 07/09/2021",
        ),
        (replace(recorded(), firmware=replace(BIOS, turbo=False)), "turbo", "off", "on"),
        (
            replace(recorded(), kernel=replace(recorded().kernel, release="5.4.0")),
            "kernel", "5.4.0", recorded().kernel.release,
        ),
    ],
)  # fmt: skip
def test_the_outlier_is_named(facts: HostFacts, trait: str, value: str, usual: str) -> None:
    found = {one.trait: one for one in one_odd(facts)}
    assert found[trait] == Difference(trait, usual, 9, ((value, ("odd",)),))


def test_distribution_of_an_outlier_is_named() -> None:
    ubuntu, sles = (
        replace(recorded(), operating_system=OperatingSystem(name, (), version, label))
        for name, version, label in (("ubuntu", "24.04", "Ubuntu"), ("sles", "15.6", "SLES"))
    )
    (group,) = compare([*alike(9, ubuntu), snapshot("odd", sles, audited=False)]).groups
    [found] = group.differences
    assert (found.trait, found.usual) == ("distribution", "Ubuntu 24.04")
    assert found.others == (("SLES 15.6", ("odd",)),)


def test_disk_names_and_free_memory_are_no_difference() -> None:
    facts = recorded()
    kernel = replace(facts.kernel, cmdline=f"{facts.kernel.cmdline} root=UUID=4711 resume=/dev/sdx")
    nodes = tuple(replace(node, free_kib=node.free_kib // 2) for node in facts.nodes)
    assert one_odd(replace(facts, host="another", kernel=kernel, nodes=nodes)) == ()


def test_other_hardware_is_a_group_apart_that_says_what_it_has_otherwise() -> None:
    facts = recorded()
    nics = [d for d in facts.pci if d.device == "158b"]
    assert len(nics) == 8
    fewer = replace(facts, pci=tuple(d for d in facts.pci if d not in nics[:1]))
    first, second = compare([*alike(3), snapshot("odd", fewer, audited=False)]).groups
    assert [len(first.hosts), len(second.hosts)] == [3, 1]
    assert second.apart == f"7 x PCI 8086:158b where {first.hardware} has 8 x PCI 8086:158b"
    other = compare([*alike(3), snapshot("old", recorded("s0-compute"), audited=False)]).groups
    assert other[1].apart == ""


def test_virtual_functions_are_not_hardware() -> None:
    facts = recorded()
    vf = replace(facts.pci[0], address="0000:ff:00.1", physical_function=facts.pci[0].address)
    assert one_odd(replace(facts, pci=(*facts.pci, vf))) == ()


def test_without_a_majority_no_value_is_usual() -> None:
    old = replace(recorded(), firmware=replace(BIOS, bios_version="2.4.8"))
    (group,) = compare([*alike(2), *alike_named("b", old, 2)]).groups
    (difference,) = group.differences
    assert difference.usual is None
    assert [names for _, names in difference.others] == [
        ("host-000", "host-001"), ("b-0", "b-1"),
    ]  # fmt: skip


def alike_named(name: str, facts: HostFacts, count: int) -> list:  # type: ignore[type-arg]
    return [snapshot(f"{name}-{n}", facts, audited=False) for n in range(count)]


def test_few_odd_hosts_are_worth_a_look_many_are_not() -> None:
    old = replace(recorded(), firmware=replace(BIOS, bios_version="2.4.8"))
    assert any(
        "BIOS" in told for told in worth_a_look(compare([*alike(19), *alike_named("b", old, 2)]))
    )
    assert not list(worth_a_look(compare([*alike(19), *alike_named("b", old, 8)])))


def test_the_worst_finding_of_a_rule_is_its_verdict() -> None:
    (host,) = compare([snapshot("one", recorded())]).hosts
    audited = snapshot("one", recorded()).audit
    assert audited is not None
    failed = {finding.rule for finding in audited.with_status(Status.FAILED)}
    assert failed
    assert {r for r, v in host.verdicts.items() if v.status is Status.FAILED} == failed
    assert set(host.verdicts) == {finding.rule for finding in audited.findings}
