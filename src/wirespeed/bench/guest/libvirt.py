# SPDX-License-Identifier: Apache-2.0
"""Confine libvirt's embedded driver to a root directory of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Runner

# libvirt creates two directories here regardless of its root directory; see `alone`.
MOUNT_POINT = "/run/libvirt"
_PROGRAMS = {
    "virt-qemu-run": "libvirt-daemon",
    "qemu-system-x86_64": "qemu-system-x86",
}
# Disables what libvirt does for several users and for a host's firewall: the bench runs as root.
# Without this file the driver waits forever.
_QEMU_CONF = """
user = "root"
group = "root"
security_driver = "none"
dynamic_ownership = 0
cgroup_controllers = []
namespaces = []
stdio_handler = "file"
hugetlbfs_mount = "{root}/hugepages"
"""
# libvirt looks up the user and group of its build, regardless of its configuration. The mount is
# visible to this process and its QEMU only, and ends with them.
_ALONE = """
set -e
root=$1
shift
for file in passwd group; do
  cp "/etc/$file" "$root/$file"
done
getent passwd libvirt-qemu >/dev/null ||
  echo "libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin" >>"$root/passwd"
for group in kvm libvirt-qemu; do
  getent group "$group" >/dev/null || echo "$group:x:64055:" >>"$root/group"
done
mount --bind "$root/passwd" /etc/passwd
mount --bind "$root/group" /etc/group
mkdir -p /run/libvirt
mount -t tmpfs tmpfs /run/libvirt
mount -t hugetlbfs -o pagesize=2M hugetlbfs "$root/hugepages"
exec "$@"
"""


def make_root(runner: Runner, root: PurePosixPath) -> None:
    """Fill an empty directory with what libvirt looks for there."""
    for name in ("etc", "hugepages"):
        runner.run(["mkdir", str(root / name)])
    runner.write(str(root / "etc" / "qemu.conf"), _QEMU_CONF.format(root=root))


def alone(root: PurePosixPath, command: Sequence[str]) -> list[str]:
    """Return the command line that runs a libvirt program with this root directory.

    Needs root. Leaves MOUNT_POINT behind where the host has no such directory.
    """
    return ["unshare", "--mount", "--", "sh", "-c", _ALONE, "sh", str(root), *command]


def check_programs(runner: Runner) -> None:
    """Raise BenchError with the names of programs that are not installed."""
    for program, package in _PROGRAMS.items():
        found = runner.run(["sh", "-c", 'command -v "$1"', "sh", program], check=False)
        if found.exit_code != 0:
            raise BenchError(
                f"guests need {program}, which is not on {runner.name}",
                f"Run `apt-get install {package}` there (libvirt >= 9.0, QEMU >= 10).",
            )
