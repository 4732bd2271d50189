# SPDX-License-Identifier: Apache-2.0
"""Read nftables rules from what nft prints, and tell what it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.interface import BenchError
from wirespeed.bench.switch.linux.packet_filter import parse, rules
from wirespeed.remote.interface import Completed

LISTED = "\n".join((
    "table ip filter {",
    "\tset blocked {",
    "\t\ttype ipv4_addr",
    "\t\tflags interval",
    "\t\telements = { 198.18.0.0/24,",
    "\t\t\t     198.18.7.0/24 }",
    "\t}",
    "",
    "\tset seen {",
    "\t\ttype ipv4_addr",
    "\t\tsize 65535",
    "\t\tflags dynamic,timeout",
    "\t\ttimeout 1m",
    "\t\telements = { 198.18.0.1 timeout 1m, 198.18.0.2 timeout 1m }",
    "\t}",
    "",
    "\tchain forward {",
    "\t\ttype filter hook forward priority filter; policy accept;",
    "\t\tip saddr @blocked counter drop",
    "\t\ttcp dport { 22, 80 } accept",
    "\t}",
    "",
    "\tchain later {",
    "\t}",
    "}",
    "table bridge own {",
    "\tflags dormant",
    "}",
    "",
))  # fmt: skip
CHAIN = "nftables chain forward of ip filter"


def test_parse_rules_are_named_with_the_rule_before_them() -> None:
    assert parse(LISTED) == {
        "nftables table ip filter": "there",
        "nftables set blocked of ip filter": "type ipv4_addr flags interval elements = "
        "{ 198.18.0.0/24, 198.18.7.0/24 }",
        "nftables set seen of ip filter": "type ipv4_addr size 65535 flags dynamic,timeout "
        "timeout 1m",
        CHAIN: "type filter hook forward priority filter; policy accept;",
        f"{CHAIN}: ip saddr @blocked counter drop": "first",
        f"{CHAIN}: tcp dport {{ 22, 80 }} accept": "after ip saddr @blocked counter drop",
        "nftables chain later of ip filter": "no hook",
        "nftables table bridge own": "there",
        "nftables table bridge own, flags dormant": "set",
    }


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    return {name for name in before | after if before.get(name) != after.get(name)}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("policy accept;", "policy drop;", {CHAIN}),
        ("198.18.7.0/24 }", "198.18.8.0/24 }", {"nftables set blocked of ip filter"}),
        ("198.18.0.2 timeout 1m }", "198.18.0.3 timeout 1m }", set()),
        ("\t\ttcp dport", "\t\tdrop\n\t\ttcp dport",
         {f"{CHAIN}: drop", f"{CHAIN}: tcp dport {{ 22, 80 }} accept"}),
    ],
    ids=["policy", "set", "set that traffic fills", "rule"],
)  # fmt: skip
def test_parse_a_change_differs_where_it_was_made(old: str, new: str, what: set[str]) -> None:
    assert LISTED.count(old) == 1
    assert changed(parse(LISTED), parse(LISTED.replace(old, new))) == what


def test_parse_the_same_rule_twice_has_both_places() -> None:
    twice = "table ip t {\n\tchain c {\n\t\taccept\n\t\tdrop\n\t\taccept\n\t}\n}\n"
    assert parse(twice)["nftables chain c of ip t: accept"] == "first; after drop"


class Answering(FakeHost):
    """A host whose nft answers so."""

    def __init__(self, exit_code: int, stderr: str, files: Sequence[str] = ()) -> None:
        super().__init__(dict.fromkeys(files, ""))
        self.answer = Completed((), exit_code, LISTED, stderr)
        self.asked = 0

    def run(self, argv: Sequence[str], **_options: object) -> Completed:  # type: ignore[override]
        self.asked += 1
        assert argv[-4:] == ["nft", "--stateless", "list", "ruleset"]
        return self.answer


def test_rules_where_nft_is_not_installed_are_not_known() -> None:
    assert rules(Answering(127, "nsenter: failed to execute nft"), "ns") is None


def test_rules_of_a_kernel_without_nftables_are_none() -> None:
    assert rules(Answering(1, "Error: Operation not supported"), "ns") == {}


def test_rules_that_nft_does_not_list_are_a_bench_error() -> None:
    with pytest.raises(BenchError, match="rules of ns: Error: Operation not permitted"):
        rules(Answering(1, "Error: Operation not permitted\n"), "ns")


def test_rules_of_a_module_that_is_not_loaded_are_none_and_it_stays_so() -> None:
    module = "/lib/modules/6.1.0/kernel/net/netfilter/nf_tables.ko.xz"
    unloaded, loaded = (Answering(0, "", files) for files in
                        ([module], [module, "/sys/module/nf_tables"]))  # fmt: skip
    assert (rules(unloaded, "ns"), unloaded.asked) == ({}, 0)
    assert rules(loaded, "ns") == parse(LISTED)
