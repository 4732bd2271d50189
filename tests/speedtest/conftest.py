# SPDX-License-Identifier: Apache-2.0
"""Real speed-test servers for the tests of this folder, each on ports that the kernel chose."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest

from tests.support import speedtest_program
from tests.support.waiting import PATIENCE_S

Event = dict[str, Any]


@dataclass
class Server:
    """A running server and the events that it has logged.

    ports: by option, e.g. "--iperf3", as the server logged them; the last of several.
    """

    process: subprocess.Popen[str]
    events: Queue[Event]
    ports: dict[str, int] = field(default_factory=dict)

    def next_event(self, name: str) -> Event:
        """Return the next event of this name; drop those before it."""
        while (event := self._event(name))["event"] != name:
            pass
        return event

    def await_ready(self) -> None:
        """Note the ports until the server is ready."""
        while (event := self._event("ready"))["event"] != "ready":
            if event["event"] == "listening":
                self.ports[f"--{event['protocol']}"] = int(event["address"].rpartition(":")[2])

    def _event(self, wanted: str) -> Event:
        try:
            event = self.events.get(timeout=PATIENCE_S)
        except Empty:
            raise AssertionError(f"the server did not log {wanted!r}") from None
        assert event["event"] != "words", event["words"]
        return event


Serve = Callable[..., Server]


@pytest.fixture(scope="session")
def binary() -> Path:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    speedtest_program.build()
    return speedtest_program.PROGRAM


@contextmanager
def running(binary: Path, protocols: Iterable[str], options: list[str]) -> Iterator[Server]:
    """Run a server of these protocols, e.g. "--iperf3", each on a port of loopback."""
    addresses = [word for name in protocols for word in (name, "127.0.0.1:0")]
    process = subprocess.Popen(
        [binary, "serve", "--log", "json", *addresses, *options],
        stderr=subprocess.PIPE,
        text=True,
    )
    server = Server(process, Queue())

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            # An error is printed as a sentence in any format of the log.
            told = line.startswith("{")
            server.events.put(json.loads(line) if told else {"event": "words", "words": line})

    reader = threading.Thread(target=read)
    reader.start()
    try:
        server.await_ready()
        yield server
    finally:
        process.kill()
        process.wait()
        reader.join()
    # A panic aborts; what a client sees of that is a connection that ends.
    last = [event["words"] for event in server.events.queue if event["event"] == "words"]
    assert process.returncode != -signal.SIGABRT, f"the server crashed: {last}"


@pytest.fixture
def serve(binary: Path) -> Iterator[Serve]:
    """Start servers: `serve("--max-tests", "1")` speaks iperf3 on a port of its own."""
    with ExitStack() as stack:

        def start(*options: str, protocols: tuple[str, ...] = ("--iperf3",)) -> Server:
            return stack.enter_context(running(binary, protocols, list(options)))

        yield start


def wait_for_line(path: Path, patience_s: float) -> str:
    """Wait until the first line of a file is complete; return it."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text.splitlines()[0]
        time.sleep(0.1)
    raise AssertionError(f"nothing was written to {path} in {patience_s} s")


@contextmanager
def browse(url: str, profile: Path) -> Iterator[None]:
    """Show the page in a headless Chromium while the block runs."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command = ["chromium", *options, f"--user-data-dir={profile}", url]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        browser.terminate()
        browser.wait(PATIENCE_S)


@pytest.fixture
def limited(serve: Serve, tmp_path: Path) -> Serve:
    """Return what starts a server with this configuration file."""

    def start(toml: str, *options: str, protocols: tuple[str, ...] = ("--iperf3",)) -> Server:
        path = tmp_path / "speedtest.toml"
        path.write_text(toml)
        return serve("--config", str(path), *options, protocols=protocols)

    return start
