# SPDX-License-Identifier: Apache-2.0
"""Start the container with Podman by the commands of docs/howto/install.md."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.packages.commands import BUILT, ROOT, Log
from tests.support.ports import reserved_port
from tests.support.waiting import until

pytestmark = pytest.mark.packages(whole=True)
# The fewest trials of a real Open vSwitch; no rate is asserted.
SHORT = (
    "topology.kind=p2p", "traffic.frame=64", "search.kind=mrr", "search.trial_s=0.2",
    "search.latency=false",
)  # fmt: skip
# Podman's own network would make this host forward packets.
NO_NETWORK = ("--network", "none")
PAGES, POOL = 300, Path("/proc/sys/vm/nr_hugepages")


def documented() -> dict[str, list[str]]:
    """Return what follows `podman run --rm` in the page, by its last word."""
    page = (ROOT / "docs" / "howto" / "install.md").read_text(encoding="utf-8")
    text = re.sub(r"\\\n\s*", "", page)
    found = [
        shlex.split(line, comments=True)
        for line in re.findall(r"^podman run --rm (.*)", text, re.MULTILINE)
    ]
    return {words[-1]: words for words in found}


def fitting() -> list[str]:
    """Return the options of Podman that fit this host."""
    # crun refuses a host with both versions of cgroups; runc does not.
    both = not Path("/sys/fs/cgroup/cgroup.controllers").exists()
    return [
        "--storage-driver", "overlay", "--cgroup-manager", "cgroupfs",
        *(["--runtime", "runc"] if both else []),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Podman:
    """Podman with images and containers of its own, below a folder."""

    folder: Path
    log: Log

    @property
    def own(self) -> list[str]:
        folders = ["--root", str(self.folder / "store"), "--runroot", str(self.folder / "run")]
        return [*folders, *fitting()]

    @property
    def limits(self) -> list[str]:
        """Limits that a test's process may set, even where it may not raise its own."""
        return ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"]

    def __call__(self, *words: str) -> str:
        return self.log.run(["podman", *self.own, *words], os.environ)

    def run(self, *words: str) -> tuple[int, str]:
        """Run a container; return its exit status and what it printed."""
        done = subprocess.run(
            ["podman", *self.own, "run", "--rm", *self.limits, *NO_NETWORK, *words],
            check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Podman]:
    found = Podman(tmp_path_factory.mktemp("podman"), Log("podman"))
    with ExitStack() as stack:
        stack.callback(unmount, found.folder / "store" / "overlay")
        found("load", "--input", str(BUILT / "wirespeed.oci.tar"))
        stack.callback(found, "rmi", "--all", "--force")
        stack.callback(found, "rm", "--all", "--force")
        yield found
        found.log.show(found.folder)


def unmount(folder: Path) -> None:
    """Unmount the folder, which Podman mounts on itself and leaves so."""
    if f" {folder} " in Path("/proc/self/mounts").read_text():
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def huge_pages(tmp_path: Path) -> Iterator[Path]:
    """Provide a mount of huge pages, as /dev/hugepages is on a server."""
    before = POOL.read_text()
    with ExitStack() as stack:
        POOL.write_text(str(PAGES + int(before)))
        stack.callback(POOL.write_text, before)
        folder = tmp_path / "hugepages"
        folder.mkdir()
        subprocess.run(
            ["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", folder], check=True
        )
        stack.callback(subprocess.run, ["umount", folder], check=True)
        yield folder


@pytest.mark.parametrize("read_only", [[], ["--read-only"]])
def test_container_without_arguments_prints_what_works(
    podman: Podman, read_only: list[str]
) -> None:
    [image] = documented()["localhost/wirespeed:0.1.0"]
    code, said = podman.run(*read_only, image)
    assert code == 1  # huge pages are not there
    assert "in a container" in said
    assert "works    run wire" in said
    assert "--cap-add IPC_LOCK" in said
    assert "Traceback" not in said


def test_container_measures_the_reference_sut_without_rights(podman: Podman) -> None:
    words = documented()["wire"]
    code, said = podman.run("--cap-drop", "all", *words)
    assert code == 0, said
    assert "wire, 64 B" in said


def test_container_measures_open_vswitch_with_the_documented_flags(
    podman: Podman, huge_pages: Path
) -> None:
    words = documented()["quickstart"]
    mount = words.index("/dev/hugepages:/dev/hugepages")
    words[mount] = f"{huge_pages}:/dev/hugepages"
    code, said = podman.run(*words, *(each for key in SHORT for each in ("--set", key)))
    assert code == 0, said
    assert "p2p, 64 B" in said


def test_container_without_tap_devices_names_the_flags(podman: Podman, huge_pages: Path) -> None:
    image = "localhost/wirespeed:0.1.0"
    mount = f"{huge_pages}:/dev/hugepages"
    code, said = podman.run("-v", mount, image, "wirespeed", "doctor", "quickstart")
    assert code == 1
    assert "--cap-add NET_ADMIN --device /dev/net/tun" in " ".join(said.split())


def service(folder: Path) -> list[str]:
    """Return what `podman run` takes for the service of the compose file.

    podman-compose of Debian 12 gives a container with `network_mode: host` a second network, which
    Podman refuses; so the words are made here.
    """
    text = (ROOT / "speedtest" / "dist" / "compose.yaml").read_text(encoding="utf-8")
    known = yaml.safe_load(text)["services"]["speedtest"]
    words = ["--network", known["network_mode"], "--user", known["user"]]
    words += ["--read-only"] if known["read_only"] else []
    words += [word for name in known["cap_drop"] for word in ("--cap-drop", name)]
    words += [word for name in known["security_opt"] for word in ("--security-opt", name)]
    for volume in known["volumes"]:
        source, _, target = volume.partition(":")
        words += ["-v", f"{folder / source if source.startswith('.') else source}:{target}"]
    return [*words, "localhost/wirespeed:0.1.0", *known["command"]]


def test_speed_test_serves_as_the_compose_file_says(podman: Podman, tmp_path: Path) -> None:
    port = reserved_port()
    (tmp_path / "speedtest.toml").write_text(
        f'[[http]]\nlisten = "127.0.0.1:{port}"\n'
        '[results]\nsqlite = "/var/lib/wirespeed-speedtest/results.sqlite"\n'
    )

    def serves() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    number = podman("run", "--detach", *podman.limits, *service(tmp_path)).strip()
    try:
        until(serves, "the speed test serves its page")
    finally:
        podman("stop", number)
        podman("rm", "--volumes", number)
        podman("volume", "rm", "--all", "--force")
