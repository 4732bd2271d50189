# SPDX-License-Identifier: Apache-2.0
"""Finish a root directory after the packages are in it: own files, units, configuration."""

from __future__ import annotations

import shutil
from pathlib import Path

from wirespeed.image.errors import ImageError
from wirespeed.image.recipe import Recipe
from wirespeed.remote.interface import Runner

# Imports of the agents in wirespeed/remote: compiled here, because an emulated CPU is slow at it.
_IMPORTED = (
    "ctypes, fcntl, glob, json, os, queue, select, signal, socket, struct, subprocess, sys, "
    "threading, types, typing, collections.abc, __future__"
)
_ENABLED = ("sshd-wirespeed.service", "systemd-networkd.service", "wirespeed-clock.timer")
_DISABLED = (
    "ssh.service", "systemd-networkd-wait-online.service", "openvswitch-switch.service",
    "dpdk.service",
)  # fmt: skip
# Units of the image `compute`; its user configures them before they start.
_DISABLED_WHERE_INSTALLED = (
    "iscsid.service", "iscsid.socket", "libvirt-guests.service", "libvirtd-admin.socket",
    "libvirtd-ro.socket", "libvirtd.service", "libvirtd.socket",
    "neutron-openvswitch-agent.service", "neutron-ovs-cleanup.service",
    "neutron-sriov-agent.service", "nova-compute.service", "open-iscsi.service",
    "virtlockd-admin.socket", "virtlockd.socket", "virtlogd-admin.socket", "virtlogd.socket",
)  # fmt: skip
# Units of packages that are only dependencies; nothing needs them.
_MASKED = (
    "apt-daily-upgrade.timer", "apt-daily.timer", "dpkg-db-backup.timer", "e2scrub_reap.service",
    "e2scrub_all.timer", "fstrim.timer", "getty@tty1.service", "grub-common.service",
    "modprobe@.service", "proc-sys-fs-binfmt_misc.automount", "serial-getty@ttyS0.service",
    "sys-fs-fuse-connections.mount", "sys-kernel-config.mount", "sys-kernel-tracing.mount",
    "systemd-ask-password-console.path", "systemd-ask-password-wall.path",
    "systemd-binfmt.service", "systemd-hwdb-update.service", "systemd-journal-flush.service",
    "systemd-logind.service", "systemd-network-generator.service", "systemd-pstore.service",
    "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service", "uuidd.socket",
)  # fmt: skip
# Programs that systemd runs at each boot and reload, for disks, consoles and kernel arguments that
# these machines lack: tenths of an emulated CPU's second each.
_MASKED_GENERATORS = (
    "cryptsetup", "debug", "getty", "gpt-auto", "hibernate-resume", "integritysetup", "rc-local",
    "run", "system-update", "veritysetup",
)  # fmt: skip
_SSHD = "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"


def finish(runner: Runner, root: Path, recipe: Recipe) -> str:
    """Add own files and replace the missing package scripts; return the kernel's version."""
    for own in recipe.files:
        target = root / own.target.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(own.source, target)
        target.chmod(own.mode)
    version = kernel_version(root)
    runner.run(["depmod", "--basedir", str(root), version], timeout_s=120.0)
    if recipe.configured:
        _choose_units(runner, root)
    else:
        _configure(runner, root)
    inside(runner, root, "python3", "-c", f"import {_IMPORTED}")
    return version


def kernel_version(root: Path) -> str:
    found = sorted(path.name for path in (root / "lib" / "modules").glob("*"))
    if len(found) != 1:
        raise ImageError(f"{root} has {len(found)} kernels instead of one: {', '.join(found)}")
    return found[0]


def inside(runner: Runner, root: Path, *argv: str) -> None:
    """Run a program of the image, in it."""
    runner.run(["chroot", str(root), *argv], timeout_s=300.0)


def _choose_units(runner: Runner, root: Path) -> None:
    """Choose the units that systemd starts, so that an emulated server boots fast."""
    # An empty file makes systemd create a machine ID at the first boot.
    (root / "etc" / "machine-id").write_text("")
    (root / "etc" / "hostname").write_text("lab\n")
    # grub-install would create it; update-grub writes into it.
    (root / "boot" / "grub").mkdir(exist_ok=True)
    units = root / "lib" / "systemd" / "system"
    there = [unit for unit in _DISABLED_WHERE_INSTALLED if (units / unit).exists()]
    inside(runner, root, "systemctl", "--quiet", "disable", *_DISABLED, *there)
    inside(runner, root, "systemctl", "--quiet", "mask", *_MASKED)
    inside(runner, root, "systemctl", "--quiet", "enable", *_ENABLED)
    masked = root / "etc" / "systemd" / "system-generators"
    masked.mkdir(exist_ok=True)
    for name in _MASKED_GENERATORS:
        (masked / f"systemd-{name}-generator").symlink_to("/dev/null")
    # systemd-sysusers, ldconfig and others run at boot when /usr is newer than these files.
    for folder in ("etc", "var"):
        (root / folder / ".updated").touch()


def _configure(runner: Runner, root: Path) -> None:
    """Do the work of packages' scripts as far as a guest needs it."""
    master = root / "usr" / "share" / "base-passwd"
    users = (master / "passwd.master").read_text().replace("root:*:", "root:x:")
    users = users.replace("/bin/bash", "/bin/sh")
    (root / "etc" / "passwd").write_text(users + _SSHD)
    shutil.copyfile(master / "group.master", root / "etc" / "group")
    shadow = root / "etc" / "shadow"
    shadow.write_text("root:*:20000:0:99999:7:::\nsshd:!:20000::::::\n")
    shadow.chmod(0o600)
    (root / "etc" / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    # For programs that two packages have, the package's script makes the link.
    for name, program in (("sh", "dash"), ("awk", "busybox")):
        link = root / "bin" / name
        if not link.exists() and not link.is_symlink():
            link.symlink_to(program)
    for name in ("poweroff", "reboot"):
        (root / "sbin" / name).symlink_to("/bin/busybox")
    (root / "sbin" / "init").symlink_to("/usr/lib/wirespeed/guest-init")
    inside(runner, root, "ldconfig")
