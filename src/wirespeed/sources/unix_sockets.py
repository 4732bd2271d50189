# SPDX-License-Identifier: Apache-2.0
"""Distinguish unix sockets that listen from those that are only bound."""

from __future__ import annotations

import re
from collections.abc import Collection

from wirespeed.remote.interface import Runner

_TABLE = "/proc/net/unix"
# Flags, in hexadecimal, and path of a socket that is bound (proc_net(5)).
_BOUND = re.compile(r"^\S+: \S+ \S+ ([0-9A-F]{8}) \S+ \S+ +\d+ (.+)$", re.MULTILINE)
# __SO_ACCEPTCON of linux/net.h: the socket listens.
_LISTENS = 0x10000


def not_listening(runner: Runner, paths: Collection[str]) -> frozenset[str]:
    """Return those of these paths to which a socket is bound that does not listen yet.

    A socket's file exists from bind() on, its listener from listen() on. The kernel's table holds
    the reader's network namespace; a path that is not in it is not returned.
    """
    if not paths:
        return frozenset()
    text = runner.read_many([_TABLE])[_TABLE]
    if not isinstance(text, str):
        return frozenset()
    found = [(path, int(flags, 16)) for flags, path in _BOUND.findall(text) if path in paths]
    # An accepted connection has the path of its listener.
    listens = {path for path, flags in found if flags & _LISTENS}
    return frozenset(path for path, _ in found) - listens
