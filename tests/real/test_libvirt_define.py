# SPDX-License-Identifier: Apache-2.0
"""Check that libvirt's embedded driver defines every rendered domain, without a daemon."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.golden import FOLDER
from tests.support.nic import PF, with_nic
from tests.unit.bench.guest.test_overlay import OFFER, VFS
from tests.unit.plan.test_bench import host
from wirespeed.bench.guest import libvirt
from wirespeed.bench.guest.overlay import overlaid
from wirespeed.bench.host.directories import run_directories
from wirespeed.bench.host.host import changing_host
from wirespeed.model.study.spec import Frames, Guest, GuestPages, Sut, Topology, Vnf, Vswitch
from wirespeed.plan.render.libvirt import bench_domains
from wirespeed.remote.local import LocalRunner
from wirespeed.session.rig import plan_of

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Return a root directory for libvirt."""
    if os.geteuid() != 0:
        pytest.skip("needs root: libvirt looks up users that are mounted over /etc/passwd")
    runner = LocalRunner()
    with (
        changing_host(runner, tmp_path / "state") as changed,
        run_directories(changed, tmp_path / "log") as dirs,
    ):
        changed.make_mount_point(libvirt.MOUNT_POINT)
        made = dirs.run / "libvirt"
        changed.make_directory(str(made))
        libvirt.make_root(runner, made)
        yield Path(made)


def define(root: Path, files: list[Path]) -> subprocess.CompletedProcess[str]:
    steps = "; ".join(f"define --validate {file}" for file in files)
    command = ["virsh", "-q", "-c", f"qemu:///embed?root={root}", steps]
    words = libvirt.alone(root, command)
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)


def benches() -> Iterator[tuple[str, str]]:
    """Yield domains of benches, one for each way in which they differ."""
    in_guest = Vnf(placement="guest")
    each = {
        "pvp": Frames(Topology("pvp"), sut=Sut(vnf=in_guest)),
        "queues": Frames(Topology("pvp"), sut=Sut(Vswitch(rx_queues=4), in_guest)),
        "bridge": Frames(Topology("pvp"), sut=Sut(Vswitch(kind="linux-bridge"), in_guest)),
        "memfd": Frames(
            Topology("pvp"), sut=Sut(vnf=in_guest), guest=Guest(1, pages=GuestPages.MEMFD)
        ),
        "sriov": Frames(Topology("sriov"), sut=Sut(vnf=in_guest, ports=(PF,))),
    }
    for name, frames in each.items():
        text = bench_domains(plan_of(with_nic(host(cores=8)), frames))["vnf0"]
        yield name, named(text, name)
        if name == "sriov":
            # The bench starts this form: its VFs are devices that libvirt leaves unchanged.
            yield "started", named(overlaid(text, replace(OFFER, ports=VFS))[0], "started")


def named(domain: str, name: str) -> str:
    return domain.replace("<name>vnf0<", f"<name>{name}<")


def test_every_rendered_domain_is_defined(root: Path, tmp_path: Path) -> None:
    files = sorted((REPOSITORY / "examples").glob("*/rendered/libvirt/*/*.xml"))
    files += sorted((FOLDER / "plan").glob("**/libvirt/*/*.xml"))
    domains = [file for file in files if not file.name.startswith("net-")]
    assert len(domains) >= 14
    for name, text in benches():
        domains.append(tmp_path / f"{name}.xml")
        domains[-1].write_text(text)
    done = define(root, domains)
    assert done.returncode == 0, done.stderr


def test_an_element_that_libvirt_does_not_know_is_refused(root: Path, tmp_path: Path) -> None:
    _, text = next(benches())
    wrong = tmp_path / "wrong.xml"
    wrong.write_text(text.replace("<devices>", "<devices><bogus/>"))
    done = define(root, [wrong])
    assert done.returncode != 0
    assert "Extra element devices" in done.stderr
