# SPDX-License-Identifier: Apache-2.0
"""Test that root is dropped permanently, and that systemd accepts the unit file."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from itertools import takewhile
from pathlib import Path
from stat import S_IXOTH

import pytest

from .conftest import PATIENCE_S, Serve, Server
from .test_http import ask
from .test_iperf3 import iperf3

DIST = Path(__file__).parents[2] / "speedtest/dist"
NOBODY = pwd.getpwnam("nobody")


def status(server: Server) -> dict[str, str]:
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


@pytest.mark.root
@pytest.mark.parametrize("user", ["nobody", f"{NOBODY.pw_uid}:{NOBODY.pw_gid}"])
def test_root_is_gone_and_the_server_tests_on(serve: Serve, tmp_path: Path, user: str) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    os.chown(folder, NOBODY.pw_uid, NOBODY.pw_gid)
    # pytest's own folders are root's alone, up to the one that anybody may enter.
    for own in takewhile(lambda path: not path.stat().st_mode & S_IXOTH, folder.parents):
        own.chmod(0o755)
    results = f"sqlite:{folder / 'results.sqlite'}"
    server = serve("--user", user, "--results", results, protocols=("--iperf3", "--http"))
    now = status(server)
    assert now["Uid"].split() == [str(NOBODY.pw_uid)] * 4
    assert now["Gid"].split() == [str(NOBODY.pw_gid)] * 4
    assert now["Groups"].strip() == ""
    assert now["NoNewPrivs"] == "1"
    for held in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(now[held], 16) == 0
    for thread in Path(f"/proc/{server.process.pid}/task").iterdir():
        assert f"Uid:\t{NOBODY.pw_uid}\t" in (thread / "status").read_text()
    for options in (["-n", "1M"], ["-n", "1M", "-R", "-P", "2"], ["-u", "-b", "5M", "-t", "1"]):
        assert "error" not in iperf3(server, *options)
    assert ask(server, "GET", "/health")[1] == b"ok\n"
    assert (folder / "results.sqlite").stat().st_uid == NOBODY.pw_uid


@pytest.mark.root
def test_a_port_below_1024_is_bound_before(binary: Path) -> None:
    process = subprocess.Popen(
        [str(binary), "serve", "--user", "nobody", "--http", "127.0.0.1:1023"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        while "ready" not in (line := process.stderr.readline()):
            assert line, "the server did not start"
        with socket.create_connection(("127.0.0.1", 1023), PATIENCE_S) as link:
            link.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            assert link.recv(100).startswith(b"HTTP/1.1 200")
    finally:
        process.kill()
        process.wait()


@pytest.mark.root
@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--user", "daemon", "--iperf3", "127.0.0.1:0"), "server.user: cannot become this user"),
        (("--http", "127.0.0.1:1023"), "needs root or CAP_NET_BIND_SERVICE"),
    ],
)
def test_without_root_no_other_user_and_no_low_port_can_be_had(
    binary: Path, options: tuple[str, ...], fault: str
) -> None:
    copy = Path("/tmp") / f"speedtest-{os.getpid()}"  # noqa: S108  nobody must be able to read it
    shutil.copy(binary, copy)
    copy.chmod(0o755)
    try:
        done = subprocess.run(
            [str(copy), "serve", *options],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            user="nobody",
            cwd="/",
        )
    finally:
        copy.unlink()
    assert done.returncode == 1
    assert fault in done.stderr
    assert "ready" not in done.stderr


@pytest.mark.parametrize("user", ["root", "0:0", "no-such-user", "5"])
def test_a_useless_user_is_named_and_ends_with_2(binary: Path, user: str) -> None:
    done = subprocess.run(
        [str(binary), "serve", "--user", user],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "server.user" in done.stderr
    assert user in done.stderr


def test_systemd_is_notified_when_the_server_is_ready_and_when_it_stops(
    binary: Path, tmp_path: Path
) -> None:
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(PATIENCE_S)
        process = subprocess.Popen(
            [str(binary), "serve", "--iperf3", "127.0.0.1:0"],
            env={**os.environ, "NOTIFY_SOCKET": str(path)},
            stderr=subprocess.DEVNULL,
        )
        try:
            assert manager.recv(100) == b"READY=1"
            process.terminate()
            assert manager.recv(100) == b"STOPPING=1"
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def unit(binary: Path, tmp_path: Path) -> Path:
    """Return the unit file with the path of this build's program."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    text = (DIST / "wirespeed-speedtest.service").read_text()
    installed = "/usr/local/bin/wirespeed-speedtest"
    assert installed in text
    path = tmp_path / "wirespeed-speedtest.service"
    path.write_text(text.replace(installed, str(binary)))
    return path


def analyze(*argv: str) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_systemd_accepts_the_unit_file(unit: Path) -> None:
    done = analyze("verify", "--man=no", str(unit))
    complaints = [line for line in done.stderr.splitlines() if "wirespeed" in line]
    assert complaints == []
    assert done.returncode == 0


def test_the_unit_is_as_hardened_as_it_says(unit: Path) -> None:
    # 10 is unprotected; the threshold is in tenths.
    done = analyze("security", "--offline=true", "--threshold=20", "--no-pager", str(unit))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_configuration_is_valid(binary: Path, tmp_path: Path) -> None:
    text = (DIST / "speedtest.toml").read_text()
    text = text.replace("/var/lib/wirespeed-speedtest", str(tmp_path))
    for port in ("5201", "8080", "9100"):
        assert f":{port}" in text
        text = text.replace(f":{port}", ":0")
    config = tmp_path / "speedtest.toml"
    config.write_text(text)
    process = subprocess.Popen(
        [str(binary), "serve", "--config", str(config)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        while "ready" not in (line := process.stderr.readline()):
            assert line, "the server did not start"
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
