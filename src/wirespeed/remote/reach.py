# SPDX-License-Identifier: Apache-2.0
"""Which Runner touches the host with this address?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from wirespeed.remote.interface import LOCALHOST, Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_target import SshTarget
from wirespeed.remote.state import ssh_config_of, state_directory

# Of hosts that wirespeed has started itself: their CPUs are emulated.
EMULATED_PATIENCE = 4.0


@contextmanager
def reach(address: str, name: str = "", *, sudo: bool = False) -> Iterator[Runner]:
    """LOCALHOST or ssh://[user@]host[:port]; name: what messages call it.

    Where wirespeed has started that host itself, its own keys and port apply. sudo: as root by
    `sudo -n` there; this machine is always reached as whoever runs this. Raises BadInput for
    anything else; whether the host can be reached, its first call tells.
    """
    if address == LOCALHOST:
        yield LocalRunner(name or LOCALHOST)
    else:
        target = SshTarget.parse(address)
        own = ssh_config_of(state_directory(os.environ), target.host)
        if own is None or target.config is not None:
            with SshRunner(target, name=name, sudo=sudo) as runner:
                yield runner
        else:
            target = replace(target, config=str(own))
            with SshRunner(target, name=name, sudo=sudo, patience=EMULATED_PATIENCE) as runner:
                yield runner
