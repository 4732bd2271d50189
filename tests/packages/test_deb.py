# SPDX-License-Identifier: Apache-2.0
"""Check the Debian packages, and install, upgrade and purge them in a fresh root."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from zipfile import ZipFile

import pytest

from tests.packages.commands import BUILT, ROOT, Log
from tests.packages.fresh_root import FreshRoot
from wirespeed.image import debian
from wirespeed.remote.local import LocalRunner

pytestmark = pytest.mark.packages(whole=True)

_LINTIAN = ("lintian", "--allow-root", "--fail-on", "error", "--tag-display-limit", "0")
_CONFIGURATION = "/etc/wirespeed-speedtest.toml"
_DATA = "/var/lib/wirespeed-speedtest"
# Prints a line, then runs until its output is closed.
_RUNS = (
    "/usr/lib/wirespeed/bin/python -c 'import select; print(1, flush=True); "
    "p = select.poll(); p.register(1, select.POLLERR); p.poll()'"
)


@pytest.fixture(scope="module", params=["own", "trixie"])
def root(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FreshRoot]:
    """Provide a fresh root with both packages installed by apt, and their files in /deb."""
    own = debian.suite(LocalRunner())
    suite = own if request.param == "own" else request.param
    if request.param == own:
        pytest.skip(f"{own} is this host's own release")
    folder = tmp_path_factory.mktemp("deb")
    made = FreshRoot.make(folder / "root", Log(f"deb, {suite}"), suite)
    (made.path / "deb").mkdir()
    packages = sorted((BUILT if suite == own else BUILT / "debian13").glob("*.deb"))
    for package in packages:
        shutil.copy(package, made.path / "deb")
    made.run("apt-get", "install", "-qq", "-y", *(f"/deb/{each.name}" for each in packages))
    yield made
    made.log.show(made.path)
    shutil.rmtree(folder)


def newer(root: FreshRoot) -> str:
    """Make packages of a later version in the root; return their paths there."""
    return root.shell(
        "cd /deb; for old in *_amd64.deb; do name=${old%%_*}; dpkg-deb -R $old new; "
        "sed -i 's/^Version: .*/&+later/' new/DEBIAN/control; "
        "dpkg-deb --root-owner-group -Znone -b new /deb/later-$name.deb >/dev/null; rm -r new; "
        "echo /deb/later-$name.deb; done"
    )


def test_packages_have_no_error_of_lintian() -> None:
    [changes] = BUILT.glob("*.changes")
    Log("lintian").run([*_LINTIAN, changes], os.environ)


@pytest.mark.skipif(
    debian.suite(LocalRunner()) != "bookworm", reason="only Debian 12 makes roots of Debian 13"
)
def test_packages_of_debian13_have_no_error_of_its_lintian() -> None:
    """Check them by the lintian of the root that they are built in."""
    [changes] = (BUILT / "debian13").glob("*.changes")
    built = f"build/packages/{changes.name}"
    Log("lintian").run([ROOT / "setup/debian13.sh", "deb", *_LINTIAN, built], os.environ)


def test_package_measures_the_reference_sut(root: FreshRoot) -> None:
    assert root.run("wirespeed", "--version").startswith("wirespeed ")
    assert "wire, 64 B" in root.run("wirespeed", "run", "wire", offline=True)


def test_package_has_manual_pages_completion_and_studies(root: FreshRoot) -> None:
    listed = root.shell("dpkg -L wirespeed")
    for path in (
        "/usr/share/man/man1/wirespeed-run.1.gz",
        "/usr/share/bash-completion/completions/wirespeed",
        "/usr/share/zsh/vendor-completions/_wirespeed",
        "/usr/share/fish/vendor_completions.d/wirespeed.fish",
        "/usr/share/doc/wirespeed/reference/cli.md",
    ):
        assert f"{path}\n" in listed
    assert "quickstart" in root.shell("wirespeed study list")


def test_native_wheel_starts_its_build_for_the_dpdk_of_this_debian(root: FreshRoot) -> None:
    [wheel] = (BUILT / "wheels").glob("wirespeed_native-*.whl")
    native = root.path / "deb/native"
    with ZipFile(wheel) as archive:
        archive.extractall(native)
    [data] = native.glob("*.data")
    root.shell(f"cd /deb/native/{data.name}; mv scripts bin; mv data/libexec .; chmod -R +x .")
    said = root.shell(f"/deb/native/{data.name}/bin/wsdp --version")
    assert said == root.shell("/usr/lib/wirespeed/bin/wsdp --version")
    assert "DPDK" in said


def test_speedtest_runs_as_a_user_of_its_own(root: FreshRoot) -> None:
    assert "wirespeed-speedtest" in root.shell("getent passwd wirespeed-speedtest")
    unit = root.shell("cat /lib/systemd/system/wirespeed-speedtest.service")
    assert "\nUser=wirespeed-speedtest\n" in unit
    assert "DynamicUser" not in unit
    assert "[Install]" in unit
    # Not enabled: the operator starts what takes load from the network.
    root.shell("! ls /etc/systemd/system/*/wirespeed-speedtest.service")


def test_speedtest_serves_with_the_installed_configuration(root: FreshRoot) -> None:
    said = root.shell(
        f"install -d -o wirespeed-speedtest {_DATA}; ip link set lo up; "
        f"runuser -u wirespeed-speedtest -- wirespeed-speedtest serve --config {_CONFIGURATION} "
        "--log json 2>&1 | { grep -m 1 ready; pkill -f '^wirespeed-speedtest serve'; }",
        offline=True,
    )
    assert "ready" in said


def test_upgrade_keeps_configuration_and_results(root: FreshRoot) -> None:
    root.shell(
        f"echo '# mine' >>{_CONFIGURATION}; install -d -o wirespeed-speedtest {_DATA}; "
        f"echo results >{_DATA}/results.sqlite"
    )
    root.run("dpkg", "--force-confold", "-i", *newer(root).split())
    assert "+later" in root.shell("dpkg-query -W wirespeed wirespeed-speedtest")
    assert "# mine" in root.shell(f"cat {_CONFIGURATION}")
    assert "results" in root.shell(f"cat {_DATA}/results.sqlite")
    assert root.shell("wirespeed --version").startswith("wirespeed ")


def test_purge_while_a_command_runs_is_refused(root: FreshRoot) -> None:
    said = root.shell(f"{_RUNS} | {{ read up; dpkg -P wirespeed 2>&1 || echo refused; }}")
    assert "wirespeed: a command still runs" in said
    assert "refused" in said
    assert root.shell("wirespeed --version").startswith("wirespeed ")


def test_purge_leaves_nothing(root: FreshRoot) -> None:
    """Purge both; the last test, which the others would not survive."""
    root.run("dpkg", "-P", "wirespeed", "wirespeed-speedtest")
    left = root.shell(
        "find / -xdev -name '*wirespeed*' -not -path '/deb/*' -not -path '/root/*' "
        "-not -path '/var/lib/apt/*'; getent passwd wirespeed-speedtest || true; "
        "dpkg-query -W 'wirespeed*' 2>/dev/null || true"
    )
    assert left == ""
