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
from scapy.layers.inet import UDP
from scapy.packet import Raw

from tests.dataplane.kernel_router import (
    KernelRouter,
    frame_to,
    is_to,
    kernel_router,
    know_neighbours,
    run,
)
from tests.dataplane.test_kernel_bird import await_true, bird, peer_of, prefix

pytestmark = pytest.mark.root

DAEMONS = Path("/usr/lib/frr")
ROUTES = 2000
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
        await_true(lambda: router.figures()["routes_ipv4"] >= before + ROUTES, router)
        router.settle()
        for number in (0, ROUTES // 2, ROUTES - 1):
            destination = prefix(number).removesuffix("/32")
            router.a.send(frame_to(router, destination) / UDP(dport=9) / Raw(b"x" * 100))
            assert router.b.receive(is_to(destination)).dst == router.b.mac
        run("ip", "-n", router.b.namespace, "link", "set", "eth0", "down")
        await_true(lambda: router.figures()["routes_ipv4"] <= before, router)
