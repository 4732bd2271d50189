# SPDX-License-Identifier: Apache-2.0
"""Check a router that follows a kernel with real FRR: routes of a BGP peer until it is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dataplane.bgp_peer import ROUTES, bird, check_followed, peer_of, pull_cable
from tests.dataplane.frr import frr
from tests.dataplane.kernel_router import KernelRouter, kernel_router, know_neighbours

pytestmark = pytest.mark.root

CONFIGURATIONS = {
    "zebra": "hostname router\n",
    "bgpd": """
router bgp 65001
 bgp router-id 10.2.0.1
 no bgp ebgp-requires-policy
 neighbor 10.2.0.2 remote-as 65002
""",
}


@pytest.fixture
def router() -> Iterator[KernelRouter]:
    with kernel_router() as made:
        know_neighbours(made)
        yield made


def test_routes_of_frr_are_followed_until_the_cable_is_pulled(
    router: KernelRouter, tmp_path: Path
) -> None:
    """FRR's routes have next-hop objects; it sees that the link is gone, and takes them back."""
    before = router.figures()["routes_ipv4"]
    with (
        frr(router.router, CONFIGURATIONS),
        bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"),
    ):
        check_followed(router, before)
        pull_cable(router, before)
