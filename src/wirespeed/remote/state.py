# SPDX-License-Identifier: Apache-2.0
"""Keep wirespeed's state on this machine: its directory and the ssh configurations of hosts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def state_directory(environ: Mapping[str, str]) -> Path:
    """Return $XDG_STATE_HOME/wirespeed (XDG base directory specification)."""
    base = environ.get("XDG_STATE_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".local", "state"
    )
    return Path(base) / "wirespeed"


def ssh_config_of(state: Path, host: str) -> Path | None:
    """Return the ssh configuration of a host that wirespeed has started itself, or None.

    It takes precedence over the user's own configuration, where the name may mean another host.
    """
    link = ssh_config_link(state, host)
    return link if _HOST.fullmatch(host) and link.exists() else None


def keep_ssh_config(state: Path, host: str, config: Path) -> None:
    """Make ssh://HOST mean the host of this configuration."""
    link = ssh_config_link(state, host)
    link.parent.mkdir(parents=True, exist_ok=True)
    forget_ssh_config(state, host)
    link.symlink_to(config)


def forget_ssh_config(state: Path, host: str) -> None:
    with suppress(FileNotFoundError):
        ssh_config_link(state, host).unlink()


def ssh_config_link(state: Path, host: str) -> Path:
    """Return the path of that configuration, whether it exists or not."""
    return state / "ssh" / host
