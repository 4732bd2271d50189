# SPDX-License-Identifier: Apache-2.0
"""Join a network namespace to the current one by a veth pair with a network of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

# Networks of 256 addresses in 198.18.0.0/15, RFC 2544's range for benchmarks.
_NETWORKS = 512


@contextmanager
def veth_network(namespace: str, interface: str) -> Iterator[str]:
    """Add an interface to a namespace; yield the first three octets of the network behind it.

    Address 1 of the network is in the current namespace, address 2 on the interface.
    """
    number = _claimed(namespace, interface)
    network = f"198.{18 + (number >> 8)}.{number & 255}"
    inside = ("-n", namespace)
    try:
        _ip("address", "add", f"{network}.1/24", "dev", _name(number))
        _ip("link", "set", _name(number), "up")
        _ip(*inside, "address", "add", f"{network}.2/24", "dev", interface)
        _ip(*inside, "link", "set", interface, "up")
        yield network
    finally:
        # Not by the name here: after the end of the namespace it may be another's.
        subprocess.run(
            ["ip", *inside, "link", "delete", interface], capture_output=True, check=False
        )


def _claimed(namespace: str, interface: str) -> int:
    """Create the pair; return the number of a network that no one else has.

    The number is in the name of the interface in the current namespace. The kernel refuses a name
    that exists, so tests that run at the same time get different networks.
    """
    # Benches use the lowest networks.
    for number in reversed(range(_NETWORKS)):
        said = _said("link", "add", _name(number), "type", "veth",
                     "peer", "name", interface, "netns", namespace)  # fmt: skip
        if not said:
            return number
        if "File exists" not in said:
            raise RuntimeError(f"{interface} of {namespace}: {said}")
    raise RuntimeError(f"{interface} of {namespace}: all {_NETWORKS} networks are in use")


def _name(number: int) -> str:
    return f"wlnet{number}"


def _ip(*words: str) -> None:
    if said := _said(*words):
        raise RuntimeError(f"ip {' '.join(words)}: {said}")


def _said(*words: str) -> str:
    """Run ip(8); return the reason of a failure, empty after success."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"
