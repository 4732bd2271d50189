# SPDX-License-Identifier: Apache-2.0
"""Connect ssh to a machine that is still booting: a ProxyCommand that waits for its sshd.

python3 runs it with ProxyUseFdpass yes (ssh_config(5)): `awaited.py PATH` for the unix socket of a
virtio-serial port, or `awaited.py ADDRESS:PORT`. Standard output is a socket to ssh, over which the
connected descriptor is sent: this program is not in the data path afterwards.

Behind a serial port, an incoming line starts sshd (image/files/guest-init.sh): the guest's shell
cannot see that a client has connected. ssh sends nothing before it has the connection, so the
previous user of the port cannot receive any of it.
"""

from __future__ import annotations

import socket
import sys
import time

_LIMIT_S = 600.0
# An emulated sshd sends its banner sooner. A started sshd treats another start line as an error.
BANNER_S = 10.0
_NOT_YET_S = 0.2
_ASK = b"start\n"
_BANNER = b"SSH-"


def main() -> None:
    way = sys.argv[1]
    connected = awaited(way, time.monotonic() + _LIMIT_S)
    with socket.socket(fileno=sys.stdout.fileno()) as ssh:
        socket.send_fds(ssh, [b"\0"], [connected.fileno()])


def awaited(way: str, deadline: float) -> socket.socket:
    """Return a connection whose next octets are the first of an sshd.

    Ends the process where there is none.
    """
    serial = way.startswith("/")
    reached = False
    while time.monotonic() < deadline:
        try:
            connected = _connected(way, serial)
        except OSError as fault:
            if reached:
                sys.exit(f"{way}: the machine ended: {fault.strerror}")
            time.sleep(_NOT_YET_S)
            continue
        reached = True
        if _speaks(connected, deadline, serial):
            return connected
        connected.close()
        # QEMU's user network accepts connections for a machine that does not answer yet.
        time.sleep(_NOT_YET_S)
    sys.exit(f"{way}: nobody answered within {_LIMIT_S:g} s")


def _connected(way: str, serial: bool) -> socket.socket:
    if not serial:
        address, _, port = way.rpartition(":")
        return socket.create_connection((address, int(port)))
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connected.connect(way)
    return connected


def _speaks(connected: socket.socket, deadline: float, serial: bool) -> bool:
    """Return whether sshd's banner arrives; discard what came before and leave the banner."""
    while time.monotonic() < deadline:
        try:
            if serial:
                connected.sendall(_ASK)
            connected.settimeout(BANNER_S)
            while seen := connected.recv(4096, socket.MSG_PEEK):
                if (at := seen.find(_BANNER)) >= 0:
                    connected.recv(at)
                    connected.settimeout(None)
                    return True
                connected.recv(max(1, len(seen) - len(_BANNER) + 1))
        except TimeoutError:
            # Over TCP the machine may have ended after its kernel accepted: connect again.
            if serial:
                continue
        except OSError:
            pass
        return False
    return False


if __name__ == "__main__":
    main()
