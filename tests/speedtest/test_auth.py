# SPDX-License-Identifier: Apache-2.0
"""Test stock iperf3 with RSA authentication, and unknown, late and repeated clients."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import socket
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .conftest import PATIENCE_S, Serve, Server
from .stock_iperf3 import stock_server
from .test_iperf3 import MEGABYTE

# What iperf3 calls the failure, and its number.
DENIED = "test authorization failed"
DENIED_CODE = 142


@dataclass(frozen=True, slots=True)
class Keys:
    """Key pair, and a file with the user mia."""

    folder: Path

    @property
    def options(self) -> list[str]:
        private, users = self.folder / "private.pem", self.folder / "users.csv"
        return ["--rsa-private-key-path", str(private), "--authorized-users-path", str(users)]

    def token(self, text: str, padding: str = "pkcs1") -> str:
        """Make a token as a client does; iperf3 from 3.17 on pads with OAEP."""
        command = ["openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", self.folder / "public.pem"]
        pad = ["-pkeyopt", f"rsa_padding_mode:{padding}"]
        done = subprocess.run(
            [*command, *pad], input=text.encode(), capture_output=True, check=True
        )
        return base64.b64encode(done.stdout).decode()


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    folder = tmp_path_factory.mktemp("keys")
    private, public = folder / "private.pem", folder / "public.pem"
    run = ["openssl", "genrsa", "-out", private, "2048"]
    subprocess.run(run, check=True, capture_output=True)
    run = ["openssl", "rsa", "-in", private, "-pubout", "-out", public]
    subprocess.run(run, check=True, capture_output=True)
    hashed = hashlib.sha256(b"{mia}geheim").hexdigest()
    (folder / "users.csv").write_text(f"# who may test\nmia,{hashed}\n")
    return Keys(folder)


def iperf3(server: Server, keys: Keys, user: str, password: str, *options: str) -> dict[str, Any]:
    where = ["-c", "127.0.0.1", "-p", str(server.ports["--iperf3"]), "-J", "-n", "1M"]
    who = ["--username", user, "--rsa-public-key-path", str(keys.folder / "public.pem")]
    done = subprocess.run(
        ["iperf3", *where, *who, *options],
        env={"IPERF3_PASSWORD": password, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def answer(server: Server, token: str | None) -> bytes:
    """Return the server's bytes after the parameters: CREATE_STREAMS, or an error."""
    params = {"tcp": True, "time": 1} | ({"authtoken": token} if token is not None else {})
    body = json.dumps(params).encode()
    address = ("127.0.0.1", server.ports["--iperf3"])
    # A cookie of its own: while the server has not yet seen a test's end, a
    # connection with that test's cookie is one of its streams.
    cookie = secrets.token_hex(18).encode() + b"\0"
    with socket.create_connection(address, PATIENCE_S) as control:
        control.sendall(cookie + struct.pack(">I", len(body)) + body)
        assert control.recv(1) == b"\x09"
        received = control.recv(1)
        while received != CREATE_STREAMS and (chunk := control.recv(100)):
            received += chunk
    return received


CREATE_STREAMS = b"\x0a"
REFUSAL = b"\xfe" + struct.pack(">ii", DENIED_CODE, 0)


@pytest.mark.parametrize("way", [[], ["-R"], ["--bidir"], ["-P", "2"]], ids=" ".join)
def test_a_user_of_stock_iperf3_is_let_in(serve: Serve, keys: Keys, way: list[str]) -> None:
    server = serve(*keys.options)
    report = iperf3(server, keys, "mia", "geheim", *way)
    assert "error" not in report
    assert server.next_event("user authenticated")["user"] == "mia"
    assert server.next_event("test finished")["directions"][0]["bytes"] >= MEGABYTE


def own_client(
    binary: Path, port: int, keys: Keys, password: str | None, *options: str
) -> subprocess.CompletedProcess[str]:
    who = ["--username", "mia", "--rsa-public-key-path", str(keys.folder / "public.pem")]
    return subprocess.run(
        [binary, "client", f"127.0.0.1:{port}", "--bytes", "1048576", "--json", *who, *options],
        env={} if password is None else {"IPERF3_PASSWORD": password},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("padding", [[], ["--use-pkcs1-padding"]], ids=["oaep", "pkcs1"])
def test_our_own_client_says_who_it_is(
    binary: Path, serve: Serve, keys: Keys, padding: list[str]
) -> None:
    server = serve(*keys.options)
    port = server.ports["--iperf3"]
    # Each of these needs a token of its own, as none is good twice.
    assert own_client(binary, port, keys, "geheim", "--clients", "3", *padding).returncode == 0
    for _ in range(3):
        assert server.next_event("user authenticated")["user"] == "mia"
    refused = own_client(binary, port, keys, "falsch", *padding)
    assert refused.returncode == 1
    assert str(DENIED_CODE) in json.loads(refused.stdout)["results"][0]["error"]


@pytest.fixture
def stock_padding() -> str:
    """Return the padding of the installed iperf3's tokens: OAEP from 3.17 by default."""
    told = subprocess.run(["iperf3", "--help"], capture_output=True, text=True, check=True).stdout
    return "oaep" if "--use-pkcs1-padding" in told else "pkcs1"


def test_stock_iperf3s_server_lets_our_client_in(
    binary: Path, keys: Keys, stock_padding: str
) -> None:
    padding = [] if stock_padding == "oaep" else ["--use-pkcs1-padding"]
    with stock_server(*keys.options) as port:
        done = own_client(binary, port, keys, "geheim", *padding)
        assert json.loads(done.stdout)["failed"] == 0
        wrong = own_client(binary, port, keys, "falsch", *padding)
        assert json.loads(wrong.stdout)["failed"] == 1


def test_a_missing_password_or_key_file_is_named(binary: Path, keys: Keys, tmp_path: Path) -> None:
    absent = own_client(binary, 1, keys, None)
    assert (absent.returncode, "IPERF3_PASSWORD" in absent.stderr) == (2, True)
    other = own_client(binary, 1, Keys(tmp_path), "geheim")
    assert (other.returncode, "public.pem" in other.stderr) == (2, True)


@pytest.mark.parametrize(
    ("user", "password", "why"),
    [("mia", "falsch", "wrong user or password"), ("eve", "geheim", "wrong user or password")],
)
def test_other_clients_get_iperf3s_words_and_nothing_more(
    serve: Serve, keys: Keys, user: str, password: str, why: str
) -> None:
    server = serve(*keys.options)
    assert DENIED in iperf3(server, keys, user, password)["error"]
    assert why in server.next_event("test failed")["because"]
    assert "error" not in iperf3(server, keys, "mia", "geheim")


def await_failure(server: Server, because: str) -> None:
    """Wait until a test failed for this reason. The accepted one fails, too: its client is away."""
    while because not in server.next_event("test failed")["because"]:
        pass


@pytest.mark.parametrize("padding", ["pkcs1", "oaep"])
def test_both_paddings_a_late_clock_and_a_token_seen_before(
    serve: Serve, keys: Keys, padding: str
) -> None:
    server = serve(*keys.options, "--time-skew-threshold", "600")
    now = int(time.time())
    text = f"user: mia\npwd:  geheim\nts:   {now}"
    token = keys.token(text, padding)
    assert answer(server, token) == CREATE_STREAMS
    assert answer(server, token) == REFUSAL
    await_failure(server, "used before")
    late = f"user: mia\npwd:  geheim\nts:   {now - 700}"
    assert answer(server, keys.token(late, padding)) == REFUSAL
    await_failure(server, "clock")


@pytest.mark.parametrize("token", [None, "", "AAAA", "no base64 at all", "A" * 344, "B" * 6000])
def test_nonsense_for_a_token_is_refused_like_any_other(
    serve: Serve, keys: Keys, token: str | None
) -> None:
    server = serve(*keys.options)
    assert answer(server, token) == REFUSAL
    report = iperf3(server, keys, "mia", "geheim")
    assert "error" not in report, list(server.events.queue)


def test_a_padding_can_be_ruled_out(
    serve: Serve, keys: Keys, tmp_path: Path, stock_padding: str
) -> None:
    other = "oaep" if stock_padding == "pkcs1" else "pkcs1"
    private, users = keys.options[1], keys.options[3]
    config = tmp_path / "speedtest.toml"
    listen = "[[iperf3]]\nlisten = '127.0.0.1:0'\n"
    auth = f"rsa_private_key = '{private}', authorized_users = '{users}', padding = '{other}'"
    config.write_text(f"{listen}auth = {{ {auth} }}\n")
    server = serve("--config", str(config), protocols=("--http",))
    assert DENIED in iperf3(server, keys, "mia", "geheim")["error"]
    text = f"user: mia\npwd:  geheim\nts:   {int(time.time())}"
    assert answer(server, keys.token(text, other)) == CREATE_STREAMS


def test_an_old_key_file_is_read_too(serve: Serve, keys: Keys, tmp_path: Path) -> None:
    old = tmp_path / "old.pem"
    run = ["openssl", "rsa", "-traditional", "-in", keys.options[1], "-out", old]
    subprocess.run(run, check=True, capture_output=True)
    assert "BEGIN RSA PRIVATE KEY" in old.read_text()
    server = serve("--rsa-private-key-path", str(old), *keys.options[2:])
    assert "error" not in iperf3(server, keys, "mia", "geheim")


@pytest.mark.parametrize(
    ("private", "users", "words"),
    [
        ("absent", None, ["iperf3[0].auth.rsa_private_key", "absent"]),
        ("users", None, ["iperf3[0].auth.rsa_private_key", "no RSA key"]),
        (None, "absent", ["iperf3[0].auth.authorized_users", "absent"]),
        (None, "private", ["iperf3[0].auth.authorized_users", "line 1", "USER,SHA256"]),
    ],
)
def test_wrong_files_are_named_and_end_with_2(
    binary: Path, keys: Keys, private: str | None, users: str | None, words: list[str]
) -> None:
    files = {"private": keys.options[1], "users": keys.options[3]}
    key = files.get(private or "private", private)
    who = files.get(users or "users", users)
    done = subprocess.run(
        [
            *[str(binary), "serve", "--iperf3", "127.0.0.1:0"],
            *["--rsa-private-key-path", str(key), "--authorized-users-path", str(who)],
        ],
        cwd=keys.folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
