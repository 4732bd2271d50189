# SPDX-License-Identifier: Apache-2.0
"""Define the images that wirespeed builds.

`guest` is for network functions, `host` for the servers of a virtual testbed, `compute` for a
compute host of OpenStack.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from wirespeed.image import debian
from wirespeed.image.errors import ImageError
from wirespeed.image.recipe import OwnFile, Recipe
from wirespeed.remote.interface import Runner

_TREE = Path(__file__).parents[3]
_FILES = Path(__file__).parent / "files"
_BOTH = {
    "initramfs-init.sh": ("/usr/lib/wirespeed/initramfs-init", 0o755),
    "take-keys.sh": ("/usr/lib/wirespeed/take-keys", 0o755),
    "sshd_config": ("/etc/wirespeed/sshd_config", 0o644),
}
_HOST = {
    "wirespeed-keys.service": ("/etc/systemd/system/wirespeed-keys.service", 0o644),
    "sshd-wirespeed.service": ("/etc/systemd/system/sshd-wirespeed.service", 0o644),
    "management.network": ("/etc/systemd/network/10-management.network", 0o644),
    "set-clock.sh": ("/usr/lib/wirespeed/set-clock", 0o755),
    "wirespeed-clock.service": ("/etc/systemd/system/wirespeed-clock.service", 0o644),
    "wirespeed-clock.timer": ("/etc/systemd/system/wirespeed-clock.timer", 0o644),
    "host-fstab": ("/etc/fstab", 0o644),
    "host-grub.cfg": ("/etc/default/grub.d/10-lab.cfg", 0o644),
}
# GRUB defaults of a host, as they are in the image.
HOST_GRUB = _FILES / "host-grub.cfg"
_TESTPMD = Path("/usr/bin/dpdk-testpmd")
# A native build would end with an illegal instruction on an emulated CPU.
WSDP = _TREE / "build" / "dataplane-guest" / "wsdp"
# `make test` names its debug build: the release takes minutes to compile.
SPEEDTEST = Path(
    os.environ.get("WIRESPEED_SPEEDTEST")
    or _TREE / "speedtest" / "target" / "release" / "wirespeed-speedtest"
)

_COMMON = (
    "base-files", "base-passwd", "busybox-static", "coreutils", "dash", "ethtool", "findutils",
    "grep", "iperf3", "iproute2", "kmod", "libc-bin", "mount", "numactl", "openssh-server",
    "pciutils", "procps", "python3", "sed", "tcpdump", "util-linux",
)  # fmt: skip
_DPDK = (
    "librte-bus-pci{abi}", "librte-bus-vdev{abi}", "librte-mempool-ring{abi}",
    "librte-net-af-packet{abi}", "librte-net-e1000-{abi}", "librte-net-iavf{abi}",
    "librte-net-ixgbe{abi}", "librte-net-vhost{abi}", "librte-net-virtio{abi}",
)  # fmt: skip
_SERVER = (
    "dbus", "dpdk", "grub-common", "grub-pc-bin", "grub2-common", "openvswitch-switch-dpdk",
    "sudo", "systemd-sysv", "udev",
)  # fmt: skip
_COMPUTE = (
    "libvirt-clients", "libvirt-daemon-system", "neutron-openvswitch-agent", "neutron-sriov-agent",
    "nova-compute", "nova-compute-kvm", "qemu-system-x86", "qemu-utils",
)  # fmt: skip
# Python's pytz, which OpenStack imports, needs the time zones.
_TIME_ZONES = "/usr/share/zoneinfo/*"
# Files without a use there; drivers for other machines are most of a kernel's size.
_LEFT_OUT = (
    *(
        f"/usr/share/{name}/*"
        for name in (
            "bash-completion", "bug", "doc", "info", "ipsec-mb", "lintian", "locale", "man",
        )
    ),
    _TIME_ZONES,
    *(
        f"{lib}/modules/*/kernel/{name}/*"
        for lib in ("/lib", "/usr/lib")
        for name in (
            "drivers/ata", "drivers/bluetooth", "drivers/edac", "drivers/gpu", "drivers/hid",
            "drivers/iio", "drivers/infiniband", "drivers/input", "drivers/isdn", "drivers/leds",
            "drivers/md", "drivers/media", "drivers/misc", "drivers/mmc", "drivers/mtd",
            "drivers/net/can", "drivers/net/wireless", "drivers/nfc", "drivers/platform",
            "drivers/power", "drivers/scsi", "drivers/staging", "drivers/target",
            "drivers/thunderbolt", "drivers/usb", "drivers/video", "drivers/xen", "fs/btrfs",
            "fs/ceph", "fs/f2fs", "fs/gfs2", "fs/jfs", "fs/nfs", "fs/nfsd", "fs/ocfs2", "fs/smb",
            "fs/udf", "fs/xfs", "net/bluetooth", "net/mac80211", "net/wireless", "sound",
        )
    ),
)  # fmt: skip
# Files that only packages' scripts use, for images without these scripts.
_NO_SCRIPTS = (
    "/usr/share/perl*", "/usr/lib/*/perl*", "/usr/lib/*/gconv/*", "/lib/udev/hwdb.d/*",
    "/usr/lib/udev/hwdb.d/*", "/usr/share/initramfs-tools/*",
)  # fmt: skip
# initramfs.py replaces the initramfs that it would make.
_NO_INITRAMFS = ("/etc/kernel/postinst.d/initramfs-tools",)


def guest(runner: Runner) -> Recipe:
    """Return the image of a virtual machine: wsdp, testpmd, iperf3, speed test, serial port."""
    return Recipe(
        name="guest",
        suite=debian.suite(runner),
        packages=(*_COMMON, *_libraries(runner)),
        kernel="linux-image-cloud-amd64",
        files=(
            *_own(_BOTH),
            *_own({"guest-init.sh": ("/usr/lib/wirespeed/guest-init", 0o755)}),
            *_programs(),
        ),
        configured=False,
        disk="squashfs",
        left_out=(*_LEFT_OUT, *_NO_SCRIPTS),
    )


def host(runner: Runner) -> Recipe:
    """Return the image of a server: systemd, sshd, Open vSwitch, DPDK and GRUB as on Debian."""
    return _server(runner, "host", (), (*_LEFT_OUT, *_NO_INITRAMFS))


def compute(runner: Runner) -> Recipe:
    """Return that image with libvirt, QEMU and OpenStack's compute services, all disabled."""
    left_out = tuple(each for each in (*_LEFT_OUT, *_NO_INITRAMFS) if each != _TIME_ZONES)
    return _server(runner, "compute", _COMPUTE, left_out)


def _server(runner: Runner, name: str, more: tuple[str, ...], left_out: tuple[str, ...]) -> Recipe:
    return Recipe(
        name=name,
        suite=debian.suite(runner),
        packages=(*_COMMON, *_libraries(runner), *_SERVER, *more),
        kernel="linux-image-amd64",
        files=(*_own(_BOTH), *_own(_HOST), *_programs()),
        configured=True,
        disk="ext4",
        left_out=left_out,
    )


RECIPES: Mapping[str, Callable[[Runner], Recipe]] = {
    "guest": guest, "host": host, "compute": compute,
}  # fmt: skip


def _libraries(runner: Runner) -> tuple[str, ...]:
    """Return the libraries of wirespeed's programs, and DPDK's drivers of the same version."""
    linked = debian.packages_of_libraries(runner, [each.source for each in _programs()])
    abi = debian.dpdk_abi(linked)
    return (*linked, *(name.format(abi=abi) for name in _DPDK))


def _own(files: Mapping[str, tuple[str, int]]) -> tuple[OwnFile, ...]:
    return tuple(OwnFile(_FILES / name, target, mode) for name, (target, mode) in files.items())


def _programs() -> tuple[OwnFile, ...]:
    """Return wirespeed's programs. Raises ImageError for one that has not been built."""
    found = []
    for source, made_by in (
        (WSDP, "make dataplane-guest"), (SPEEDTEST, "make speedtest"), (_TESTPMD, "make setup"),
    ):  # fmt: skip
        if not source.exists():
            raise ImageError(f"{source} does not exist", f"Run `{made_by}`.")
        found.append(OwnFile(source, f"/usr/local/bin/{source.name}", 0o755))
    return tuple(found)
