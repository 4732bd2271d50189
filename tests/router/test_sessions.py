# SPDX-License-Identifier: Apache-2.0
"""Check that routing protocols survive floods of exceptions, by real FRR on both sides.

A port of its own sends the same frames all the time, as fast as this machine can: the router has to
refuse nearly all of them, and to hand its kernel every packet of a protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

from tests.dataplane.frr import Frr, frr
from tests.dataplane.kernel_router import KernelRouter, Wsdp, kernel_router
from tests.dataplane.program import DEADLINE_S

FLOOD_S = 60.0
MAC = "02:00:00:00:0f:01"
_STEP_S = 0.2


def configurations(own: int, peer: int) -> dict[str, str]:
    """Return the files of a router 10.2.0.OWN and its peer on the same cable."""
    interface = "west" if own == 1 else "eth0"
    return {
        "zebra": f"interface {interface}\n",
        "bfdd": "",
        "bgpd": f"""
router bgp {65000 + own}
 bgp router-id 10.2.0.{own}
 no bgp ebgp-requires-policy
 neighbor 10.2.0.{peer} remote-as {65000 + peer}
 neighbor 10.2.0.{peer} timers 3 9
 neighbor 10.2.0.{peer} timers connect 1
 neighbor 10.2.0.{peer} bfd
""",
        "ospfd": f"""
interface {interface}
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf bfd
router ospf
 ospf router-id 10.2.0.{own}
 network 10.2.0.0/24 area 0
""",
        "ospf6d": f"""
interface {interface}
 ipv6 ospf6 area 0
 ipv6 ospf6 hello-interval 1
 ipv6 ospf6 dead-interval 4
router ospf6
 ospf6 router-id 10.2.0.{own}
""",
    }


@dataclass(frozen=True, slots=True)
class Sessions:
    """The router's sessions with its peer."""

    daemons: Frr

    def states(self) -> dict[str, str]:
        """Return the state of each protocol; a session that was up before has another count."""
        [bgp] = self.daemons.show("bgp", "neighbors").values()
        bfd = self.daemons.show("bfd", "peers", "counters")
        ospf = self.daemons.show("ip", "ospf", "neighbor").get("neighbors", {})
        ospf6 = self.daemons.show("ipv6", "ospf6", "neighbor").get("neighbors", [])
        return {
            "BGP": f"{bgp['bgpState']} {bgp.get('connectionsDropped', 0)}",
            "BFD": " ".join(str(one["session-down"]) for one in bfd),
            "OSPF": " ".join(one["nbrState"].split("/")[0] for each in ospf.values()
                             for one in each),
            "OSPFv3": " ".join(one["state"] for one in ospf6),
        }  # fmt: skip

    def are_up(self) -> bool:
        states = self.states()
        peers = self.daemons.show("bfd", "peers")
        return (
            states["BGP"].startswith("Established") and states["OSPF"] == "Full"
            and states["OSPFv3"] == "Full" and len(peers) > 0
            and all(peer["status"] == "up" for peer in peers)
        )  # fmt: skip

    def await_up(self) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not self.are_up():
            assert time.monotonic() < deadline, self.states()
            time.sleep(_STEP_S)


@pytest.fixture
def flooded(tmp_path: Path) -> Iterator[Callable[[Packet], KernelRouter]]:
    """Return what makes a router whose third port receives a frame all the time."""
    with ExitStack() as stack:

        def make(frame: Packet) -> KernelRouter:
            flood = tmp_path / "flood.pcap"
            wrpcap(str(flood), [frame] * 32)
            return stack.enter_context(
                kernel_router(wsdp=Wsdp(third=f"net_pcap2,rx_pcap={flood},infinite_rx=1"))
            )

        yield make


FLOODS = {
    "expired": IP(src="10.3.0.2", dst="10.1.0.2", ttl=1) / UDP(dport=9),
    "to-the-router": IP(src="10.3.0.2", dst="10.3.0.1") / UDP(dport=9),
    "without-neighbour": IP(src="10.3.0.2", dst="10.1.0.77") / UDP(dport=9),
}


@pytest.mark.parametrize("kind", FLOODS)
def test_sessions_stay_up_in_a_flood(kind: str, flooded: Callable[[Packet], KernelRouter]) -> None:
    ether = Ether(src="02:00:00:00:0f:02", dst=MAC)
    router = flooded(ether / FLOODS[kind] / Raw(bytes(18)))
    with ExitStack() as stack:
        made = stack.enter_context(frr(router.router, configurations(1, 2)))
        stack.enter_context(frr(router.b.namespace, configurations(2, 1)))
        sessions = Sessions(made)
        sessions.await_up()
        before = sessions.states()
        # From here on, the frames are to the address of the interface.
        router.ip("address", "add", "10.3.0.1/24", "dev", "third")
        router.ip("link", "set", "third", "address", MAC, "up")
        _flood(router, kind)
        assert sessions.states() == before
        assert sessions.are_up()


def _flood(router: KernelRouter, kind: str) -> None:
    """Let the flood last, and print its rate."""
    begin, before = time.monotonic(), router.figures()
    while time.monotonic() < begin + FLOOD_S:
        time.sleep(_STEP_S)
    after, took = router.figures(), time.monotonic() - begin
    refused = {name: after[name] - before[name] for name in after
               if name.startswith("over_rate_")}  # fmt: skip
    print(f"\n{kind}: {(after['rx'] - before['rx']) / took / 1e6:.3f} Mpps for {took:.0f} s, "
          f"{refused}")  # fmt: skip
    assert sum(refused.values()) > 0
    assert refused["over_rate_protocol"] == 0
