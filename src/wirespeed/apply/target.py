# SPDX-License-Identifier: Apache-2.0
"""Reach a host to change it: as root, one apply at a time, with free disk space."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from wirespeed.apply.journal import LOCK
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import LOCALHOST, HostUnreachable, RemoteError, Runner

# Free space in KiB; the journal, the facts before and GRUB's menu are far smaller.
ROOM_KIB = 4096
_FOLDERS = ("/var/lib", "/etc", "/boot")


class Refused(WirespeedError):
    """Raised when the host must not be changed now, or not by this user. Nothing was changed."""


class Reach(Protocol):
    def __call__(self, address: str, *, sudo: bool) -> AbstractContextManager[Runner]: ...


@contextmanager
def open_target(reach: Reach, address: str) -> Iterator[Runner]:
    """Yield the host as root; over ssh with `sudo -n` where the login is another user's.

    Raises Refused where root is not available, HostUnreachable.
    """
    with reach(address, sudo=False) as runner:
        user = runner.run(["id", "-u"]).stdout.strip()
        if user == "0":
            yield runner
            return
    if address == LOCALHOST:
        raise Refused(f"user {user} may not change this machine", "Run the command as root (sudo).")
    with reach(address, sudo=True) as runner:
        _check_sudo(runner, user)
        yield runner


@contextmanager
def locked(runner: Runner) -> Iterator[None]:
    """Exclude other applies and rollbacks from the host while the body runs. Raises Refused."""
    # Runner.lock waits, and the holder may take minutes.
    if runner.run(["flock", "--nonblock", LOCK, "true"], check=False).exit_code != 0:
        raise Refused(
            f"another apply or rollback is running on {runner.name}",
            "Wait for its end. One whose connection was cut lets go within 15 s.",
        )
    with runner.lock(LOCK):
        yield


def check_room(runner: Runner) -> None:
    """Raise Refused where a disk that apply writes to is full."""
    done = runner.run(["df", "-Pk", *_FOLDERS])
    for folder, line in zip(_FOLDERS, done.stdout.splitlines()[1:], strict=False):
        available = int(line.split()[3])
        if available < ROOM_KIB:
            raise Refused(
                f"{runner.name} has {available} KiB left on the file system of {folder}; the "
                f"journal of changes and the new files need {ROOM_KIB} KiB",
                "Free some space there. Nothing was changed.",
            )


def _check_sudo(runner: Runner, user: str) -> None:
    try:
        root = runner.run(["id", "-u"]).stdout.strip()
    except HostUnreachable:
        raise
    except RemoteError as fault:
        raise Refused(
            f"user {user} on {runner.name} may not change that host: {fault.what}",
            "Log in as root (--host ssh://root@HOST), or allow this user sudo without a password.",
        ) from fault
    if root != "0":
        raise Refused(f"sudo on {runner.name} gives user {root}, not root")
