# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.model.study.spec import Frames, SearchKind
from wirespeed.study.errors import StudyError
from wirespeed.study.load import load_study, resolve_study
from wirespeed.study.shipped import shipped_names


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def faults(tmp_path: Path, text: str, *overrides: str) -> dict[str, str]:
    """Return the error text of each key."""
    with pytest.raises(StudyError) as error:
        load_study(write(tmp_path, text), overrides)
    return {fault.key: str(fault) for fault in error.value.faults}


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_study_loads(name: str) -> None:
    study = load_study(name)
    assert study.points
    assert study.title != name, "a shipped study asks a question in its title"


def test_an_empty_file_is_one_point_with_the_defaults(tmp_path: Path) -> None:
    (point,) = load_study(write(tmp_path, "")).points
    assert point.workload.topology.kind == "p2p"
    assert point.workload.search.kind is SearchKind.QUICK


def test_every_case_has_all_of_vary_and_the_same_point_twice_is_one(tmp_path: Path) -> None:
    text = """
    [[case]]
    "topology.kind" = "pvp"
    [[case]]
    topology.kind = "chain"
    topology.vnfs = 2
    [[case]]
    topology.kind = "pvp"
    [vary]
    "traffic.frame" = [64, 128]
    """
    points = load_study(write(tmp_path, text)).points
    assert [point.label for point in points] == [
        "pvp, 64 B", "pvp, 128 B", "chain, 64 B, vnfs 2", "chain, 128 B, vnfs 2",
    ]  # fmt: skip


def test_a_wrong_case_is_a_fault(tmp_path: Path) -> None:
    assert "[[case]]" in faults(tmp_path, "case = 3\n")["case"]
    assert "'streams'" in faults(tmp_path, '[[case]]\n"tcp.stream" = 3\n')['vary."tcp.stream"']


CASES = """
[[case]]
"topology.kind" = "pvp"
[[case]]
topology.kind = "chain"
topology.vnfs = 2
[vary]
"traffic.frame" = [64, 128]
"""


@pytest.mark.parametrize(
    ("overrides", "labels"),
    [
        (["traffic.frame=64", "topology.vnfs=3", "topology.kind=chain"], ["chain, 64 B"]),
        (
            ["traffic.frame=64", "vary.topology.vnfs=[1, 3]", "topology.kind=parallel"],
            ["parallel, 64 B, vnfs 1", "parallel, 64 B, vnfs 3"],
        ),
        (["traffic.frame=64", "traffic.flows=7"], ["pvp, 64 B", "chain, 64 B, vnfs 2"]),
    ],
)
def test_a_key_that_cases_set_is_fixed_like_one_that_is_varied(
    tmp_path: Path, overrides: list[str], labels: list[str]
) -> None:
    study = load_study(write(tmp_path, CASES), overrides)
    assert [point.label for point in study.points] == labels
    again = resolve_study(study.name, "the stored study", study.resolved)
    assert [point.id for point in again.points] == [point.id for point in study.points]


def test_a_key_both_varied_and_set_by_a_case_is_a_fault(tmp_path: Path) -> None:
    text = CASES + '"topology.vnfs" = [1, 2]\n'
    assert "[[case]]" in faults(tmp_path, text)['vary."topology.vnfs"']


def test_all_faults_are_reported_at_once_with_key_value_and_what_is_allowed(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        """
        titel = "no"
        [topology]
        kind = "ring"
        vnfs = "many"
        [traffic]
        flow = 64
        vlan_id = 4095
        [sut.impair]
        rate_fps = inf
        [search]
        pdr_loss = 2
        """,
    )
    assert set(found) == {
        "titel", "topology.kind", "topology.vnfs", "traffic.flow", "traffic.vlan_id",
        "sut.impair.rate_fps", "search.pdr_loss",
    }  # fmt: skip
    assert "'title'" in found["titel"]
    assert '"ring"' in found["topology.kind"]
    assert "pvp" in found["topology.kind"]
    assert "Did you mean 'flows'?" in found["traffic.flow"]
    assert "4095" in found["traffic.vlan_id"]
    assert "4094" in found["traffic.vlan_id"]


def test_a_key_in_the_wrong_section_is_pointed_to_its_place(tmp_path: Path) -> None:
    found = faults(tmp_path, "[search]\nrate_fps = 1e6\n")
    assert "'sut.impair.rate_fps'" in found["search.rate_fps"]


def test_a_section_that_is_no_table(tmp_path: Path) -> None:
    assert "table" in faults(tmp_path, "traffic = 3\n")["traffic"]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("traffic.frame", "60", "64..9216"),
        ("traffic.frame", "9217", "64..9216"),
        ("traffic.frame", '"imix:abz"', "'abz'"),
        ("traffic.frame", "true", "octets"),
        ("traffic.frame", "64.5", "octets"),
        ("traffic.flows", "1000001", "1000000"),
        ("topology.vnfs", "9", "8"),
        ("topology.vnfs", "2", "chain"),
        ("sut.vswitch.descriptors", "1000", "power of two"),
        ("sut.vswitch.pmd_cpus", "[1, 1]", "once"),
        ("sut.ports", '["eth0", "eth1"]', "external"),
        ("search.max_load_fps", "5000", "min_load_fps"),
        ("search.kind", '"fixed"', "load_fps"),
        ("search.kind", '"FIXED"', "'fixed'"),
    ],
)
def test_a_value_that_cannot_be_is_refused(tmp_path: Path, key: str, value: str, says: str) -> None:
    section, _, name = key.rpartition(".")
    found = faults(tmp_path, f"[{section}]\n{name} = {value}\n")
    assert says in found[key]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[traffic]\nframe = 64\nip_version = 6\nencapsulation = 'qinq'", "traffic.frame"),
        ("[traffic]\nframe = 1518\n[sut.vswitch]\nmtu = 1400", "sut.vswitch.mtu"),
        ("[traffic]\nflow_field = 'vlan'", "traffic.flow_field"),
        ("[traffic]\nflows = 70000", "traffic.flows"),
        ("[topology]\nkind = 'external'", "sut.ports"),
        ("[sut.impair]\nrate_fps = 1e6", "sut.impair"),
        ("[search]\nkind = 'rfc2544'\nmax_r = 2", "search.kind"),
        ("[search]\nload_fps = 1e6", "search.kind"),
        ("[traffic]\npcap = 'gone.pcap'", "traffic.pcap"),
    ],
)
def test_parameters_that_cannot_go_together_are_refused(
    tmp_path: Path, text: str, key: str
) -> None:
    assert key in faults(tmp_path, text)


def test_a_load_beyond_the_link_that_bounds_it_is_refused(tmp_path: Path) -> None:
    text = """
    [traffic]
    link_bps = 1e9
    link_bound = true
    [search]
    max_load_fps = 2e6
    """
    assert "carry 1,488,095 frames/s" in faults(tmp_path, text)["search.max_load_fps"]
    load_study(write(tmp_path, text), ["search.max_load_fps=1e6"])
    load_study(write(tmp_path, text), ["traffic.link_bound=false"])


def test_a_frame_large_enough_for_its_headers_is_accepted(tmp_path: Path) -> None:
    text = "[traffic]\nframe = 74\nip_version = 6\nencapsulation = 'qinq'\n"
    assert load_study(write(tmp_path, text)).points[0].workload.traffic.frame.sizes == (74,)


def test_a_capture_is_found_next_to_the_study(tmp_path: Path) -> None:
    (tmp_path / "mix.pcap").write_bytes(b"")
    study = load_study(write(tmp_path, "[traffic]\npcap = 'mix.pcap'\n"))
    assert study.points[0].workload.traffic.pcap == str(tmp_path / "mix.pcap")


def test_no_toml_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"not TOML.*line 1"):
        load_study(write(tmp_path, "kind: p2p"))


def test_a_name_that_is_not_shipped_names_the_nearest() -> None:
    with pytest.raises(BadInput) as error:
        load_study("quickstar")
    assert "'quickstart'" in error.value.next_step


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="no such study file"):
        load_study("./nowhere.toml")


class TestSet:
    def test_set_takes_toml_values_and_bare_words(self) -> None:
        study = load_study("wire", ["sut.impair.rate_fps=2_000_000", "search.kind=mrr"])
        assert study.points[0].workload.sut.impair.rate_fps == 2e6
        assert study.points[0].workload.search.kind is SearchKind.MRR

    def test_set_fixes_a_varied_key(self) -> None:
        study = load_study("quickstart", ["topology.kind=pvp", "traffic.frame=256"])
        assert [point.label for point in study.points] == ["pvp, 256 B"]

    def test_set_can_vary_a_key(self) -> None:
        study = load_study("wire", ["vary.traffic.frame=[64, 128]"])
        assert [point.label for point in study.points] == ["wire, 64 B", "wire, 128 B"]

    def test_set_is_part_of_the_resolved_study(self) -> None:
        resolved = load_study("wire", ["sut.impair.rate_fps=5e5"]).resolved
        assert resolved["sut"]["impair"]["rate_fps"] == 5e5

    def test_an_unknown_key_and_a_wrong_value_are_both_reported(self, tmp_path: Path) -> None:
        found = faults(tmp_path, "", "traffic.flow=1", "traffic.frame=1", "topology.kind")
        assert {"--set traffic.flow", "--set", "traffic.frame"} <= set(found)


GATEWAY = '[topology]\nkind = "pvp"\n[sut.vnf]\nkind = "bng"\n[bng]\nusers = 10\n'


@pytest.mark.parametrize(
    ("override", "key", "says"),
    [
        ("traffic.ip_version=6", "traffic.ip_version", "has no meaning with [bng]"),
        ("traffic.flows=5", "traffic.flows", "has no meaning with [bng]"),
        ("topology.bidirectional=true", "topology.bidirectional", "bng.direction"),
        ("topology.kind=chain", "bng", 'goes with topology.kind = "host" or "p2p" or "pvp"'),
        ("topology.kind=p2p", "topology.kind", "has no function"),
        ("sut.vnf.kind=wsdp", "sut.vnf.mode", 'must be "io"'),
        ("sut.vnf.mode=io", "sut.vnf.mode", "a gateway has no mode"),
        ("traffic.frame=9200", "traffic.frame", "9224 octets in the network"),
        ("sut.vswitch.mtu=1500", "sut.vswitch.mtu", "needs an MTU of 1524"),
        ("sut.vnf.pages=4K", "sut.vnf.pages", "a process of its own"),
        ("sut.vnf.threads=node", "sut.vnf.threads", "a process of its own"),
        ("sut.vnf.workers=17", "sut.vnf.workers", "less than or equal to 16"),
        ("bng.users=0", "bng.users", "greater than or equal to 1"),
    ],
)
def test_a_gateways_test_is_of_one_piece(
    tmp_path: Path, override: str, key: str, says: str
) -> None:
    more = ["traffic.frame=1518"] if "mtu" in override else []
    assert says in faults(tmp_path, GATEWAY, *more, override)[key]


def test_a_gateway_needs_its_table(tmp_path: Path) -> None:
    found = faults(tmp_path, '[topology]\nkind = "pvp"\n[sut.vnf]\nkind = "bng"\n')
    assert "needs the table [bng]" in found["sut.vnf.kind"]
    (point,) = load_study(write(tmp_path, GATEWAY)).points
    assert point.workload.directions == (0, 1)
    assert point.workload.wire_bytes == (78,)
    assert point.parameters["bng"]["users"] == 10


def test_frame_genome_with_prefix_is_read_and_written_again() -> None:
    [point] = load_study("wire", ["traffic.frame=imix:aag"]).points
    assert isinstance(point.workload, Frames)
    assert point.workload.traffic.frame.sizes == (64, 64, 1518)
    assert point.parameters["traffic"]["frame"] == "imix:aag"
    again = resolve_study("again", "again", point.parameters).points[0]
    assert again.key == point.key


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("abc", '"imix:abc" is the genome of 64, 128, 256 octets'),
        ("aaaaaaaddddg", "is the genome of 64, 64, 64, 64, 64, 64, 64, 512, ... octets"),
        ("jumbo", "must be octets, e.g. 64, or an IMIX genome"),
        ("imix:64", "must be octets, e.g. 64, or an IMIX genome"),
        ("imix:xyz", "letters are a=64, b=128"),
        ("other:abc", "must be octets, e.g. 64, or an IMIX genome"),
    ],
)
def test_frame_word_without_prefix_is_refused(written: str, said: str) -> None:
    with pytest.raises(StudyError) as refused:
        load_study("wire", [f"traffic.frame={written}"])
    assert f'traffic.frame = "{written}": ' in refused.value.what
    assert said in refused.value.what


@pytest.mark.parametrize(
    ("written", "said"), [("1e99", "a whole number of fewer digits"), ("many", "a whole number")]
)
def test_set_no_number_is_worded_plainly(written: str, said: str) -> None:
    with pytest.raises(StudyError, match=f"traffic.flows = .*: must be {said}\\n") as refused:
        load_study("wire", [f"traffic.flows={written}"])
    assert "parse" not in refused.value.what
