# SPDX-License-Identifier: Apache-2.0
"""Simulate the commands of boot loaders on a simulated disk, as their manual pages describe them.

Each has the program's name, its files, and the kernel command line of the next boot.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from tests.support.fake_disk import FakeDisk

# Options of every boot, by the installation.
BASE = "root=/dev/vda1 ro console=ttyS0"


class FakeBoot(Protocol):
    """A boot loader."""

    program: ClassVar[str]
    folders: ClassVar[tuple[str, ...]]
    keeps_words: bool
    """True if the program leaves the words of the next boot as they are."""

    def install(self, disk: FakeDisk) -> None:
        """Write what the installation of the host has left."""

    def show(self, disk: FakeDisk, words: Sequence[str]) -> str | None:
        """Return what the program prints with these words if it changes nothing; None: it does."""

    def run(self, disk: FakeDisk, words: Sequence[str]) -> int:
        """Change the disk as the program does with these words; return its exit code."""

    def command_line(self, disk: FakeDisk) -> str:
        """Return the kernel command line of the next boot."""


@dataclass
class UpdateGrub:
    """update-grub(8) of Debian, with the drop-ins of /etc/default/grub.d."""

    keeps_words: bool = False
    program: ClassVar[str] = "update-grub"
    folders: ClassVar[tuple[str, ...]] = ("/etc/default/grub.d", "/boot/grub")
    menu: ClassVar[str] = "/boot/grub/grub.cfg"

    def install(self, disk: FakeDisk) -> None:
        self.run(disk, ())

    def show(self, disk: FakeDisk, words: Sequence[str]) -> str | None:
        del disk, words
        return None

    def run(self, disk: FakeDisk, words: Sequence[str]) -> int:
        assert not words
        if self.keeps_words:
            return 0
        drop_in = disk.read("/etc/default/grub.d/60-wirespeed.cfg") or ""
        found = re.search(r"""^GRUB_CMDLINE_LINUX="\$\(.*\)"(.*)$""", drop_in, re.MULTILINE)
        added = f" {' '.join(shlex.split(found[1]))}" if found else ""
        line = f"linux /boot/vmlinuz {BASE}{added} quiet"
        disk.write(self.menu, f"menuentry 'Linux' {{\n\t{line}\n}}\n")
        return 0

    def command_line(self, disk: FakeDisk) -> str:
        return _of_menu(disk, self.menu)


def _of_menu(disk: FakeDisk, menu: str) -> str:
    text = disk.read(menu) or ""
    return next(line for line in text.splitlines() if "vmlinuz" in line).split(None, 2)[2]


@dataclass
class Grubby:
    """grubby(8) of RHEL 9: one file of /boot/loader/entries for each kernel."""

    options: str = f"{BASE} crashkernel=1G-4G:192M $tuned_params"
    keeps_words: bool = False
    program: ClassVar[str] = "grubby"
    folders: ClassVar[tuple[str, ...]] = ("/boot/loader", "/boot/loader/entries")
    entry: ClassVar[str] = "/boot/loader/entries/5.14.conf"

    def install(self, disk: FakeDisk) -> None:
        disk.write(self.entry, f"title RHEL\nlinux /vmlinuz-5.14\noptions {self.options}\n")

    def _options(self, disk: FakeDisk) -> str:
        found = re.search(r"^options (.*)$", disk.read(self.entry) or "", re.MULTILINE)
        return found[1] if found else ""

    def show(self, disk: FakeDisk, words: Sequence[str]) -> str | None:
        if list(words) != ["--info=DEFAULT"]:
            return None
        root, _, rest = self._options(disk).partition(" ")
        return (
            f'index=0\nkernel="/boot/vmlinuz-5.14"\nargs="{rest}"\nroot="{root[5:]}"\n'
            'initrd="/boot/initramfs-5.14.img $tuned_initrd"\ntitle="RHEL"\nid="5.14"\n'
        )

    def run(self, disk: FakeDisk, words: Sequence[str]) -> int:
        if self.keeps_words:
            return 0
        kernels, change = words
        assert kernels == "--update-kernel=ALL"
        option, _, text = change.partition("=")
        given = text.split()
        now = self._options(disk).split()
        if option == "--remove-args":
            # Without a value, every argument of that name is removed.
            now = [word for word in now if not {word, word.partition("=")[0]} & set(given)]
        else:
            assert option == "--args"
            assert not any("$" in word for word in given), given
            # An existing argument gets the new value.
            keys = {word.partition("=")[0] for word in given}
            now = [word for word in now if word.partition("=")[0] not in keys] + given
        disk.write(self.entry, re.sub(r"(?m)^options .*$", lambda _: f"options {' '.join(now)}",
                                      disk.read(self.entry) or ""))  # fmt: skip
        return 0

    def command_line(self, disk: FakeDisk) -> str:
        return self._options(disk).replace(" $tuned_params", "")


SLES_DEFAULTS = """\
# If you change this file, run 'grub2-mkconfig -o /boot/grub2/grub.cfg' afterwards.
GRUB_DISTRIBUTOR=""
GRUB_TIMEOUT=8
GRUB_CMDLINE_LINUX_DEFAULT="splash=silent \\
  intel_iommu=off quiet"  # ours
GRUB_CMDLINE_LINUX=""
# GRUB_CMDLINE_LINUX_DEFAULT="an example"
GRUB_TERMINAL='serial console'
"""


@dataclass
class Grub2Mkconfig:
    """grub2-mkconfig(8) of SLES: settings of /etc/default/grub, read as a shell script."""

    defaults: str = SLES_DEFAULTS
    keeps_words: bool = False
    program: ClassVar[str] = "grub2-mkconfig"
    folders: ClassVar[tuple[str, ...]] = ("/boot/grub2",)
    menu: ClassVar[str] = "/boot/grub2/grub.cfg"

    def install(self, disk: FakeDisk) -> None:
        disk.write("/etc/default/grub", self.defaults)
        self.run(disk, ("-o", self.menu))

    def show(self, disk: FakeDisk, words: Sequence[str]) -> str | None:
        del disk, words
        return None

    def run(self, disk: FakeDisk, words: Sequence[str]) -> int:
        assert tuple(words) == ("-o", self.menu)
        if self.keeps_words:
            return 0
        text = (disk.read("/etc/default/grub") or "").replace("\\\n", "")
        pairs = [word.partition("=") for word in shlex.split(text, comments=True)]
        values = {key: value for key, _, value in pairs}
        given = f"{values['GRUB_CMDLINE_LINUX']} {values['GRUB_CMDLINE_LINUX_DEFAULT']}"
        line = f"linux /boot/vmlinuz {BASE} ${{extra_cmdline}} {given}"
        disk.write(self.menu, f"menuentry 'SLES' {{\n\t{line}\n}}\n")
        return 0

    def command_line(self, disk: FakeDisk) -> str:
        return _of_menu(disk, self.menu).replace("${extra_cmdline} ", "")


BOOT_LOADERS: tuple[type[FakeBoot], ...] = (UpdateGrub, Grubby, Grub2Mkconfig)
