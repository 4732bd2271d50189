# SPDX-License-Identifier: Apache-2.0
"""Import the real command-line client once, and run each command in a process forked from here.

Argument: the path of a unix socket. A client (inside/openstack) sends its standard input, output
and error and a JSON object of `argv`, `environ` and `cwd`, and reads the exit status. Importing the
client and its plugins takes most of the time of a short command.
"""

import importlib
import json
import os
import signal
import socket
import struct
import sys
import traceback

_USED = (
    "openstackclient.shell", "openstackclient.identity.v3.token", "heatclient.osc.v1.stack",
    *(f"openstackclient.compute.v2.{m}"
      for m in ("aggregate", "flavor", "server", "server_group", "service")),
    *(f"openstackclient.network.v2.{m}" for m in ("network", "port", "subnet")),
    "openstackclient.image.v2.image", "novaclient.v2.client", "glanceclient.v2.client",
    "keystoneclient.v3.client", "heatclient.v1.client",
)  # fmt: skip


def command(asked):
    os.environ.clear()
    os.environ.update(asked["environ"])
    os.chdir(asked["cwd"])
    sys.argv = ["openstack", *asked["argv"]]
    try:
        return importlib.import_module("openstackclient.shell").main(asked["argv"])
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def serve(connection):
    first, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as stream:
        asked = json.loads(stream.read(*struct.unpack("!I", first)))
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    status = command(asked)
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(bytes([status & 255 if status else 0]))


if __name__ == "__main__":
    for module in _USED:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1] + ".partial")
    listener.listen(64)
    # Renamed last: a client that finds the name can connect.
    os.rename(sys.argv[1] + ".partial", sys.argv[1])
    while True:
        peer, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            serve(peer)
            os._exit(0)
        peer.close()
