# SPDX-License-Identifier: Apache-2.0
"""Keep the paths of Unix sockets within the limit of the kernel."""

from __future__ import annotations

import subprocess

from wirespeed.remote.interface import RemoteError, Runner

# Octets of sun_path, unix(7), without the NUL.
SOCKET_PATH_MAX = 107
# Leaves room for "/wirespeed-TAG/dpdk/vnf0TAG/dpdk_telemetry.v2" in a socket's path, and for
# "/wirespeed-TAG/partner/east0.sock" in a device string that Open vSwitch passes to DPDK.
SOCKET_BASE_MAX = 36
_FIND = f"""
LC_ALL=C
for base in "${{XDG_RUNTIME_DIR:-}}" /run "${{TMPDIR:-}}" /tmp; do
  case "$base" in /*) ;; *) continue ;; esac
  [ "${{#base}}" -le {SOCKET_BASE_MAX} ] && [ -d "$base" ] && [ -w "$base" ] || continue
  printf %s "$base"
  exit
done
"""
_FIND_WORDS = ["sh", "-c", _FIND]


def socket_base(runner: Runner) -> str:
    """Return the directory of a host in which a run makes its directory of sockets.

    A long $XDG_RUNTIME_DIR or $TMPDIR is skipped. Raises RemoteError where no directory is left.
    """
    return _found(runner.name, runner.run(_FIND_WORDS).stdout)


def local_socket_base() -> str:
    """Return that directory of this machine, for code that works below the Runners."""
    told = subprocess.run(_FIND_WORDS, capture_output=True, text=True, check=True).stdout
    return _found("this machine", told)


def check_socket_path(owner: str, path: str) -> None:
    """Raise RemoteError with the owner's name where the kernel would not take the path."""
    octets = len(path.encode())
    if octets > SOCKET_PATH_MAX:
        raise RemoteError(
            f"{owner}: the path of its socket has {octets} octets, Linux takes {SOCKET_PATH_MAX}: "
            f"{path}",
            "Set XDG_RUNTIME_DIR to a shorter directory.",
        )


def _found(host: str, base: str) -> str:
    if not base:
        raise RemoteError(
            f"{host}: no directory for sockets: $XDG_RUNTIME_DIR, /run, $TMPDIR and /tmp are not "
            f"writable or have more than {SOCKET_BASE_MAX} octets",
            "Set TMPDIR to a short directory that is writable.",
        )
    return base
