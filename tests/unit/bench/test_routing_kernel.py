# SPDX-License-Identifier: Apache-2.0
"""Check when a kernel counts as having all routes of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from wirespeed.bench.routing.kernel import RouterNamespace
from wirespeed.model.study.spec import Routing
from wirespeed.remote.interface import Completed
from wirespeed.remote.local import LocalRunner

# /proc/net/fib_triestat and rt6_stats, shortened; the tries of main and local are one.
STATISTICS = """\
Basic info: size of leaf: 48 bytes, size of tnode: 40 bytes.
Main:
	Leaves:         14
	Prefixes:       1014
	Internal nodes: 12
Local:
	Prefixes:       1014
0009 0006 03f1 00c8 0000 0000 010d
"""


class Answering(LocalRunner):
    """A host whose commands all print this text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,  # noqa: ARG002
        stdin: str | None = None,  # noqa: ARG002
        env: Mapping[str, str] | None = None,  # noqa: ARG002
        check: bool = True,  # noqa: ARG002
    ) -> Completed:
        return Completed(tuple(argv), 0, self._text, "")


def test_prefixes_are_read_from_the_statistics_of_the_kernel() -> None:
    assert RouterNamespace(Answering(STATISTICS), "r").prefixes() == {4: 1014, 6: 200}


def test_interfaces_without_carrier_are_those_that_are_up_and_say_so() -> None:
    text = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT\\    link/loopback
2: east: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP\\    link/ether
3: west: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc fq_codel state DOWN\\    link/ether
4: bgp: <BROADCAST,MULTICAST,UP> mtu 1500 qdisc fq_codel state UP\\    link/ether
5: bgp1: <NO-CARRIER,BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state DOWN\\    link/ether
"""
    assert RouterNamespace(Answering(text), "r").without_carrier() == ("west", "bgp", "bgp1")


@pytest.mark.parametrize(
    ("ecmp", "printed", "complete"),
    [
        (1, "200 0", True),
        (1, "199 0", False),
        (1, "201 0", False),
        (2, "200 400", True),
        (2, "200 398", False),
        (2, "200 0", False),
    ],
)
def test_routes_are_complete_with_all_next_hops(ecmp: int, printed: str, complete: bool) -> None:
    router = RouterNamespace(Answering(f"{printed}\n"), "r")
    found = router.complete(4, Routing(ipv4=200, next_hops=2, ecmp=ecmp))
    assert found == (int(printed.split(maxsplit=1)[0]), complete)
