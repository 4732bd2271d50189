# SPDX-License-Identifier: Apache-2.0
"""The real command-line client, imported once: each command runs in a process forked from here.

Argument: the path of a unix socket. Whoever connects (inside/openstack) sends its standard input,
output and error and a JSON object of `argv`, `environ` and `cwd`, and reads the exit status.
Importing the client and its plugins is most of what a short command costs.
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


def command(told):
    os.environ.clear()
    os.environ.update(told["environ"])
    os.chdir(told["cwd"])
    sys.argv = ["openstack", *told["argv"]]
    try:
        return importlib.import_module("openstackclient.shell").main(told["argv"])
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
        told = json.loads(stream.read(*struct.unpack("!I", first)))
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    status = command(told)
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
    # Who waits for the socket's name finds one that accepts.
    os.rename(sys.argv[1] + ".partial", sys.argv[1])
    while True:
        peer, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            serve(peer)
            os._exit(0)
        peer.close()
