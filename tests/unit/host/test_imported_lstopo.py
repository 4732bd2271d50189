# SPDX-License-Identifier: Apache-2.0
"""Check the host that an XML of lstopo describes, and what is refused in such a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.host.imported.source import read_imported
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import Cache, HugePagePool
from wirespeed.model.host.finding import Status


def _node(number: int, first: int) -> str:
    """Return a package with a NUMA node, and a core of two threads in one L3 cache."""
    cpus = f'cpuset="0x{5 << first:x}" nodeset="0x{1 << number}"'
    units = "".join(
        f'<object type="PU" os_index="{cpu}" cpuset="0x{1 << cpu:x}"/>'
        for cpu in (first, first + 2)
    )
    return f"""<object type="Package" os_index="{number}" {cpus}>
      <info name="CPUModel" value="Intel(R) Xeon(R) Gold 6230N CPU"/>
      <object type="NUMANode" os_index="{number}" {cpus} local_memory="68719476736">
        <page_type size="4096" count="16252928"/>
        <page_type size="2097152" count="0"/><page_type size="1073741824" count="{2 + number}"/>
      </object>
      <object type="L3Cache" {cpus} cache_size="28835840" depth="3" cache_type="0">
        <object type="L1Cache" {cpus} cache_size="32768" depth="1" cache_type="1">
          <object type="Core" os_index="{7 + number}" {cpus}>{units}</object>
        </object>
      </object>
      <object type="Bridge" bridge_type="0-1">
        <object type="PCIDev" pci_busid="0000:{number}7:00.0" pci_link_speed="7.876923"
          pci_type="0200 [8086:158b] [8086:0000] 02">
          <object type="OSDev" name="ens{number}f0" osdev_type="NET"/>
          <object type="OSDev" name="irdma{number}" osdev_type="3"/>
        </object>
      </object>
    </object>"""


def lstopo_xml(version: str = "2.0", network: str = "2") -> str:
    """Return the topology of two packages, each with a NUMA node and a NIC."""
    infos = '<info name="HostName" value="c7"/><info name="OSRelease" value="5.14.0-427.el9"/>'
    body = _node(0, 0) + _node(1, 1)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="{version}">
  <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x3">{infos}
    {body.replace("NET", network)}
  </object>
  <distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
    <indexes length="4">0 1 </indexes><u64values length="12">10 21 21 10 </u64values>
  </distances2>
</topology>
"""


def _write(folder: Path, text: str) -> Path:
    path = folder / "c7.lstopo"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("version", "network"), [("2.0", "2"), ("3.0", "16")])
def test_lstopo_has_cpus_caches_nodes_and_nics(tmp_path: Path, version: str, network: str) -> None:
    facts = read_imported(_write(tmp_path, lstopo_xml(version, network)))
    assert (facts.host, facts.kernel.release) == ("c7", "5.14.0-427.el9")
    assert facts.cpu_model == "Intel(R) Xeon(R) Gold 6230N CPU"
    places = [(c.id, c.node, c.package, c.core, c.siblings) for c in facts.cpus]
    assert places == [
        (0, 0, 0, 7, (0, 2)), (1, 1, 1, 8, (1, 3)), (2, 0, 0, 7, (0, 2)), (3, 1, 1, 8, (1, 3)),
    ]  # fmt: skip
    assert Cache(3, "Unified", 28160, (0, 2)) in facts.caches
    assert Cache(1, "Data", 32, (1, 3)) in facts.caches
    assert [node.memory_kib for node in facts.nodes] == [64 << 20, 64 << 20]
    assert [node.distances for node in facts.nodes] == [(10, 21), (21, 10)]
    assert facts.nodes[1].pool(1 << 20) == HugePagePool(1 << 20, 3, 0)
    nics = [(d.address, d.vendor, d.device, d.node, d.interfaces) for d in facts.nics]
    assert nics == [
        ("0000:07:00.0", "8086", "158b", 0, ("ens0f0",)),
        ("0000:17:00.0", "8086", "158b", 1, ("ens1f0",)),
    ]


def test_lstopo_notes_what_it_cannot_have(tmp_path: Path) -> None:
    facts = read_imported(_write(tmp_path, lstopo_xml()))
    for fact in ("free_memory", "governors", "pci", "kernel", "ovs", "irqs"):
        assert "the XML of lstopo" in (facts.why_missing(fact) or ""), fact
    assert facts.why_missing("cpus") is None


def test_lstopo_audit_claims_nothing_of_what_is_unknown(tmp_path: Path) -> None:
    report = audit(Subject(read_imported(_write(tmp_path, lstopo_xml()))), all_rules())
    failed = [each.rule for each in report.findings if each.status is Status.FAILED]
    # The nodes have two and three pages of 1 GiB.
    assert failed == ["WS26"]
    found = {each.rule: each.found for each in report.findings}
    assert found["WS27"] == (
        "needs the free memory of each node: the XML of lstopo has no free memory"
    )


def test_lstopo_cpus_that_it_was_not_allowed_are_noted(tmp_path: Path) -> None:
    hidden = lstopo_xml().replace('complete_cpuset="0xf"', 'complete_cpuset="0x1,0xf"')
    facts = read_imported(_write(tmp_path, hidden))
    assert facts.why_missing("cpus") == "lstopo was not allowed to use CPUs 32"


def test_lstopo_set_of_several_words_is_read_by_32_bits(tmp_path: Path) -> None:
    far = lstopo_xml().replace('os_index="3" cpuset="0x8"', 'os_index="35" cpuset="0x8,0x0"')
    far = far.replace('cpuset="0xa"', 'cpuset="0x8,0x2"')
    facts = read_imported(_write(tmp_path, far))
    assert facts.siblings(35) == (1, 35)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
         '<!DOCTYPE topology [<!ENTITY a "b">]>', "declarations inside its document type"),
        ('<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
         '<!DOCTYPE topology [<!ENTITY % x SYSTEM "file:///etc/shadow"> %x;]>', "declarations"),
        ('version="2.0"', 'version="1.11"', "not a topology of hwloc 2 or later"),
        ("<topology", "<plist", "is not XML"),
        ("</topology>", "", "is not XML"),
        ('os_index="3"', 'os_index="-3"', "not a whole number"),
        ('os_index="3"', 'os_index="99999999"', "numbered up to 65535"),
        ('cpuset="0xa"', 'cpuset="0xfffffffff"', "is not a set of numbers"),
        ('cpuset="0xa"', f'cpuset="{"0x0," * 9}0x1{",0x0" * 9999}"', "is not a set of numbers"),
        ('type="PU"', 'type="pu"', "has 0 PUs"),
    ],
)  # fmt: skip
def test_lstopo_bad_file_is_one_clear_error(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_imported(_write(tmp_path, lstopo_xml().replace(old, new)))
    assert said in raised.value.what
    assert raised.value.what.startswith(f"{tmp_path}/c7.lstopo: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<a>" * 200_000, "nested more than 50 deep"),
        ("<a>" + "<b/>" * 200_001, "more than 200000 elements"),
        ("<a>" + "x" * (2 << 20), "a text of more than"),
        ("<!-- nothing -->", "is not XML"),
        ("<html></html>", "is <html> of version 1"),
    ],
)
def test_xml_without_end_is_bounded(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_imported(_write(tmp_path, text))


def test_xml_of_laughing_entities_is_refused_before_they_are_expanded(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(20))
    with pytest.raises(BadInput, match="declarations inside its document type"):
        read_imported(_write(tmp_path, f"<!DOCTYPE a [{entities}]><a>&l19;</a>"))
