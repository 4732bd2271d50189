# SPDX-License-Identifier: Apache-2.0
"""Test the needed interfaces with a real sshd, and with another login server over IPv6."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lab_hosts import lab
from wirespeed.host.needed_interfaces import has_remote_login, needed_interfaces

# Serves one connection: returns the needed interfaces as seen below the process that holds it.
SERVER = """
import json, socket, subprocess, sys
JUDGE = '''
import json
from wirespeed.host.needed_interfaces import needed_interfaces
from wirespeed.remote.local import LocalRunner
print(json.dumps(needed_interfaces(LocalRunner())))
'''
listening = socket.create_server(("2001:db8::1", 0), family=socket.AF_INET6)
print(listening.getsockname()[1], flush=True)
connected, _ = listening.accept()
while connected.recv(1):
    said = subprocess.run([sys.executable, "-c", JUDGE], capture_output=True, text=True)
    connected.sendall((said.stdout or said.stderr).encode())
"""


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def bridged() -> Iterator[tuple[str, str]]:
    """Make two namespaces: a server whose address is on a bridge above its port, and a client."""
    tag = uuid.uuid4().hex[:6]
    server, client = f"ws{tag}-s", f"ws{tag}-c"
    try:
        for name in (server, client):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", server, "link", "add", "port0", "type", "veth", "peer", "name", "eth0",
            "netns", client)  # fmt: skip
        run("ip", "-n", server, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", server, "link", "set", "port0", "master", "br0", "up")
        run("ip", "-n", server, "link", "set", "br0", "up")
        run("ip", "-n", client, "link", "set", "eth0", "up")
        ends = ((server, "br0", "2001:db8::1/64"), (client, "eth0", "2001:db8::9/64"))
        for name, device, address in ends:
            run("ip", "-n", name, "address", "add", address, "dev", device, "nodad")
        yield server, client
    finally:
        for name in (server, client):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def test_needed_interfaces_real_session_over_ipv6_needs_bridge_and_port(
    bridged: tuple[str, str],
) -> None:
    server, client = bridged
    inside = ("ip", "netns", "exec")
    with subprocess.Popen(
        [*inside, server, sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdout is not None
        port = serving.stdout.readline().strip()
        asking = (
            "import socket, sys; s = socket.create_connection(('2001:db8::1', int(sys.argv[1])));"
            "s.sendall(b'?'); sys.stdout.write(s.recv(1 << 16).decode())"
        )
        try:
            said = subprocess.run(
                [*inside, client, sys.executable, "-c", asking, port],
                check=True, capture_output=True, text=True, timeout=60,
            ).stdout  # fmt: skip
        finally:
            serving.kill()
    needed = json.loads(said)
    assert needed.keys() == {"br0", "port0"}
    assert needed["port0"].endswith("from 2001:db8::9")


def test_needed_interfaces_real_ssh_session_is_named_with_its_peer() -> None:
    with tempfile.TemporaryDirectory(prefix="wl") as folder, lab(Path(folder), ["box"]) as made:
        box = made.runner("box")
        with box:
            needed = needed_interfaces(box)
            peer = box.run(["printenv", "SSH_CONNECTION"]).stdout.split()[0]
            assert needed == {"control": f"an ssh session from {peer}"}
            assert has_remote_login(box)
