# SPDX-License-Identifier: Apache-2.0
"""Serve the page and its recordings to browsers that know the token.

The token is the first part of each path, so that the page's own requests carry it. A request of
another origin, or for another host name (DNS rebinding), is refused. The server keeps no state of a
page: a page asks for what comes after what it has, so a slow one costs no memory, and one whose
server was killed goes on with the next server.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import socket
import sys
import threading
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from wirespeed.live.page import SCRIPT, SERVED_POLICY, STYLE, script, served_page, style
from wirespeed.live.stored import StoredRecording
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.input.bounded import load_json

_BODY_MAX = 1 << 20
# Threads at once: a browser holds six connections.
_REQUESTS_MAX = 64
# A browser that reads or writes nothing for so long is gone.
_SILENT_S = 60
_FAR_NS = 1 << 62
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HTML, _JSON, _OCTETS = "text/html; charset=utf-8", "application/json", "application/octet-stream"


class _Refused(Exception):
    """Raised for a request that gets no answer but this one."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class LiveServer(ThreadingHTTPServer):
    """Answers pages until it is shut down. Raises OSError where the address cannot be used."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = _REQUESTS_MAX

    def __init__(
        self, address: str, port: int, token: str, recordings: Sequence[StoredRecording], title: str
    ) -> None:
        self.token, self.recordings, self.title = token, recordings, title
        self.files = {
            SCRIPT: (script().encode(), "text/javascript; charset=utf-8"),
            STYLE: (style().encode(), "text/css; charset=utf-8"),
        }
        self.any_host = not ipaddress.ip_address(address).is_loopback
        """Others reach it by names that are not known here; the token alone keeps them out."""
        self.own_names = {*_LOOPBACK, address}
        self.free = threading.BoundedSemaphore(_REQUESTS_MAX)
        if ":" in address:
            self.address_family = socket.AF_INET6
        super().__init__((address, port), _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"http://{shown}:{port}/{self.token}/"

    def end(self) -> None:
        """Answer the requests that wait, and close."""
        for each in self.recordings:
            each.closing.set()
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error of the server itself; a browser that is gone is none."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "wirespeed", ""
    timeout = _SILENT_S
    # Head and body are two writes: the second would wait for a delayed ACK of the first.
    disable_nagle_algorithm = True
    server: LiveServer

    def do_GET(self) -> None:
        self._answer(body=b"")

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length") or -1)
        except ValueError:
            length = -1
        if not 0 <= length <= _BODY_MAX:
            self.close_connection = True
            self._send(HTTPStatus(413), b"at most 1 MiB is read\n", "text/plain")
            return
        self._answer(body=self.rfile.read(length))

    def log_message(self, format: str, *args: Any) -> None:
        """Do nothing: paths hold the token."""

    def _answer(self, body: bytes) -> None:
        try:
            self._check_origin()
            path, _, query = self.path.partition("?")
            name = self._checked_name(path)
            found, kind = self._found(name, parse_qs(query), body)
            self._send(HTTPStatus.OK, found, kind)
        except _Refused as refused:
            self._send(refused.status, f"{refused.text}\n".encode(), "text/plain; charset=utf-8")
        except WirespeedError as fault:
            status = HTTPStatus.NOT_FOUND if isinstance(fault, BadInput) else HTTPStatus(503)
            self._send(status, f"{fault.what}\n".encode(), "text/plain; charset=utf-8")

    def _check_origin(self) -> None:
        """Refuse another site's page, and a name that another site's DNS gave this address."""
        host = self.headers.get("Host", "")
        if not self.server.any_host and _host_name(host) not in self.server.own_names:
            raise _Refused(HTTPStatus.FORBIDDEN, "This page has another address.")
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "none")
        opened = self.command == "GET" and self.headers.get("Sec-Fetch-Mode") == "navigate"
        if origin not in (None, f"http://{host}") or (
            site not in ("none", "same-origin") and not opened
        ):
            raise _Refused(HTTPStatus.FORBIDDEN, "Another site's page may not ask this one.")

    def _checked_name(self, path: str) -> str:
        token, slash, name = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refused(
                HTTPStatus.FORBIDDEN,
                "The token is missing or wrong. Open the address that `wirespeed live` printed.",
            )
        if not slash:
            raise _Refused(HTTPStatus.NOT_FOUND, "The address of the page ends with a slash.")
        return name

    def _found(self, name: str, query: dict[str, list[str]], body: bytes) -> tuple[bytes, str]:
        if self.command == "GET" and not name:
            return served_page(self.server.title).encode(), _HTML
        if self.command == "GET" and name in self.server.files:
            return self.server.files[name]
        if name == "recordings":
            ids = [each.id for each in self.server.recordings]
            return json.dumps(ids).encode(), _JSON
        number = _number(query, "r", default=0)
        if not 0 <= number < len(self.server.recordings):
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such recording here")
        return self._of(self.server.recordings[number], name, query, body)

    def _of(
        self, recording: StoredRecording, name: str, query: dict[str, list[str]], body: bytes
    ) -> tuple[bytes, str]:
        if self.command == "POST":
            if name != "follow":
                raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing of this name")
            return recording.follow(*_followed(body)), _JSON
        if name == "about":
            return json.dumps(recording.about()).encode(), _JSON
        if name not in ("picture", "chunks"):
            raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing of this name")
        begin, end = _number(query, "begin"), _number(query, "end")
        if end < begin:
            raise _Refused(HTTPStatus.BAD_REQUEST, "end is before begin")
        if name == "picture":
            return recording.picture(begin, end, _number(query, "pixels", least=1)), _OCTETS
        source = _number(query, "source", least=0) if "source" in query else None
        return recording.chunks(begin, end, source), _JSON

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", SERVED_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


def _host_name(host: str) -> str | None:
    """Return the name or address of a Host header, with or without a port; None if it is none."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _number(
    query: dict[str, list[str]], name: str, *, default: int | None = None, least: int = -_FAR_NS
) -> int:
    """Return an integer of the query. Raises _Refused."""
    try:
        found = int(query[name][0]) if name in query or default is None else default
        if not least <= found <= _FAR_NS:
            raise ValueError(found)
    except (ValueError, LookupError):
        raise _Refused(HTTPStatus.BAD_REQUEST, f"{name}: not a number in its range") from None
    return found


def _followed(body: bytes) -> tuple[dict[int, int], int, int]:
    """Return what a page says that it has: ends by source, and numbers of series and marks."""
    try:
        match load_json(body):
            case {"ends": list(ends), "series": int(series), "marks": int(marks)}:
                found = {n: int(end) for n, end in enumerate(ends[:10_000])}
                if all(abs(end) < _FAR_NS for end in found.values()):
                    return found, series, marks
    except (ValueError, TypeError, OverflowError):
        pass
    raise _Refused(HTTPStatus.BAD_REQUEST, "the request says not what the page has")
