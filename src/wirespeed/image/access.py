# SPDX-License-Identifier: Apache-2.0
"""Create the keys of a machine that boots from an image: its identity, and who may log in.

Each start has keys of its own. QEMU's fw_cfg device gives the machine its host key and the one
authorised key. The local ssh configuration trusts only this host key. There is no password, and no
user but root. The files in fw_cfg are:

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
    """Files in `folder`: key, key.pub, host_key, host_key.pub, known_hosts, ssh_config."""

    name: str
    folder: Path

    @property
    def target(self) -> SshTarget:
        """Argument of SshRunner(target, name=...)."""
        return SshTarget(self.name, config=str(self.folder / "ssh_config"))

    @property
    def fw_cfg(self) -> Mapping[str, Path]:
        """Files that QEMU gives to the machine, by name in fw_cfg."""
        return {
            "opt/wirespeed/authorized_key": self.folder / "key.pub",
            "opt/wirespeed/host_key": self.folder / "host_key",
        }


def over_socket(runner: Runner, folder: Path, name: str, socket: Path) -> Access:
    """Create keys for a machine whose control port is that unix socket, on which QEMU listens.

    The port is one line for one SshRunner at a time, whose sessions share the connection.
    """
    return _made(runner, folder, name, str(socket))


def over_port(runner: Runner, folder: Path, name: str, port: int) -> Access:
    """Create keys for a machine whose sshd listens on that port of 127.0.0.1."""
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
