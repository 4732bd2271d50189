# SPDX-License-Identifier: Apache-2.0
"""Who may get into a machine that is started from an image, and how is it known to be that one?

Each start has keys of its own: the machine is given its host key and the one authorised key by
QEMU's fw_cfg device, and ssh here a configuration that trusts this host key alone. There is no
password, and no user but root. What is handed over:

    opt/wirespeed/host_key          the host's private key (ed25519)
    opt/wirespeed/authorized_key    the public key that may log in
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wirespeed.remote import awaited
from wirespeed.remote.interface import Runner
from wirespeed.remote.ssh_target import SshTarget

_CONFIG = """\
Host {name}
  HostKeyAlias {name}
  User root
  IdentityFile "{folder}/key"
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile "{folder}/known_hosts"
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  UpdateHostKeys no
  PreferredAuthentications publickey
  ProxyCommand "{python}" -I -S "{awaited}" "{way}"
  ProxyUseFdpass yes
"""


@dataclass(frozen=True, slots=True)
class Access:
    """Files below `folder`: key, key.pub, host_key, host_key.pub, known_hosts, ssh_config."""

    name: str
    folder: Path

    @property
    def target(self) -> SshTarget:
        """For SshRunner(target, name=...)."""
        return SshTarget(self.name, config=str(self.folder / "ssh_config"))

    @property
    def fw_cfg(self) -> Mapping[str, Path]:
        """What QEMU is to give the machine: name in fw_cfg -> file."""
        return {
            "opt/wirespeed/authorized_key": self.folder / "key.pub",
            "opt/wirespeed/host_key": self.folder / "host_key",
        }


def over_socket(runner: Runner, folder: Path, name: str, socket: Path) -> Access:
    """Keys for a machine whose control port is that unix socket, on which QEMU listens.

    The port is one line: one SshRunner at a time. Its sessions share the one connection.
    """
    return _made(runner, folder, name, str(socket))


def over_port(runner: Runner, folder: Path, name: str, port: int) -> Access:
    """Keys for a machine whose sshd answers on that port of 127.0.0.1."""
    return _made(runner, folder, name, f"127.0.0.1:{port}")


def _made(runner: Runner, folder: Path, name: str, way: str) -> Access:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for key in ("key", "host_key"):
        (folder / key).unlink(missing_ok=True)
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / key)]
        runner.run(argv)
    public = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"{name} {public}")
    config = _CONFIG.format(
        name=name, folder=folder, way=way, python=sys.executable, awaited=awaited.__file__
    )
    (folder / "ssh_config").write_text(config)
    return Access(name, folder)
