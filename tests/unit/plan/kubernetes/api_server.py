# SPDX-License-Identifier: Apache-2.0
"""Start a real kube-apiserver with etcd, and apply files to it as kubectl does."""

from __future__ import annotations

import json
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

_YAML_PATCH = "application/apply-patch+yaml"
# The server answers within seconds; the limit ends a test whose server hangs.
_LIMIT_S = 60


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict[str, Any]

    @property
    def accepted(self) -> bool:
        return self.status in (200, 201)

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))


@dataclass
class ApiServer:
    """Client of a running server."""

    url: str
    token: str
    context: ssl.SSLContext
    _resources: dict[str, dict[str, Any]] = field(default_factory=dict)

    def apply(self, text: str) -> Answer:
        """Apply one object server-side; unknown and duplicate fields are errors."""
        document = yaml.safe_load(text)
        name = document["metadata"]["name"]
        query = "?fieldManager=wirespeed&fieldValidation=Strict&force=true"
        return self._call("PATCH", f"{self._path(document)}/{name}{query}", text, _YAML_PATCH)

    def create(self, document: dict[str, Any]) -> Answer:
        return self._call("POST", self._path(document), json.dumps(document), "application/json")

    def wait_established(self, name: str) -> None:
        """Return when a CustomResourceDefinition is served."""
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        query = f"?watch=1&fieldSelector=metadata.name={name}&timeoutSeconds={_LIMIT_S}"
        with self._open("GET", path + query) as events:
            for event in events:
                conditions = json.loads(event)["object"].get("status", {}).get("conditions", ())
                if any(c["type"] == "Established" and c["status"] == "True" for c in conditions):
                    return
        raise TimeoutError(f"{name} is not established after {_LIMIT_S} s")

    def _path(self, document: dict[str, Any]) -> str:
        """Return the path of an object's collection, as the server itself describes it."""
        group = document["apiVersion"]
        base = f"/api/{group}" if "/" not in group else f"/apis/{group}"
        if group not in self._resources:
            found = self._call("GET", base)
            if not found.accepted:
                raise LookupError(f"no API {group}: {found.message}")
            whole = [r for r in found.body["resources"] if "/" not in r["name"]]
            self._resources[group] = {r["kind"]: r for r in whole}
        resource = self._resources[group].get(document["kind"])
        if resource is None:
            raise LookupError(f"{group} has no kind {document['kind']}")
        if not resource["namespaced"]:
            return f"{base}/{resource['name']}"
        return f"{base}/namespaces/{document['metadata']['namespace']}/{resource['name']}"

    def _call(self, method: str, path: str, text: str = "", kind: str = "") -> Answer:
        try:
            with self._open(method, path, text, kind) as answer:
                return Answer(answer.status, json.load(answer))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, json.load(error))

    def _open(self, method: str, path: str, text: str = "", kind: str = "") -> Any:
        request = urllib.request.Request(self.url + path, method=method)  # noqa: S310
        request.add_header("Authorization", f"Bearer {self.token}")
        if text:
            request.data = text.encode()
            request.add_header("Content-Type", kind)
        return urllib.request.urlopen(request, timeout=_LIMIT_S, context=self.context)  # noqa: S310


@contextmanager
def running(program: str, folder: Path) -> Iterator[ApiServer]:
    """Run the server of kubernetes/oracle/apiserver in an empty folder."""
    errors = folder / "errors.txt"
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(
            [program, "-dir", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        ) as process,
    ):
        try:
            line = cast(Any, process.stdout).readline()
            if not line:
                raise RuntimeError(errors.read_text(encoding="utf-8")[-2000:])
            ready = json.loads(line)
            context = ssl.create_default_context(cafile=ready["ca"])
            yield ApiServer(ready["url"], ready["token"], context)
        finally:
            # The server ends with its standard input.
            cast(Any, process.stdin).close()
            try:
                process.wait(_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
