# SPDX-License-Identifier: Apache-2.0
"""Start the control plane from a cached database or from nothing; end it without leftovers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cloud import mariadb, packages, rabbit
from tests.cloud.processes import PYTHON, CloudError, Processes, Program, listens, runs
from tests.cloud.services import glance, heat, keystone, neutron, nova, placement
from tests.cloud.services.interface import Service, inside
from tests.cloud.site import Site
from wirespeed.remote.local import LocalRunner

_HERE = Path(__file__).parent
# Together with the packages' versions these files decide what the databases hold at first.
_RECIPE = ("control_plane.py", "mariadb.py", "services/keystone.py", "services/placement.py",
           "services/glance.py", "services/nova.py", "services/neutron.py",
           "services/heat.py")  # fmt: skip


# The logs of the last OpenStack under which something failed.
LOGS = _HERE.parents[1] / "build" / "openstack-logs"


@dataclass(frozen=True, slots=True)
class Traces:
    """Processes, listening ports and files of a running control plane."""

    processes: frozenset[int]
    ports: tuple[tuple[str, int], ...]
    root: Path

    def left(self) -> tuple[str, ...]:
        """Return those that still exist."""
        found = [f"process {pid}" for pid in self.processes if runs(pid)]
        found += [f"port {port} of {name}" for name, port in self.ports if listens(port)]
        return (*found, *([f"files in {self.root}"] if self.root.exists() else ()))


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A running control plane."""

    site: Site
    processes: Processes
    services: tuple[Service, ...]
    cached: bool
    """Its databases came from the cache."""

    @property
    def client(self) -> Path:
        """Return the socket of inside/client_server.py."""
        return self.site.root / "client.sock"

    def of_plan(self, rendered: Mapping[str, str]) -> None:
        """Run the services that read a plan's files, each anew if its files are others.

        The others run already. rendered: the files of target `openstack`.
        """
        for service in (each for each in self.services if each.reads):
            texts = {path: rendered[f"openstack/{name}"] for name, path in service.reads.items()}
            if all(path.exists() and path.read_text() == text for path, text in texts.items()):
                continue
            for program in reversed(service.programs):
                if self.processes.started(program.name):
                    self.processes.stop(program.name)
            for path, text in texts.items():
                self.site.write(str(path.relative_to(self.site.root)), text)
            _start(self.site, self.processes, [service])
        _wait(self.site, self.processes, [service.name for service in self.services])
        self.processes.wait("the client's server", self.client.exists)

    def traces(self) -> Traces:
        """Return what must be gone at the end."""
        return Traces(
            frozenset(self.processes.members()), tuple(self.site.ports.items()), self.site.root
        )


@contextmanager
def control_plane(cache: Path) -> Iterator[ControlPlane]:
    """Run the control plane, except services that read a plan's files (ControlPlane.of_plan)."""
    root = Path(tempfile.mkdtemp(prefix="ws-os-"))
    site = Site(root)
    processes = Processes(site.folder("logs"))
    processes.guard(root)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        # The first of several fills the cache.
        with LocalRunner().lock(str(cache / "lock")):
            services = _services(site, packages.paste_files(cache))
            rabbit.start(site, processes)
            cached = _databases(site, processes, services, cache)
        _renew(site, processes, services)
        rabbit.wait(site, processes)
        control = ControlPlane(site, processes, services, cached)
        processes.start(inside("client-server", "client_server.py", str(control.client)))
        _start(site, processes, [service for service in services if not service.reads])
        yield control
    except BaseException:
        shutil.rmtree(LOGS, ignore_errors=True)
        shutil.copytree(processes.logs, LOGS, dirs_exist_ok=True)
        raise
    finally:
        processes.stop_all()
        shutil.rmtree(root)


def _start(site: Site, processes: Processes, services: Iterable[Service]) -> None:
    for service in services:
        _wait(site, processes, service.after)
        for program in service.programs:
            processes.start(program)


def _wait(site: Site, processes: Processes, services: Iterable[str]) -> None:
    for name in services:
        port = site.ports[name]
        processes.wait(f"{name} on port {port}", lambda port=port: listens(port))


def _services(site: Site, paste: Mapping[str, Path]) -> tuple[Service, ...]:
    return (
        keystone.service(site),
        placement.service(site),
        glance.service(site, paste["glance"]),
        neutron.service(site, paste["neutron"]),
        nova.service(site, paste["nova"]),
        heat.service(site, paste["heat"]),
    )


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Return wirespeed/openstack in $XDG_CACHE_HOME or ~/.cache."""
    base = environ.get("XDG_CACHE_HOME", "")
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    return (Path(base) if base.startswith("/") else home / ".cache") / "wirespeed" / "openstack"


def digest() -> str:
    """Return the digest of everything that decides the content of new databases."""
    made = hashlib.sha256(json.dumps(packages.versions(), sort_keys=True).encode())
    for name in _RECIPE:
        made.update((_HERE / name).read_bytes())
    return made.hexdigest()[:16]


def _databases(
    site: Site, processes: Processes, services: tuple[Service, ...], cache: Path
) -> bool:
    kept = cache / f"databases-{digest()}"
    if kept.exists():
        _copy(kept, mariadb.data(site))
        mariadb.start(site, processes)
        return True
    mariadb.install(site, processes)
    mariadb.start(site, processes)
    _fill(site, processes, services)
    mariadb.shut_down(site, processes)
    for other in cache.glob("databases-*"):
        shutil.rmtree(other)
    partial = cache / f"partial-{os.getpid()}"
    _copy(mariadb.data(site), partial)
    partial.rename(kept)
    mariadb.start(site, processes)
    return False


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--sparse=always", source, target], check=True)


def _fill(site: Site, processes: Processes, services: tuple[Service, ...]) -> None:
    names = [name for service in services for name in service.databases]
    mariadb.execute(site, processes, "".join(f"CREATE DATABASE {name};" for name in names))

    def fill(service: Service) -> None:
        for program in service.fill:
            processes.run(program)

    with ThreadPoolExecutor(len(services)) as pool:
        list(pool.map(fill, services))


def _renew(site: Site, processes: Processes, services: tuple[Service, ...]) -> None:
    """Write this start's password and ports into the databases."""
    hashed = processes.run(
        Program("bcrypt", (PYTHON, "-c", "import bcrypt, sys; print(bcrypt.hashpw("
                           "sys.stdin.read().encode(), bcrypt.gensalt(4)).decode())")),
        site.password,
    ).strip()  # fmt: skip
    if not hashed.startswith("$2"):
        raise CloudError(f"no bcrypt hash: {hashed!r}")
    mariadb.execute(site, processes, keystone.new_password_and_places(services, site, hashed))
