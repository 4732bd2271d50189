# SPDX-License-Identifier: Apache-2.0
"""Reboot a host, and wait until it is up again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from wirespeed.apply.target import Reach, Refused
from wirespeed.remote.interface import LOCALHOST, RemoteError, Runner

BOOT_ID = "/proc/sys/kernel/random/boot_id"
# In seconds. Servers test their memory for minutes before they boot.
UP_AGAIN_S = 900.0
_PAUSE_S = 2.0


class NotBack(RemoteError):
    """Raised when the host does not answer after its reboot."""


def check_can_reboot(address: str) -> None:
    """Raise Refused for this machine, since the waiting command would end with it."""
    if address == LOCALHOST:
        raise Refused(
            "--reboot would end this command with this machine",
            "Leave it out, reboot, and run the command again: it continues.",
        )


def reboot(
    reach: Reach,
    address: str,
    runner: Runner,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Reboot the host and wait until it answers with another boot id. Raises NotBack."""
    before = runner.read(BOOT_ID)
    with suppress(RemoteError):  # The reboot may end the connection before the answer arrives.
        runner.run(["systemctl", "reboot"], check=False)
    until = clock() + UP_AGAIN_S
    while clock() < until:
        sleep(_PAUSE_S)
        try:
            with reach(address, sudo=False) as again:
                if again.read(BOOT_ID) != before:
                    return
        except (RemoteError, OSError):
            continue
    raise NotBack(
        f"{address} does not answer {UP_AGAIN_S:.0f} s after its reboot",
        "Look at its console. `wirespeed apply` continues, and `wirespeed rollback` undoes, as "
        "soon as it answers.",
    )
