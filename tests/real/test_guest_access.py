# SPDX-License-Identifier: Apache-2.0
"""Test that only the key of this start logs in, and only into this start's machine."""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wirespeed.image.access import Access, over_socket
from wirespeed.remote.interface import HostUnreachable
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_target import SshTarget

SSHD_CONFIG = Path(__file__).parents[2] / "src/wirespeed/image/files/sshd_config"


@contextmanager
def machine(folder: Path, access: Access) -> Iterator[None]:
    """Serve a guest's end of its control port.

    Each connection that asks gets an sshd with the image's configuration and the machine's keys.
    """
    config = folder / "sshd_config"
    text = SSHD_CONFIG.read_text()
    for name, file in access.fw_cfg.items():
        text = text.replace(f"/run/wirespeed/{Path(name).name}", str(file))
    # The folder is in /tmp, where every user may write.
    config.write_text(f"{text}StrictModes no\n")
    Path("/run/sshd").mkdir(exist_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "control"))
    listening.listen()

    def serve() -> None:
        while True:
            try:
                connected, _ = listening.accept()
            except OSError:
                return
            with connected:
                if connected.recv(512):
                    argv = ["/usr/sbin/sshd", "-i", "-e", "-f", str(config)]
                    subprocess.run(argv, stdin=connected, stdout=connected, check=False)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a short name, as a socket's path needs."""
    return tmp_path_factory.mktemp("m")


def test_all_sessions_go_over_the_one_line(folder: Path) -> None:
    access = over_socket(LocalRunner(), folder / "ssh", "guest1", folder / "control")
    with machine(folder, access):
        with SshRunner(access.target, first_s=120, patience=8) as guest:
            user = pwd.getpwuid(os.getuid()).pw_name
            assert guest.run(["id", "-un"]).stdout.strip() == user
            # With the session of the call, they exceed sshd's default limit of sessions.
            children = [guest.spawn(["sleep", "60"], log=str(folder / "log")) for _ in range(10)]
            for child in children:
                child.signal(signal.SIGTERM)
                assert child.wait(60) == -signal.SIGTERM
        with SshRunner(access.target, first_s=120, patience=8) as again:
            again.run(["true"])


def test_another_machine_on_the_line_is_refused(folder: Path) -> None:
    access = over_socket(LocalRunner(), folder / "ssh", "guest1", folder / "control")
    other = over_socket(LocalRunner(), folder / "other", "guest1", folder / "control")
    mixed = Access("guest1", folder / "mixed")
    mixed.folder.mkdir()
    for file in ("host_key", "host_key.pub"):
        (mixed.folder / file).write_bytes((other.folder / file).read_bytes())
        (mixed.folder / file).chmod(0o600)
    (mixed.folder / "key.pub").write_bytes((access.folder / "key.pub").read_bytes())
    with (
        machine(folder, mixed),
        SshRunner(access.target, first_s=120, patience=8) as guest,
        pytest.raises(HostUnreachable, match="Host key verification failed"),
    ):
        guest.run(["true"])


def test_another_key_is_refused(folder: Path) -> None:
    access = over_socket(LocalRunner(), folder / "ssh", "guest1", folder / "control")
    with machine(folder, access):
        LocalRunner().run(["rm", str(access.folder / "key")])
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(access.folder / "key")]
        (access.folder / "key.pub").rename(access.folder / "key.given")
        LocalRunner().run(argv)
        (access.folder / "key.given").rename(access.folder / "key.pub")
        with (
            SshRunner(access.target, first_s=120, patience=8) as guest,
            pytest.raises(HostUnreachable, match="Permission denied"),
        ):
            guest.run(["true"])


def test_keys_are_nobody_else_s(folder: Path) -> None:
    access = over_socket(LocalRunner(), folder / "ssh", "guest1", folder / "control")
    assert access.folder.stat().st_mode & 0o077 == 0
    assert (access.folder / "key").stat().st_mode & 0o077 == 0
    before = (access.folder / "key").read_bytes()
    again = over_socket(LocalRunner(), folder / "ssh", "guest1", folder / "control")
    assert (again.folder / "key").read_bytes() != before


def test_the_address_leads_there_again() -> None:
    target = SshTarget("guest1", config="/run/a b/ssh_config")
    assert SshTarget.parse(target.url) == target
