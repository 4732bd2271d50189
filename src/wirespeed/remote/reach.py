# SPDX-License-Identifier: Apache-2.0
"""Choose the Runner for a host's address."""

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

# Factor on time limits for hosts that wirespeed has started itself: their CPUs are emulated.
EMULATED_PATIENCE = 4.0


@contextmanager
def reach(address: str, name: str = "", *, sudo: bool = False) -> Iterator[Runner]:
    """Yield the Runner of LOCALHOST or ssh://[user@]host[:port].

    name: the host's name in messages. sudo: commands on a remote host run as root with `sudo -n`;
    this machine is always used as the current user. A host that wirespeed has started itself is
    reached with its own keys and port. Raises BadInput for any other address. The first call on the
    Runner raises HostUnreachable where the host cannot be reached.
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
