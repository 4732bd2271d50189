# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that tests drive over the DevTools protocol, one browser for many pages."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.support.waiting import PATIENCE_S, until
from tests.support.websocket import TEXT, Peer, frame, upgrade

Json = dict[str, Any]
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]

# Chromium ends requests when an interface or an address of the host comes or goes, also those of
# other tests and of other addresses than its own.
NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED"


class Page:
    """One tab: commands, and the events that came meanwhile."""

    def __init__(self, port: int, path: str) -> None:
        link = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        link.sendall(upgrade(path, {"Host": f"127.0.0.1:{port}"}))
        self._peer = Peer(link)
        self._last = 0
        self._received: list[Json] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.command(f"{domain}.enable")

    def command(self, method: str, **params: Any) -> Json:
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        self._peer.send(frame(TEXT, json.dumps(message).encode()))
        while True:
            answer: Json = json.loads(self._peer.until(TEXT))
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                result: Json = answer["result"]
                return result
            self._received.append(answer)

    def run(self, expression: str) -> Any:
        """Return the awaited value of a JavaScript expression."""
        done = self.command(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def wait(self, condition: str, what: str) -> None:
        """Wait until a JavaScript condition holds."""
        try:
            until(lambda: bool(self.run(f"Boolean({condition})")), what)
        except AssertionError as late:
            raise AssertionError(f"{late}; the page says: {self.text('body')}") from None

    def forget(self) -> None:
        """Forget the events that came so far."""
        self._received.clear()

    def open(self, url: str) -> None:
        """Open a page whole: again, if the host's interfaces changed while it was loaded."""
        until(lambda: self._opened(url), f"{url} without {NETWORK_CHANGED}")

    def _opened(self, url: str) -> bool:
        self.forget()
        # From one fragment of a page to another it is not loaded anew.
        self.command("Page.navigate", url="about:blank")
        if self.command("Page.navigate", url=url).get("errorText") == NETWORK_CHANGED:
            return False
        self.wait(f"location.href === {json.dumps(url)} && document.readyState === 'complete'", url)
        failed = self.events("Network.loadingFailed")
        return NETWORK_CHANGED not in [each["errorText"] for each in failed]

    @contextmanager
    def without(self, pattern: str) -> Iterator[None]:
        """Let no request arrive whose URL matches, while the block runs; `*` is any text."""
        self.command("Network.setBlockedURLs", urls=[pattern])
        try:
            yield
        finally:
            self.command("Network.setBlockedURLs", urls=[])

    def text(self, selector: str) -> str:
        found = self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")
        return str(found)

    def click(self, selector: str) -> None:
        """Click on an element as soon as it is there: scripts may make it later than the page."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.wait(found, f"an element {selector}")
        self.run(f"{found}.click()")

    def resize(self, width: int, height: int, scale: float = 1) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def screenshot(self, path: Path) -> None:
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def events(self, method: str) -> list[Json]:
        """Return the events of one type since the page was opened."""
        return [event["params"] for event in self._received if event.get("method") == method]

    def faults(self) -> list[Json]:
        """Return exceptions, and errors in the console."""
        logged = self.events("Log.entryAdded") + self.events("Runtime.consoleAPICalled")
        errors = [
            said
            for said in logged
            if "error" in (said.get("type"), said.get("entry", {}).get("level"))
        ]
        return self.events("Runtime.exceptionThrown") + errors


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """Run a browser with one empty tab while the block runs."""
    command = ["chromium", *OPTIONS, "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    browser = subprocess.Popen(
        [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    written = profile / "DevToolsActivePort"
    try:
        until(lambda: written.exists() and len(written.read_text().split()) == 2, "Chromium's port")
        port = int(written.read_text().split()[0])
        with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S) as answer:
            tabs = json.loads(answer.read())
        address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
        yield Page(port, "/" + address.split("/", 3)[3])
    finally:
        browser.terminate()
        browser.wait(PATIENCE_S)
