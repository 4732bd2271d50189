# SPDX-License-Identifier: Apache-2.0
"""Give the QEMU arguments with which a machine boots from an image and can be reached.

- `image.kernel`, `image.initramfs` and KERNEL_ARGUMENTS; more may follow them (hugepages=N, ...).
  panic=-1 restarts at once, which with `-no-reboot` (libvirt: on_reboot destroy) ends the machine.
- A virtio-blk disk with the serial number ROOT_SERIAL. A squashfs is `image.root` itself, read
  only, for any number of machines at once; writes stay in memory and are lost at the end. An ext4
  is a qcow2 overlay of `image.root`, one for each machine, which outlives its restarts.
- The files of `Access.fw_cfg`, as `-fw_cfg name=NAME,file=FILE` (libvirt: <sysinfo type='fwcfg'>).
- guest: a virtio-serial port named CONTROL_PORT on a unix socket (server, wait=off), on which an
  sshd answers: `access.over_socket`. host: sshd on port 22 of its first virtio-net interface, which
  uses DHCP: `access.over_port` with the port that QEMU's user network forwards to it.
- A CPU model of x86-64-v2 (Nehalem or newer): wsdp and the DPDK libraries end with an illegal
  instruction on qemu64. A virtio-rng device where the CPU has no RDRAND: sshd would wait.

`SshRunner(access.target, name=..., first_s=...)` may be made as soon as QEMU is started: the first
call waits for the machine to answer, and fails when QEMU ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT_SERIAL = "wirespeed-root"
CONTROL_PORT = "wirespeed.control"
# On a host with busy CPUs the kernel's timer check fails, and the kernel panics.
KERNEL_ARGUMENTS = "console=ttyS0 quiet panic=-1 no_timer_check"
PROGRAM = "qemu-system-x86_64"


def given_arguments(files: Mapping[str, Path]) -> list[str]:
    """Return the arguments for `Access.fw_cfg`."""
    return [
        word
        for name, file in files.items()
        for word in ("-fw_cfg", f"name={name},file={_escaped(file)}")
    ]


def _escaped(path: Path) -> str:
    """Double the commas, at which QEMU splits."""
    return str(path).replace(",", ",,")
