# SPDX-License-Identifier: Apache-2.0
"""Find the routing daemons of a host. They are in no folder of an ordinary PATH."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.interface import BenchError
from wirespeed.model.study.routing import Routing, RoutingDaemon
from wirespeed.remote.interface import Runner

BIRD, BIRD_CONTROL = "/usr/sbin/bird", "/usr/sbin/birdcl"
_FRR = "/usr/lib/frr"
# A BFD session of 3 x 50 ms ends where its program waits 150 ms for a CPU.
REAL_TIME = ("chrt", "--rr", "1")


def frr_program(name: str) -> str:
    return f"{_FRR}/{name}"


def _programs(routing: Routing) -> Iterator[tuple[str, str]]:
    """Yield each program that is needed with its Debian package; the BGP peer is BIRD."""
    daemon = routing.daemon
    if daemon is RoutingDaemon.FRR:
        names = ("zebra", "bgpd", "bfdd") if routing.bfd else ("zebra", "bgpd")
        yield from ((frr_program(name), "frr") for name in names)
    if daemon is not RoutingDaemon.STATIC:
        yield BIRD, "bird2"


def check_daemon(runner: Runner, routing: Routing) -> None:
    """Raise BenchError where this host lacks a program of the routing daemon."""
    lacking = [(path, package) for path, package in _programs(routing)
               if not runner.glob(path)]  # fmt: skip
    if lacking:
        packages = " ".join(dict.fromkeys(package for _, package in lacking))
        raise BenchError(
            f'routing.daemon = "{routing.daemon}": {runner.name} has no '
            f"{' and no '.join(path for path, _ in lacking)}",
            f"Install the Debian packages there: apt install {packages}",
        )


def version(runner: Runner, routing: Routing) -> dict[str, str]:
    """Return the first line that each program prints of its version."""
    found = {}
    for path, _ in _programs(routing):
        done = runner.run([path, "--version"], check=False)
        found[path] = (done.stdout or done.stderr).partition("\n")[0]
    return found
