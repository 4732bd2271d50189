# SPDX-License-Identifier: Apache-2.0
"""Cloud for one plan, and the real clients that execute the rendered files on it."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cloud import computes, observed
from tests.cloud.comparison import Row, rows
from tests.cloud.control_plane import ControlPlane
from tests.cloud.rest import Api
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.render.targets import render

_INSIDE = Path(__file__).parent / "inside"
CREATE, DELETE, STACK = "openstack/create.sh", "openstack/delete.sh", "openstack/stack.yaml"


@dataclass(frozen=True, slots=True)
class Cloud:
    """A running cloud that has the images of the plan."""

    plan: Plan
    rendered: Mapping[str, str]
    control: ControlPlane
    computes: computes.Computes
    api: Api
    ready_s: float
    """Time until its computes were up."""

    def script(self, name: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a rendered script, or this text of it, as an administrator would."""
        path = self.control.site.write(name, self.rendered[name] if text is None else text)
        return self.client("bash", str(path))

    def client(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command; `openstack` is the real client. environ: added to the administrator's."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = {
            "PATH": f"{_INSIDE}:/usr/bin:/bin",
            "WIRESPEED_CLIENT_SERVER": str(self.control.client),
            # Nothing else asks this scheduler; a restart of RabbitMQ loses requests.
            "WIRESPEED_SCHEDULED_S": "20",
        }
        return subprocess.run(
            argv, env={**clean, **self.control.site.environ(), **path, **environ},
            cwd=self.control.site.root, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def delete_servers(self) -> None:
        """Delete all servers, and wait until they are gone."""
        for each in self._servers():
            self.api.delete("nova", f"/servers/{each['id']}")
        self.control.processes.wait(
            "servers gone", lambda: not self._servers(), every_s=computes.ASK_S
        )

    def _servers(self) -> list[dict[str, str]]:
        return list(self.api.get("nova", "/servers")["servers"])

    def names(self) -> set[str]:
        """Return the names of all servers, ports, networks, aggregates and flavors."""
        found = {each["name"] for each in self._servers()}
        for kind in ("ports", "networks"):
            found |= {each["name"] for each in self.api.get("neutron", f"/{kind}")[kind]}
        found |= {each["name"] for each in self.api.get("nova", "/os-aggregates")["aggregates"]}
        return found | {each["name"] for each in self.api.get("nova", "/flavors")["flavors"]}

    def compare(self) -> list[Row]:
        found = observed.servers(self.api, self.computes.domains)
        return rows(self.plan, found, self.computes.documents)


@contextmanager
def cloud_on(
    control: ControlPlane, plan: Plan, start: computes.StartComputes, image: bytes = b"\0"
) -> Iterator[Cloud]:
    """Run a cloud while the block runs, then remove it from the control plane.

    start: starts its computes. image: the content of the plan's images.
    """
    began = time.monotonic()
    rendered = render(plan, ["openstack"])
    control.of_plan(rendered)
    made = start(control, plan, rendered=rendered)
    api = Api(control.site)
    ready_s = time.monotonic() - began
    for flavor in plan.flavors:
        _image(api, flavor.image, image)
    unlimited = {"instances": -1, "cores": -1, "ram": -1}
    api.put("nova", f"/os-quota-sets/{api.project}", {"quota_set": unlimited})
    yield Cloud(plan, rendered, control, made, api, ready_s)
    made.end(control)
    for found in api.get("glance", "/images")["images"]:
        api.delete("glance", f"/images/{found['id']}")


def _image(api: Api, name: str, content: bytes) -> None:
    if any(image["name"] == name for image in api.get("glance", "/images")["images"]):
        return
    body = {"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    api.upload(api.post("glance", "/images", body)["id"], content)


def free_script(text: str) -> str:
    """Return create.sh without hosts, so that the scheduler chooses."""
    return re.sub(r" --host \S+", "", text)
