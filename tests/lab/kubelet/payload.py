# SPDX-License-Identifier: Apache-2.0
"""Pack the files that make a server a Kubernetes node without a cluster.

containerd, runc and the CNI plugins are those of this Debian's packages, which are only unpacked.
The one container image is made here: no registry is asked.
"""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

from setup.oci import write

# Name of the image in the archive; the sandbox runs it by its own name.
FUNCTION, SANDBOX = "registry.example/function:1", "registry.example/pause:1"
IMAGE = "/root/function.oci.tar"
_PACKAGES = ("busybox-static", "containerd", "containernetworking-plugins", "runc")
_PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "runc")
_CNI_PLUGINS = ("host-local", "loopback", "ptp")
_CONFIGURATION = Path(__file__).with_name("node")
# A function takes its huge page as DPDK does, by a file of hugetlbfs, and waits.
_COMMAND = (
    "/bin/busybox", "sh", "-c",
    "if [ -d /dev/hugepages ]; then /bin/busybox fallocate -l 1073741824 /dev/hugepages/page; fi; "
    "exec /bin/busybox sleep 2147483647",
)  # fmt: skip


def payload(kubelet: Path, folder: Path) -> Path:
    """Write folder/node.tar with all files of a node, relative to its root, and return the path."""
    tree = folder / "packages"
    tree.mkdir()
    _unpack(tree)
    image = folder / "function.oci.tar"
    _write_image(_program(tree, "busybox"), image)
    files = {
        "usr/local/bin/kubelet": kubelet,
        IMAGE.removeprefix("/"): image,
        **{f"usr/local/bin/{name}": _program(tree, name) for name in _PROGRAMS},
        **{f"usr/local/lib/cni/{name}": tree / "usr/lib/cni" / name for name in _CNI_PLUGINS},
        **{
            str(path.relative_to(_CONFIGURATION)): path
            for path in _CONFIGURATION.rglob("*")
            if path.is_file()
        },
    }
    packed = folder / "node.tar"
    with tarfile.open(packed, "w", dereference=True) as archive:
        for target, source in files.items():
            archive.add(source, target, filter=_owned_by_root)
    return packed


def _unpack(tree: Path) -> None:
    # apt's own user could not write here.
    subprocess.run(
        ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *_PACKAGES],
        cwd=tree, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    for package in tree.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, tree], check=True)


def _program(tree: Path, name: str) -> Path:
    """Return a program of the packages, wherever their release of Debian has it."""
    places = (tree / folder / name for folder in ("usr/bin", "usr/sbin", "bin", "sbin"))
    return next(path for path in places if path.exists())


def _write_image(busybox: Path, image: Path) -> None:
    root = image.with_name("function-root.tar")
    with tarfile.open(root, "w") as archive:
        archive.add(busybox, "bin/busybox", filter=_owned_by_root)
    write(root, image, FUNCTION, 0, _COMMAND)


def _owned_by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member
