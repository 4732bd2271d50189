# SPDX-License-Identifier: Apache-2.0
"""Keep a controller with an expired lease from changing a host, by a token on the host.

A lease (store/leases.py) has a token that is higher than any before it. A host keeps the highest
token that it has seen and rejects a lower one: the lease of that controller expired while it was
delayed. An accepted controller holds a lock on the host until its end. A measurement that is still
being undone on the host therefore blocks the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wirespeed.remote.interface import RemoteError, Runner

FOLDER = "/var/lib/wirespeed"


class Fenced(RemoteError):
    """Raised when this controller must not change the host. Nothing was changed."""


@contextmanager
def fenced(runner: Runner, token: int, folder: str = FOLDER) -> Iterator[None]:
    """Exclude other controllers from the host while the body runs. Raises Fenced."""
    runner.run(["mkdir", "-p", "--", folder])
    lock, fence = f"{folder}/fence.lock", f"{folder}/fence"
    _check_free(runner, lock, fence, f"by ours, {token}")
    with runner.lock(lock):
        seen = _seen(runner, fence)
        if seen > token:
            raise Fenced(
                f"{runner.name} was shown token {seen}, ours is {token}: our lease had expired, "
                "and somebody else has measured there since",
                f"Take a new lease. If the database of leases is a new one, remove {fence} there.",
            )
        if seen < token:
            # Replace the file atomically: a truncated number would let an older token pass.
            runner.write(f"{fence}.new", f"{token}\n")
            runner.run(["mv", "-f", "--", f"{fence}.new", fence])
        yield


def check_not_leased(runner: Runner, folder: str = FOLDER) -> None:
    """Raise Fenced where a lease's holder is using the host. Changes nothing."""
    lock = f"{folder}/fence.lock"
    if runner.glob(lock):  # flock would create it
        _check_free(runner, lock, f"{folder}/fence", "by this command")


def _check_free(runner: Runner, lock: str, fence: str, ours: str) -> None:
    # Runner.lock waits, and the holder may measure for hours.
    if runner.run(["flock", "--nonblock", lock, "true"], check=False).exit_code != 0:
        raise Fenced(
            f"{runner.name} is in use by the lease with token {_seen(runner, fence)}, not {ours}",
            "Wait for its end. One whose connection was cut lets go within 15 s.",
        )


def _seen(runner: Runner, fence: str) -> int:
    """Return the highest token so far; 0 where no lease was used on the host yet."""
    try:
        text = runner.read(fence).strip()
    except FileNotFoundError:
        return 0
    if not text.isdecimal():
        raise Fenced(f"{fence} on {runner.name} holds {text!r}, not a token", "Remove the file.")
    return int(text)
