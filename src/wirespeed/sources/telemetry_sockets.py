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
    """Return the name of each program by the path of its socket; a killed one leaves its socket.

    The name is the program's file prefix without a run's tag, so that it is the same in each run.
    Several programs may have the same.
    """
    bases = {socket_base(runner), "/run", "/tmp"}  # noqa: S108 (a bench may use any of them)
    patterns = [f"{base}{middle}{_SOCKET}" for base in bases for middle in ("", "/*")]
    return {path: _TAG.sub("", path.split("/")[-2]) for path in runner.glob(*patterns)}
