# SPDX-License-Identifier: Apache-2.0
"""Run the kube-apiserver of kubernetes/apiserver, and apply objects to it."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_LIMIT_S = 180
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Refused(Exception):
    """Raised with the API server's own words when it does not take an object."""


@dataclass
class ApiServer:
    """A running API server. address: host and port."""

    address: str
    token: str
    context: ssl.SSLContext
    _resources: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)

    def ask(
        self, path: str, body: bytes | None = None, method: str = "GET", kind: str = ""
    ) -> dict[str, Any]:
        """Return the answer's object. Raises Refused."""
        with self._opened(path, body, method, kind) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def _opened(
        self, path: str, body: bytes | None, method: str, kind: str
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(
            self.address, timeout=_LIMIT_S, context=self.context
        )
        headers = {
            "Authorization": f"Bearer {self.token}",
            **({"Content-Type": kind} if kind else {}),
        }
        connection.request(method, path, body, headers)
        answer = connection.getresponse()  # which closes the connection when it is read
        if answer.status >= 400:
            with answer:
                raise Refused(json.load(answer)["message"])
        return answer

    def apply(self, text: str) -> dict[str, Any]:
        """Apply one object of YAML as `kubectl apply --server-side` does. Raises Refused."""
        wanted = yaml.safe_load(text)
        where = f"{self._place(wanted)}/{wanted['metadata']['name']}"
        words = "?fieldManager=wirespeed&fieldValidation=Strict&force=true"
        return self.ask(where + words, text.encode(), "PATCH", "application/apply-patch+yaml")

    def define(self, text: str) -> None:
        """Apply a CRD, and wait until the API server serves its objects."""
        name = self.apply(text)["metadata"]["name"]
        words = f"?watch=1&fieldSelector=metadata.name%3D{name}&timeoutSeconds=60"
        with self._opened(_CRDS + words, None, "GET", "") as events:
            for line in events:
                status = json.loads(line)["object"].get("status", {})
                if {("Established", "True")} & {
                    (each["type"], each["status"]) for each in status.get("conditions") or ()
                }:
                    return
        raise Refused(f"{name} is not served after 60 s")

    def _place(self, wanted: Mapping[str, Any]) -> str:
        version, kind = wanted["apiVersion"], wanted["kind"]
        group = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if (version, kind) not in self._resources:
            for each in self.ask(group)["resources"]:
                if "/" not in each["name"]:
                    self._resources[version, each["kind"]] = (each["name"], each["namespaced"])
        try:
            name, namespaced = self._resources[version, kind]
        except KeyError:
            raise Refused(f"no kind {kind} in {version}") from None
        space = wanted["metadata"].get("namespace", "default")
        return f"{group}/namespaces/{space}/{name}" if namespaced else f"{group}/{name}"


@contextmanager
def api_server(program: str, folder: Path) -> Iterator[ApiServer]:
    """Yield an API server that is ready. folder: empty; it keeps all state there."""
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
    assert server.stdin is not None
    assert server.stdout is not None
    with server.stdout:
        try:
            line = server.stdout.readline()
            assert line, (folder / "log").read_text()[-4000:]
            ready = json.loads(line)
            context = ssl.create_default_context(cafile=ready["authority"])
            yield ApiServer(ready["url"].removeprefix("https://"), ready["token"], context)
        finally:
            server.stdin.close()  # upon which it ends
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
