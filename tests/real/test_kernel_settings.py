# SPDX-License-Identifier: Apache-2.0
"""Notice what somebody changes of the kernel's own forwarding, in a real network namespace."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping

import pytest

from wirespeed.bench.host.network import QUIET, inside
from wirespeed.bench.host.process import await_true
from wirespeed.bench.switch.linux import packet_filter
from wirespeed.bench.switch.linux.settings import settings
from wirespeed.explain.blame_change import hop_of
from wirespeed.model.result.change import Change
from wirespeed.remote.local import LocalRunner

pytestmark = pytest.mark.usefixtures("needs_root")

_MADE = (
    "link set lo up",
    "link add east type veth peer name west",
    "link add br0 type bridge",
    "link add slave type veth peer name other",
    "link set slave master br0",
    "link set east up",
    "link set west up",
    "route add 198.18.0.0/15 via 192.0.2.1 dev west onlink",
    "neighbour replace 192.0.2.1 lladdr 02:00:00:00:00:01 dev west nud permanent",
)


def ip(namespace: str, words: str) -> None:
    LocalRunner().run(["ip", "-n", namespace, *words.split()])


@pytest.fixture
def namespace() -> Iterator[str]:
    name = f"wstest-{os.getpid()}"
    runner = LocalRunner()
    runner.run(["ip", "netns", "add", name])
    try:
        # The kernel adds routes of its own to an interface with an IPv6 address.
        runner.run(["ip", "netns", "exec", name, "sysctl", "-q", "-w", *QUIET])
        for words in _MADE:
            ip(name, words)
        await_true(
            lambda: settings(runner, name, bridged=True)["link west, operstate"] == "UP",
            within_s=10.0, alive=lambda: None, otherwise=lambda: "the link does not come up",
        )  # fmt: skip
        yield name
    finally:
        LocalRunner().run(["ip", "netns", "del", name])


def forwarding_on(namespace: str) -> None:
    sysctl = ("sysctl", "-q", "-w", "net.ipv4.conf.west.forwarding=1")
    LocalRunner().run(["ip", "netns", "exec", namespace, *sysctl])


def address_of_bridge(namespace: str) -> None:
    words = "fdb add 02:00:00:00:00:09 dev slave master static"
    LocalRunner().run(["bridge", "-n", namespace, *words.split()])


def with_ip(words: str) -> Callable[[str], None]:
    return lambda namespace: ip(namespace, words)


CASES: Mapping[str, tuple[Callable[[str], None], str]] = {
    "route": (with_ip("route replace 198.18.0.0/15 dev east"), "route 198.18.0.0/15"),
    "neighbour": (
        with_ip("neighbour replace 192.0.2.1 lladdr 02:00:00:00:00:07 dev west nud permanent"),
        "neighbour 192.0.2.1 on west",
    ),
    "forwarding": (forwarding_on, "inet west, forwarding"),
    "mtu": (with_ip("link set west mtu 1400"), "link west, mtu"),
    "flooding": (with_ip("link set slave type bridge_slave flood off"), "link slave, flood"),
    "address": (address_of_bridge, "address 02:00:00:00:00:09 of br0"),
}


@pytest.mark.parametrize(("change", "what"), CASES.values(), ids=CASES.keys())
def test_settings_of_a_namespace_changed_by_somebody_is_reported_alone(
    namespace: str, change: Callable[[str], None], what: str
) -> None:
    runner = LocalRunner()
    before = settings(runner, namespace, bridged=True)
    assert settings(runner, namespace, bridged=True) == before
    change(namespace)
    after = settings(runner, namespace, bridged=True)
    assert {name for name in before | after if before.get(name) != after.get(name)} == {what}


_NFT = "table ip w { chain c { type filter hook forward priority 0; policy accept; }; }"


@pytest.mark.skipif(shutil.which("nft") is None, reason="needs nft (Debian package nftables)")
def test_packet_filter_rule_that_somebody_adds_is_reported_alone(namespace: str) -> None:
    runner = LocalRunner()

    def nft(words: str) -> None:
        runner.run([*inside(namespace), "nft", words])

    assert packet_filter.rules(runner, namespace) == {}
    nft(f"add {_NFT}")
    before = packet_filter.rules(runner, namespace)
    assert before is not None
    nft("add rule ip w c ip saddr 198.18.0.0/15 counter drop")
    after = packet_filter.rules(runner, namespace)
    assert after is not None
    added = "nftables chain c of ip w: ip saddr 198.18.0.0/15 counter drop"
    assert dict(after) == {**before, added: "first"}
    assert hop_of(Change(f"Linux router: {added}", "", "first")) == "switch"


def test_hop_of_a_kernel_setting_is_the_switch() -> None:
    assert hop_of(Change("Linux router: route 198.18.0.0/15", "unicast", "")) == "switch"
