# SPDX-License-Identifier: Apache-2.0
"""What does wirespeed keep on the machine that it runs on: where, and the way to which hosts?"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def state_directory(environ: Mapping[str, str]) -> Path:
    """$XDG_STATE_HOME/wirespeed (XDG base directory specification)."""
    base = environ.get("XDG_STATE_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".local", "state"
    )
    return Path(base) / "wirespeed"


def ssh_config_of(state: Path, host: str) -> Path | None:
    """The ssh configuration of a host that wirespeed has started itself, such as a lab's node.

    It comes before the user's own, in which the name may be another host's.
    """
    link = ssh_config_link(state, host)
    return link if _HOST.fullmatch(host) and link.exists() else None


def keep_ssh_config(state: Path, host: str, config: Path) -> None:
    """From now on ssh://HOST is that host."""
    link = ssh_config_link(state, host)
    link.parent.mkdir(parents=True, exist_ok=True)
    forget_ssh_config(state, host)
    link.symlink_to(config)


def forget_ssh_config(state: Path, host: str) -> None:
    with suppress(FileNotFoundError):
        ssh_config_link(state, host).unlink()


def ssh_config_link(state: Path, host: str) -> Path:
    """Where that configuration is, if there is one."""
    return state / "ssh" / host
