# SPDX-License-Identifier: Apache-2.0
"""Provide hosts for tests marked `root`: network namespaces with an sshd each, and cables.

The hosts share this machine's files and kernel. Each has its own interfaces, addresses and sshd
keys. Only this test can reach its control network.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.veth_network import veth_network
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_target import SshTarget

# sshd must be called by this path, and this directory must exist.
SSHD = "/usr/sbin/sshd"
_SEPARATION = Path("/run/sshd")
_PORT = 22
_SSHD_CONFIG = """
ListenAddress {address}:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile {folder}/{name}.pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
SetEnv HOME={folder}
"""
_SSH_CONFIG = """
IdentityFile {folder}/key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
StrictHostKeyChecking yes
"""


@dataclass(frozen=True, slots=True)
class LabHost:
    """A host in a network namespace."""

    name: str
    url: str
    """Address of its sshd."""
    namespace: str
    control: str = "control"
    """Its interface on the control network."""

    def ip(self, *words: str) -> None:
        """Run an ip(8) command on the host."""
        _run("ip", "-n", self.namespace, *words)

    def cut_off(self) -> None:
        """Cut the control network: nothing arrives any more, and no one is notified."""
        self.ip("link", "set", self.control, "down")

    def plug_in(self) -> None:
        self.ip("link", "set", self.control, "up")


@dataclass(frozen=True, slots=True)
class Lab:
    """Hosts and their ssh client."""

    hosts: dict[str, LabHost]
    ssh: Path
    """ssh client that knows the hosts' keys, in a folder to put in front of PATH."""

    def __getitem__(self, name: str) -> LabHost:
        return self.hosts[name]

    def runner(self, name: str) -> SshRunner:
        return SshRunner(SshTarget.parse(self[name].url), name=name, program=str(self.ssh))


@contextmanager
def lab(folder: Path, names: Sequence[str], cables: Sequence[str] = ()) -> Iterator[Lab]:
    """Make hosts of these names.

    Each cable is a port of its name on the first two hosts, joined by veth.
    """
    tag = uuid.uuid4().hex
    with ExitStack() as stack:
        ssh = _client(folder)
        hosts = {name: _host(folder, f"wl{tag}-{name}", name, stack) for name in names}
        for cable in cables:
            one, other = (hosts[name].namespace for name in names[:2])
            _run("ip", "-n", one, "link", "add", cable, "type", "veth",
                 "peer", "name", cable, "netns", other)  # fmt: skip
            for namespace in (one, other):
                _run("ip", "-n", namespace, "link", "set", cable, "up")
        yield Lab(hosts, ssh)


def _client(folder: Path) -> Path:
    """Make keys for all hosts, and a program `ssh` that uses them."""
    for key in ("host_key", "key"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))
    host_key = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"* {host_key}")
    (folder / "ssh_config").write_text(_SSH_CONFIG.format(folder=folder))
    program = folder / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    program.chmod(0o755)
    return program


def _host(folder: Path, namespace: str, name: str, stack: ExitStack) -> LabHost:
    _run("ip", "netns", "add", namespace)
    stack.callback(_remove, namespace)
    _run("ip", "-n", namespace, "link", "set", "lo", "up")
    address = f"{stack.enter_context(veth_network(namespace, 'control'))}.2"
    _start_sshd(folder, namespace, name, address, stack)
    return LabHost(name, f"ssh://root@{address}", namespace)


def _start_sshd(folder: Path, namespace: str, name: str, address: str, stack: ExitStack) -> None:
    config = folder / f"{name}.sshd_config"
    config.write_text(_SSHD_CONFIG.format(address=address, port=_PORT, folder=folder, name=name))
    # The folder stays, because another test's sshd may need it.
    _SEPARATION.mkdir(mode=0o755, exist_ok=True)
    # `ip netns exec` also mounts a /sys of the namespace: the host sees only its own interfaces.
    with open(folder / f"{name}.sshd.log", "wb") as log:
        sshd = subprocess.Popen(
            ["ip", "netns", "exec", namespace, SSHD, "-D", "-e", "-f", str(config)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    stack.callback(_end, sshd)
    _await_listener(address, sshd)


def _await_listener(address: str, sshd: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection((address, _PORT), timeout=1).close()
        except OSError:
            if sshd.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _end(sshd: subprocess.Popen[bytes]) -> None:
    sshd.terminate()
    sshd.wait(20)


def _remove(namespace: str) -> None:
    """Remove the namespace and its processes, mainly sessions of its sshd."""
    inside = subprocess.run(
        ["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True
    )
    for pid in inside.stdout.split():
        _run("kill", "-KILL", pid, check=False)
    _run("ip", "netns", "delete", namespace)


def _run(*words: str, check: bool = True) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
