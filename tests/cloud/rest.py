# SPDX-License-Identifier: Apache-2.0
"""Call the services' REST interfaces, as far as the tests read and clean up."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from tests.cloud.site import PROJECT, USER, Site

_VERSIONS = {
    "nova": {"X-OpenStack-Nova-API-Version": "2.78"},
    "placement": {"OpenStack-API-Version": "placement 1.36"},
}
# Where a service's collections begin, below what Site.url says.
_PREFIX = {"nova": "/v2.1", "neutron": "/v2.0", "glance": "/v2", "placement": ""}


class ApiError(Exception):
    """Rejection by a service. status: HTTP's."""

    def __init__(self, what: str, status: int, text: str) -> None:
        super().__init__(f"{what}: {status} {text[:600]}")
        self.status = status


class Api:
    """Calls with one login. Replies are JSON as the services document it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        scope = {"project": {"name": PROJECT, "domain": {"name": "Default"}}}
        user = {"name": USER, "password": site.password, "domain": {"name": "Default"}}
        login = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}},
                          "scope": scope}}  # fmt: skip
        headers, answer = self._ask("POST", site.url("keystone", "/v3/auth/tokens"), login, {})
        self._token = headers["X-Subject-Token"]
        self.project = str(answer["token"]["project"]["id"])

    def get(self, service: str, path: str) -> Any:
        return self._call("GET", service, path, None)

    def post(self, service: str, path: str, body: object) -> Any:
        return self._call("POST", service, path, body)

    def put(self, service: str, path: str, body: object) -> Any:
        return self._call("PUT", service, path, body)

    def delete(self, service: str, path: str) -> None:
        self._call("DELETE", service, path, None)

    def upload(self, image: str, content: bytes) -> None:
        self._call("PUT", "glance", f"/images/{image}/file", content)

    def _call(self, method: str, service: str, path: str, body: object) -> Any:
        prefix = f"/v1/{self.project}" if service == "heat" else _PREFIX[service]
        headers = {"X-Auth-Token": self._token, **_VERSIONS.get(service, {})}
        return self._ask(method, self._site.url(service, prefix + path), body, headers)[1]

    def _ask(self, method: str, url: str, body: object, headers: dict[str, str]) -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        request = urllib.request.Request(  # noqa: S310  # http to loopback
            url, content, {**headers, "Content-Type": kind}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:  # noqa: S310
                text = answer.read()
                return answer.headers, json.loads(text) if text else None
        except urllib.error.HTTPError as fault:
            raise ApiError(f"{method} {url}", fault.code, fault.read().decode()) from None
