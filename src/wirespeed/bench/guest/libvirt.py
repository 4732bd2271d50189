# SPDX-License-Identifier: Apache-2.0
"""What does libvirt's embedded driver need, so that it neither finds nor leaves anything outside a
root directory of its own?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Runner

# Whatever root directory it is told, libvirt makes two directories there: see `alone`.
MOUNT_POINT = "/run/libvirt"
_PROGRAMS = {
    "virt-qemu-run": "libvirt-daemon",
    "qemu-system-x86_64": "qemu-system-x86",
}
# What libvirt would do for guests of several users on a host that has a firewall of its own; here
# all of it is root's, as everything of the bench is. Without the file the driver waits for ever.
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
# libvirt looks up the user and group that it was built for, whatever its configuration says. What
# is mounted is seen by this process and by QEMU alone, and goes with them.
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
    """The words that run a program of libvirt's with this root directory. Needs root, and leaves
    MOUNT_POINT behind where the host has no such directory."""
    return ["unshare", "--mount", "--", "sh", "-c", _ALONE, "sh", str(root), *command]


def check_programs(runner: Runner) -> None:
    """Raises BenchError that names what is not installed."""
    for program, package in _PROGRAMS.items():
        found = runner.run(["sh", "-c", 'command -v "$1"', "sh", program], check=False)
        if found.exit_code != 0:
            raise BenchError(
                f"guests need {program}, which is not on {runner.name}",
                f"Run `apt-get install {package}` there (libvirt >= 9.0, QEMU >= 10).",
            )
