# SPDX-License-Identifier: Apache-2.0
"""Find the telemetry sockets of running DPDK programs."""

from __future__ import annotations

import re

from wirespeed.remote.interface import Runner
from wirespeed.remote.socket_paths import socket_base

_SOCKET = "/dpdk/*/dpdk_telemetry.v2"
# A run of wirespeed ends its programs' prefixes with 8 letters of its own.
_TAG = re.compile(r"(?<=.)[0-9a-f]{8}$")


def telemetry_sockets(runner: Runner) -> dict[str, str]:
    """Return the name of each program by the path of its socket.

    The name is the program's file prefix without a run's tag, so that it is the same in each run.
    """
    bases = {socket_base(runner), "/run", "/tmp"}  # noqa: S108 (a bench may use any of them)
    patterns = [f"{base}{middle}{_SOCKET}" for base in bases for middle in ("", "/*")]
    found: dict[str, str] = {}
    for path in runner.glob(*patterns):
        name = _TAG.sub("", path.split("/")[-2])
        others = sum(each.partition("#")[0] == name for each in found.values())
        found[path] = f"{name}#{others + 1}" if others else name
    return found
