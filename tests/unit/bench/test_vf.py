# SPDX-License-Identifier: Apache-2.0
"""Check that VFs are made, set, given to DPDK and returned, on a host that is a dict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.bench.fake_nic import AUTOPROBE, NO_ROUTE, NUMVFS, PCI, PF, FakeNic, vf_address
from wirespeed.bench.host import vf as bench_vf
from wirespeed.bench.host.host import Host, changing_host, tidy_up
from wirespeed.bench.host.journal import Journal
from wirespeed.bench.host.vf import give_vfs_to_dpdk, give_vfs_to_kernel
from wirespeed.bench.host.vf_settings import VfSettings, parse_vf
from wirespeed.bench.interface import BenchError
from wirespeed.model.errors import BadInput, WirespeedError

A = VfSettings("02:00:00:00:00:00", vlan=101)
B = VfSettings("02:01:00:00:00:00", vlan=101, qos=3, spoofchk=False, trust=True,
               max_tx_rate_mbps=500)  # fmt: skip
DRIVER = f"{PCI}/{vf_address(1)}/driver"


def settings(nic: FakeNic) -> dict[int, VfSettings]:
    return {number: parse_vf(entry) for number, entry in nic.vfs.items()}


def killed(nic: FakeNic, state: Path) -> None:
    """End a run as kill -9 does: what stands is only in its journal."""
    journal = Journal.create(state, nic.address)
    with pytest.raises(KeyboardInterrupt):
        give_vfs_to_dpdk(Host(nic, state, journal), PF, [A, B], 1500)
    journal._file.close()


def test_vfs_are_made_set_bound_and_taken_away(tmp_path: Path) -> None:
    nic = FakeNic()
    before = dict(nic.files)
    with changing_host(nic, tmp_path) as host:
        assert give_vfs_to_dpdk(host, PF, [A, B], 9000) == (vf_address(0), vf_address(1))
        assert settings(nic) == {0: A, 1: B}
        assert nic.files[DRIVER] == "/sys/bus/pci/drivers/vfio-pci"
        assert nic.link["mtu"] == 9000
        # No driver of the kernel sees a VF before its address and VLAN are set.
        order = [f"{AUTOPROBE} 0", f"{NUMVFS} 2", "vf 0 mac 02:00:00:00:00:00", "vf 0 vlan 101"]
        assert [step for step in nic.written if step in order] == order
    assert nic.files == before
    assert nic.link["mtu"] == 1500


def test_vfs_are_opened_after_udev_and_the_journal_have_looked_them_up(tmp_path: Path) -> None:
    """A lookup locks a device for a moment, in which VFIO cannot open or reset it."""
    nic = FakeNic()
    with changing_host(nic, tmp_path) as host:
        give_vfs_to_dpdk(host, PF, [A, B], 1500)
        bind = "/sys/bus/pci/drivers/vfio-pci/bind"
        assert nic.written[-3:] == [f"{bind} {vf_address(1)}", "udevadm", "journalctl"]


def test_vfs_are_enabled_before_vfio_has_them(tmp_path: Path) -> None:
    """Otherwise the kernel reports a VF to the journal while VFIO opens it."""
    nic = FakeNic()
    nic.make(2)
    with changing_host(nic, tmp_path) as host:
        give_vfs_to_dpdk(host, PF, [A], 1500)
        steps = [step for step in nic.written if "enable" in step or "/bind" in step]
        assert steps == [
            f"{PCI}/{vf_address(0)}/enable 1",
            f"/sys/bus/pci/drivers/vfio-pci/bind {vf_address(0)}",
        ]
    assert nic.files[f"{PCI}/{vf_address(0)}/enable"] == "0\n"


def test_vfs_of_a_host_without_udev_and_journal_are_bound(tmp_path: Path) -> None:
    nic = FakeNic()
    nic.looks_up = False
    with changing_host(nic, tmp_path) as host:
        give_vfs_to_dpdk(host, PF, [A, B], 1500)
        assert nic.files[DRIVER] == "/sys/bus/pci/drivers/vfio-pci"


def test_the_kernels_driver_takes_a_vf_that_is_set_already(tmp_path: Path) -> None:
    nic = FakeNic(iommu=False)  # the kernel's driver needs no IOMMU
    before = dict(nic.files)
    with changing_host(nic, tmp_path) as host:
        assert give_vfs_to_kernel(host, PF, [A, B], 9000) == ("ens1f0v0", "ens1f0v1")
        assert settings(nic) == {0: A, 1: B}
        order = [
            f"{AUTOPROBE} 0", f"{NUMVFS} 2", "vf 0 mac 02:00:00:00:00:00", "vf 0 vlan 101",
            "vf 1 vlan 101", f"{AUTOPROBE} 1",
            *(f"/sys/bus/pci/drivers_probe {vf_address(number)}" for number in (0, 1)),
        ]  # fmt: skip
        assert [step for step in nic.written if step in order] == order
    assert nic.files == before


def test_a_kernel_without_a_driver_for_vfs_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_vf, "_DRIVER_S", 0.0)
    nic = FakeNic()
    nic.drives, before = False, dict(nic.files)
    with pytest.raises(BenchError) as caught, changing_host(nic, tmp_path) as host:
        give_vfs_to_kernel(host, PF, [A], 1500)
    assert "has no interface: no driver of its kernel took it" in caught.value.what
    assert nic.files == before


def test_the_kernels_driver_is_not_given_vfs_that_are_there_already(tmp_path: Path) -> None:
    nic = FakeNic()
    nic.make(2)
    before = dict(nic.files)
    with pytest.raises(BenchError) as caught, changing_host(nic, tmp_path) as host:
        give_vfs_to_kernel(host, PF, [A], 1500)
    assert "has 2 virtual functions already" in caught.value.what
    assert nic.files == before


def test_only_differing_settings_are_written_to_the_driver(tmp_path: Path) -> None:
    nic = FakeNic(refuses=("spoofchk", "trust", "max_tx_rate"))
    with changing_host(nic, tmp_path) as host:
        give_vfs_to_dpdk(host, PF, [A], 1500)
        assert settings(nic) == {0: A}


@pytest.mark.parametrize(
    "where", ["sriov_drivers_autoprobe", "sriov_numvfs", "mac", "vlan", "driver_override",
              "enable", "vfio-pci/bind"],
)  # fmt: skip
def test_vfs_left_by_kill_9_are_undone_by_the_next_command(tmp_path: Path, where: str) -> None:
    nic = FakeNic()
    before = dict(nic.files)
    nic.dies_before = where
    killed(nic, tmp_path)
    nic.dies_before = ""
    assert tidy_up(nic, tmp_path).failed == ()
    assert nic.files == before


def test_vfs_that_are_there_already_are_set_back_not_taken_away(tmp_path: Path) -> None:
    nic = FakeNic()
    nic.make(4)
    guest = f"{PCI}/{vf_address(0)}/driver"
    nic.files[guest] = "/sys/bus/pci/drivers/vfio-pci"  # a guest's
    before, was = dict(nic.files), settings(nic)
    with changing_host(nic, tmp_path) as host:
        assert give_vfs_to_dpdk(host, PF, [A, B], 1500) == (vf_address(1), vf_address(2))
        assert settings(nic) == {0: was[0], 1: A, 2: B, 3: was[3]}
    assert settings(nic) == was
    assert {p: t for p, t in nic.files.items() if "override" not in p} == {
        p: t for p, t in before.items() if "override" not in p
    }


def test_a_vf_setting_changed_by_another_program_is_kept(tmp_path: Path) -> None:
    nic = FakeNic()
    nic.make(2)
    was = settings(nic)
    with changing_host(nic, tmp_path) as host:
        give_vfs_to_dpdk(host, PF, [B], 1500)
        nic.vfs[0]["vlan_list"] = [{"vlan": 9}]
    assert settings(nic)[0].vlan == 9
    assert settings(nic)[0].mac == was[0].mac
    assert settings(nic)[0].max_tx_rate_mbps == 0


def default_route(nic: FakeNic) -> None:
    nic.files["/proc/net/route"] = NO_ROUTE + "bond0\t00000000\t0102030A\t0003\t0\t0\t0\t00000000\n"
    nic.files["/sys/class/net/bond0/lower_ens1f0"] = ""


def virtio(nic: FakeNic) -> None:
    """Put its interface one directory level further down."""
    default_route(nic)
    del nic.files[f"{PCI}/{PF}/net/ens1f0"]
    nic.files[f"{PCI}/{PF}/virtio2/net/ens1f0"] = ""


def ssh_session(nic: FakeNic) -> None:
    nic.ssh = "192.0.2.7"


def no_interface(nic: FakeNic) -> None:
    del nic.files[f"{PCI}/{PF}/net/ens1f0"]
    nic.files[f"{PCI}/{PF}/driver"] = "/sys/bus/pci/drivers/vfio-pci"


def no_sriov(nic: FakeNic) -> None:
    del nic.files[f"{PCI}/{PF}/sriov_totalvfs"]


def is_vf(nic: FakeNic) -> None:
    no_sriov(nic)
    nic.files[f"{PCI}/{PF}/physfn"] = ""


def one_free(nic: FakeNic) -> None:
    nic.make(2)
    nic.files[f"{PCI}/{vf_address(0)}/net/ens1f0v0"] = ""
    nic.files["/sys/class/net/ens1f0v0/flags"] = "0x1003\n"


def unknown(nic: FakeNic) -> None:
    del nic.files[f"{PCI}/{PF}"]


def shared_driver(nic: FakeNic) -> None:
    nic.files[f"{PCI}/{PF}/driver"] = "/sys/bus/pci/drivers/mlx5_core"


@pytest.mark.parametrize(
    ("nic", "breaks", "kind", "said"),
    [
        (FakeNic(), default_route, BadInput, "is ens1f0, which carries the default route"),
        (FakeNic(), virtio, BadInput, "is ens1f0, which carries the default route"),
        (FakeNic(), ssh_session, BadInput,
         "is ens1f0, which carries an ssh session from 198.51.100.9"),
        (FakeNic(), unknown, BadInput, f"there is no PCI device {PF}"),
        (FakeNic(), no_sriov, BadInput, "can give no virtual functions: it has none"),
        (FakeNic(), is_vf, BadInput, "it is a virtual function itself"),
        (FakeNic(total=1), None, BadInput, "2 virtual functions are needed of"),
        (FakeNic(iommu=False), None, BenchError, "is in no IOMMU group: the IOMMU is off"),
        (FakeNic(), no_interface, BenchError, "has no interface: it is bound to vfio-pci"),
        (FakeNic(), shared_driver, BenchError, "is driven by mlx5_core"),
        (FakeNic(), one_free, BenchError,
         "has 2 virtual functions already, of which 1 are free and 2 are needed "
         "(number 0 is ens1f0v0, which is up)"),
        (FakeNic(refuses=("trust",)), None, BenchError,
         "does not set trust on on virtual function 1: RTNETLINK answers: Operation not supported"),
        (FakeNic(forgets=("max_tx_rate",)), None, BenchError,
         "took max_tx_rate 500 for virtual function 1 and did not keep it"),
    ],
)  # fmt: skip
def test_one_clear_error_and_nothing_left_half_done(
    tmp_path: Path,
    nic: FakeNic,
    breaks: Callable[[FakeNic], None] | None,
    kind: type[WirespeedError],
    said: str,
) -> None:
    if breaks is not None:
        breaks(nic)
    before, link = dict(nic.files), dict(nic.link)
    with pytest.raises(kind) as caught, changing_host(nic, tmp_path) as host:
        give_vfs_to_dpdk(host, PF, [A, B], 9000)
    assert said in caught.value.what
    assert nic.files == before
    assert nic.link == link
    assert list((tmp_path / "journal").iterdir()) == []


def test_a_vf_that_shares_its_iommu_group_is_not_taken(tmp_path: Path) -> None:
    nic = FakeNic()
    nic.make(2)
    nic.files[f"{PCI}/{vf_address(0)}/iommu_group/devices/{PF}"] = ""
    with pytest.raises(BenchError) as caught, changing_host(nic, tmp_path) as host:
        give_vfs_to_dpdk(host, PF, [A], 1500)
    assert f"cannot be given to DPDK alone: {PF}, which igb drives" in caught.value.what
