# SPDX-License-Identifier: Apache-2.0
"""Test that an impossible build reports why, in one line, and where to read more."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.image import build as under_test
from wirespeed.image import debian
from wirespeed.image.build import build
from wirespeed.image.cache import ImageCache
from wirespeed.image.errors import ImageError
from wirespeed.image.recipe import Recipe
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import Completed, ProgramMissing
from wirespeed.remote.local import LocalProcess, LocalRunner

RECIPE = Recipe("guest", "bookworm", ("iproute2",), "linux", (), configured=False, disk="squashfs")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a folder that is the only one in PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(under_test.os, "geteuid", lambda: 0)
    monkeypatch.setattr(debian, "sources", lambda *_: "deb http://mirror bookworm main\n")
    return folder


def fails(programs: Path, said: str) -> None:
    program = programs / "mmdebstrap"
    program.write_text(f"#!/bin/sh\necho 'I: downloading packages'\necho \"{said}\"\nexit 25\n")
    program.chmod(0o755)
    for other, target in {"mksquashfs": "true", "mke2fs": "true", "unshare": "unshare"}.items():
        (programs / other).symlink_to(f"/bin/{target}")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("E: Unable to locate package nosuch", "Debian has no package nosuch"),
        ("E: Package 'old' has no installation candidate", "Debian has no package old"),
        ("E: mkdir: No space left on device", "no space left in {folder} for the image"),
        ("E: apt-get update failed", "mmdebstrap failed: apt-get update failed"),
        ("killed", "mmdebstrap failed: it ended with 25"),
    ],
)
def test_build_failing_mmdebstrap_names_the_cause(
    programs: Path, tmp_path: Path, said: str, told: str
) -> None:
    fails(programs, said)
    cache = ImageCache(tmp_path / "images", LocalRunner())
    with pytest.raises(WirespeedError) as caught:
        cache.get(RECIPE)
    assert caught.value.what == told.format(folder=cache.folder)
    log = cache.folder / f"guest-{RECIPE.digest}.log"
    assert str(log) in caught.value.next_step or "WIRESPEED_IMAGES" in caught.value.next_step
    assert said in log.read_text()
    assert cache.images() == ()


class Ended(Exception):
    """Stand-in for the exception that a signal raises in wirespeed."""


def test_an_interrupted_build_ends_its_program_and_its_mounts(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails(programs, "")
    pid_file = tmp_path / "pid"
    (programs / "mmdebstrap").write_text(
        f"""#!/bin/sh
[ "$1" = --version ] && exit
for argument; do case $argument in */root.d) root=$argument ;; esac; done
/bin/mkdir "$root" && /bin/mount -t tmpfs -o ro none "$root" || exit 1
echo $$ > {pid_file}.new && /bin/mv {pid_file}.new {pid_file}
exec /bin/sleep 600
"""
    )

    def interrupted(self: LocalProcess, _timeout_s: float) -> int:
        monkeypatch.undo()
        while not pid_file.exists():
            assert self.poll() is None
        raise Ended

    monkeypatch.setattr(LocalProcess, "wait", interrupted)
    cache = ImageCache(tmp_path / "images", LocalRunner())
    with pytest.raises(Ended):
        cache.get(RECIPE)
    assert not Path(f"/proc/{pid_file.read_text().strip()}").exists()
    assert {path.suffix for path in cache.folder.iterdir()} == {".log", ".lock"}


def test_without_mmdebstrap_it_says_what_to_run(programs: Path, tmp_path: Path) -> None:
    assert list(programs.iterdir()) == []
    with pytest.raises(ProgramMissing) as caught:
        build(LocalRunner(), RECIPE, tmp_path, tmp_path / "log", lambda _: None)
    assert caught.value.what == "mmdebstrap is not installed on this host"
    assert "apt-get install mmdebstrap" in caught.value.next_step


def test_only_root_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test.os, "geteuid", lambda: 1000)
    with pytest.raises(ImageError, match="the image guest can only be built by root"):
        build(LocalRunner(), RECIPE, tmp_path, tmp_path / "log", lambda _: None)


class ScriptedHost(LocalRunner):
    """A host with these outputs of apt-get, ldd and dpkg-query."""

    def __init__(self, release: str, **said: str) -> None:
        super().__init__("box")
        self._release, self._said = release, said

    def read(self, path: str) -> str:
        assert path == "/etc/os-release"
        return self._release

    def run(self, argv, **_):  # type: ignore[no-untyped-def]
        return Completed(tuple(argv), 0, self._said[argv[0].replace("-", "_")], "")

    def readlink(self, path: str) -> str:
        return f"{path}.0" if path.endswith(".so.23") else path


def test_sources_are_those_of_the_host_s_own_debian() -> None:
    lines = (
        "Packages\thttp://mirror/debian\tbookworm\tmain",
        "Packages\thttp://mirror/debian\tbookworm-updates\tmain",
        "Packages\thttp://mirror/debian\tbookworm-backports\tmain",
        "Packages\thttp://mirror/debian\tbookworm\tcontrib",
        "Translations\thttp://mirror/debian\tbookworm\tmain",
        "Packages\thttp://safe/debian-security\tbookworm-security\tmain",
        "Packages\thttp://other/cloud\tcloud-sdk\tmain",
    )
    host = ScriptedHost("ID=debian\nVERSION_CODENAME=bookworm\n", apt_get="\n".join(lines) + "\n")
    assert debian.suite(host) == "bookworm"
    assert debian.sources(host, "bookworm").splitlines() == [
        "deb http://mirror/debian bookworm main",
        "deb http://mirror/debian bookworm-updates main",
        "deb http://safe/debian-security bookworm-security main",
    ]
    with pytest.raises(ImageError, match="apt on box has no package list of Debian trixie"):
        debian.sources(host, "trixie")


def test_images_are_built_on_debian() -> None:
    with pytest.raises(ImageError, match="images are built on Debian, and box is ubuntu noble"):
        debian.suite(ScriptedHost('ID=ubuntu\nVERSION_CODENAME="noble"\n'))


def test_the_packages_of_a_program_are_those_of_its_libraries() -> None:
    host = ScriptedHost(
        "",
        ldd="\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f)\n"
        "\tlibrte_eal.so.23 => /lib/x86_64-linux-gnu/librte_eal.so.23 (0x7f)\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x7f)\n",
        dpkg_query="diversion by somebody from: /lib/x86_64-linux-gnu/libc.so.6\n"
        "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6\n"
        "librte-eal23:amd64: /lib/x86_64-linux-gnu/librte_eal.so.23.0\n",
    )
    packages = debian.packages_of_libraries(host, [Path("/build/wsdp")])
    assert packages == ("libc6", "librte-eal23")
    assert debian.dpdk_abi(packages) == "23"
    with pytest.raises(ImageError, match="not linked to DPDK"):
        debian.dpdk_abi(["libc6"])
