# SPDX-License-Identifier: Apache-2.0
"""A whole cloud for one plan, and the real clients that execute what was rendered on it."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from tests.openstack import computes, observed
from tests.openstack.comparison import Row, rows
from tests.openstack.control_plane import ControlPlane, cache_directory, control_plane
from tests.openstack.rest import Api
from tests.openstack.services.interface import inside
from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.plan.render.targets import render

_INSIDE = Path(__file__).parent / "inside"
CREATE, DELETE, STACK = "openstack/create.sh", "openstack/delete.sh", "openstack/stack.yaml"


class StartComputes(Protocol):
    def __call__(
        self, control: ControlPlane, plan: Plan, *, rendered: Mapping[str, str]
    ) -> computes.Computes: ...


@dataclass(frozen=True, slots=True)
class Cloud:
    """Running, with the images that the plan names. ready_s: until its computes were up."""

    plan: Plan
    rendered: Mapping[str, str]
    control: ControlPlane
    computes: computes.Computes
    api: Api
    ready_s: float

    @property
    def socket(self) -> Path:
        return self.control.site.root / "client.sock"

    def script(self, name: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a rendered script, or this text of it, as an administrator would."""
        path = self.control.site.write(name, self.rendered[name] if text is None else text)
        return self.client("bash", str(path))

    def client(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """A command; `openstack` in it is the real client. environ adds to an administrator's."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = {"PATH": f"{_INSIDE}:/usr/bin:/bin", "WIRESPEED_CLIENT_SERVER": str(self.socket)}
        return subprocess.run(
            argv, env={**clean, **self.control.site.environ(), **path, **environ},
            cwd=self.control.site.root, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def compare(self) -> list[Row]:
        found = observed.servers(self.api, self.computes.domains)
        return rows(self.plan, found, self.computes.documents)


@contextmanager
def cloud(plan: Plan, facts: Sequence[HostFacts]) -> Iterator[Cloud]:
    """One with simulated hosts, up while the block runs."""
    with cloud_with(plan, partial(computes.start, facts=facts)) as made:
        yield made


@contextmanager
def cloud_with(plan: Plan, start: StartComputes, image: bytes = b"\0") -> Iterator[Cloud]:
    """Up while the block runs. start: what makes its computes, once the control plane is there.

    image: the content of the plan's images.
    """
    began = time.monotonic()
    rendered = render(plan, ["openstack"])
    with control_plane(cache_directory(os.environ), rendered) as control:
        socket = control.site.root / "client.sock"
        control.processes.start(inside("client-server", "client_server.py", str(socket)))
        made = start(control, plan, rendered=rendered)
        api = Api(control.site)
        ready_s = time.monotonic() - began
        for flavor in plan.flavors:
            _image(api, flavor.image, image)
        unlimited = {"instances": -1, "cores": -1, "ram": -1}
        api.put("nova", f"/os-quota-sets/{api.project}", {"quota_set": unlimited})
        control.processes.wait("the client's server", socket.exists)
        yield Cloud(plan, rendered, control, made, api, ready_s)


def _image(api: Api, name: str, content: bytes) -> None:
    if any(image["name"] == name for image in api.get("glance", "/images")["images"]):
        return
    told = {"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    api.upload(api.post("glance", "/images", told)["id"], content)


def free_script(text: str) -> str:
    """create.sh that leaves the host to the scheduler."""
    return re.sub(r" --host \S+", "", text)
