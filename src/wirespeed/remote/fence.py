# SPDX-License-Identifier: Apache-2.0
"""May this controller still change the host? The host itself remembers who came last.

A lease (store/leases.py) has a token higher than any before it. A host keeps the highest token that
it was shown, and refuses a lower one: that controller's lease expired while it was held up. Whoever
passes holds a lock there until the end, so that a measurement which is still being undone on the
host is waited for, not joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wirespeed.remote.interface import RemoteError, Runner

FOLDER = "/var/lib/wirespeed"


class Fenced(RemoteError):
    """The host must not be changed by us. Nothing was changed."""


@contextmanager
def fenced(runner: Runner, token: int, folder: str = FOLDER) -> Iterator[None]:
    """While in the body nobody else passes. Raises Fenced."""
    runner.run(["mkdir", "-p", "--", folder])
    lock, fence = f"{folder}/fence.lock", f"{folder}/fence"
    # Runner.lock waits; whoever holds it may measure for hours.
    if runner.run(["flock", "--nonblock", lock, "true"], check=False).exit_code != 0:
        raise Fenced(
            f"{runner.name} is in use by the lease with token {_seen(runner, fence)}, not by ours, "
            f"{token}",
            "Wait for its end. One whose connection was cut lets go within 15 s.",
        )
    with runner.lock(lock):
        seen = _seen(runner, fence)
        if seen > token:
            raise Fenced(
                f"{runner.name} was shown token {seen}, ours is {token}: our lease had expired, "
                "and somebody else has measured there since",
                f"Take a new lease. If the database of leases is a new one, remove {fence} there.",
            )
        if seen < token:
            # Whole or not at all: a truncated number would let an older token pass.
            runner.write(f"{fence}.new", f"{token}\n")
            runner.run(["mv", "-f", "--", f"{fence}.new", fence])
        yield


def _seen(runner: Runner, fence: str) -> int:
    """The highest token so far; 0 where no lease was used on the host yet."""
    try:
        text = runner.read(fence).strip()
    except FileNotFoundError:
        return 0
    if not text.isdecimal():
        raise Fenced(f"{fence} on {runner.name} holds {text!r}, not a token", "Remove the file.")
    return int(text)
