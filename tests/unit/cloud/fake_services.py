# SPDX-License-Identifier: Apache-2.0
"""Serve a Keystone and one other service on loopback, with as much HTTP as the tests need."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.http_serving import serving_thread

PASSWORD = "correct-horse"  # noqa: S105


@dataclass
class Services:
    """Services that listen on loopback."""

    port: int = 0
    microversion: str = "2.96"
    in_catalogue: tuple[str, ...] = ("compute", "placement", "network", "image")
    answers: dict[str, Any] = field(default_factory=dict)
    """Status and body by path without query, or a list with one of each per request."""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path with query and microversion of every request except Keystone's."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def catalogue(self) -> list[dict[str, Any]]:
        endpoints = [{"interface": "public", "region_id": "one", "region": "one", "id": "e"}]
        return [
            {"type": name, "name": name, "endpoints": [{**e, "url": f"{self.url}/{name}"}]}
            for name in self.in_catalogue
            for e in endpoints
        ]

    def versions(self, service: str) -> dict[str, Any]:
        version = {
            "id": {"compute": "v2.1", "network": "v2.0", "image": "v2.9"}.get(service, "v1.0"),
            "status": "CURRENT", "version": self.microversion, "max_version": self.microversion,
            "min_version": "1.0", "links": [{"rel": "self", "href": f"{self.url}/{service}"}],
        }  # fmt: skip
        return {"versions": [version]}


class _Handler(BaseHTTPRequestHandler):
    services: Services

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].rstrip("/")
        if path == "/identity/v3":
            links = [{"rel": "self", "href": f"{self.services.url}/identity/v3"}]
            self._send(200, {"version": {"id": "v3.14", "status": "stable", "links": links}})
        elif path.count("/") == 1:
            self._send(200, self.services.versions(path[1:]))
        else:
            version = self.headers.get("OpenStack-API-Version", "")
            self.services.asked.append((self.command, self.path, version))
            answer = self.services.answers.get(path, (404, {}))
            status, body = answer.pop(0) if isinstance(answer, list) else answer
            self._send(status, body)

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        given = json.loads(self.rfile.read(length))
        password = given["auth"]["identity"]["password"]["user"]["password"]
        if password != PASSWORD:
            self._send(401, {"error": {"code": 401, "message": "not you", "title": "no"}})
            return
        token = {
            "token": {
                "methods": ["password"], "expires_at": "2099-01-01T00:00:00.000000Z",
                "issued_at": "2020-01-01T00:00:00.000000Z", "roles": [],
                "user": {"id": "u", "name": "u", "domain": {"id": "d", "name": "d"}},
                "project": {"id": "p", "name": "p", "domain": {"id": "d", "name": "d"}},
                "catalog": self.services.catalogue(),
            }
        }  # fmt: skip
        self._send(201, token)

    def _send(self, status: int, body: Any) -> None:
        text = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Subject-Token", "token-text")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@contextmanager
def served() -> Iterator[Services]:
    """Yield the services while they listen."""
    services = Services()
    handler = type("Handler", (_Handler,), {"services": services})
    with serving_thread(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as services.port:
        yield services
