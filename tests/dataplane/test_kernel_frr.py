# SPDX-License-Identifier: Apache-2.0
"""Check a router that follows a kernel with real FRR: routes of a BGP peer until it is gone."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.dataplane.bgp_peer import ROUTES, bird, check_followed, peer_of, pull_cable
from tests.dataplane.kernel_router import KernelRouter, kernel_router, know_neighbours

pytestmark = pytest.mark.root

DAEMONS = Path("/usr/lib/frr")
ZEBRA = "hostname router\n"
BGPD = """
router bgp 65001
 bgp router-id 10.2.0.1
 no bgp ebgp-requires-policy
 neighbor 10.2.0.2 remote-as 65002
"""


@contextmanager
def daemon(namespace: str, name: str, configuration: str, folder: Path) -> Iterator[None]:
    """Run a daemon of FRR in a namespace, in the foreground, with files of its own."""
    file = folder / f"{name}.conf"
    file.write_text(configuration)
    words = [
        str(DAEMONS / name), "-f", str(file), "-i", str(folder / f"{name}.pid"), "-P", "0",
        "-z", str(folder / "zserv.api"), "--vty_socket", str(folder), "-u", "frr", "-g", "frr",
        "--log", f"file:{folder / name}.log",
    ]  # fmt: skip
    with subprocess.Popen(["ip", "netns", "exec", namespace, *words]) as process:
        try:
            yield
        finally:
            process.kill()


@contextmanager
def frr(namespace: str) -> Iterator[None]:
    """Run zebra and bgpd of a router. Both drop root's rights, so that they need a folder."""
    folder = Path(tempfile.mkdtemp(prefix="ws-frr-", dir="/tmp"))
    shutil.chown(folder, "frr", "frr")
    try:
        with ExitStack() as stack:
            for name, configuration in (("zebra", ZEBRA), ("bgpd", BGPD)):
                stack.enter_context(daemon(namespace, name, configuration, folder))
            yield
    finally:
        shutil.rmtree(folder)


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
    with frr(router.router), bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"):
        check_followed(router, before)
        pull_cable(router, before)
