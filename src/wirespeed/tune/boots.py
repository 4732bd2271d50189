# SPDX-License-Identifier: Apache-2.0
"""Keep which boots of a host a search has measured, so that it goes on after each reboot.

The file is on the machine that runs the search. It also has the factors: another boot may offer
others. A block of measurements takes a boot of its own: the addresses and the memory that a boot
happens to get change a rate, too.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from wirespeed.document.private_file import read_own, write_private
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.input.bounded import load_json
from wirespeed.model.study.study import short_hash
from wirespeed.remote.state import state_directory
from wirespeed.store.codec import decode, encode
from wirespeed.tune.factor import Factor, NotTried

_VERSION = 2
# Words that name the kernel's image; every boot loader adds them.
_IMAGE = ("BOOT_IMAGE=", "initrd=")


class RebootDue(Exception):
    """Raised when the next measurement needs another boot."""

    def __init__(self, *, with_words: bool) -> None:
        super().__init__()
        self.with_words = with_words


class NotBooted(WirespeedError):
    """Raised when a host has booted without the kernel command line that it was given."""


@dataclass(slots=True)
class Boots:
    """Boots of one search."""

    run: str
    address: str
    words: tuple[str, ...]
    """Words that are tried."""
    before: str | None
    """Value of the boot loader's setting before the search."""
    cmdline: str
    """Kernel command line before the search."""
    measured: list[str] = field(default_factory=list)
    """Boot of each measurement, in their order; empty where it is not known."""
    asked: tuple[bool, str] | None = None
    """Last reboot: with the words or without, and the boot in which it was asked for."""
    names: tuple[str, ...] = ()
    """Factors that the words belong to."""
    settings: tuple[Factor, ...] = ()
    """Factors that are tried within each boot."""
    excluded: tuple[NotTried, ...] = ()

    def check(self, boot: str, cmdline: str, *, with_words: bool, number: int | None) -> None:
        """Raise RebootDue where the host has to boot first.

        boot, cmdline: of the running boot. number: of the first measurement of a block, which takes
        a boot that no earlier one had; None: any boot will do. Raises NotBooted where a reboot did
        not help.
        """
        has_them = set(self.words) <= set(cmdline.split())
        is_so = has_them if with_words else self.is_as_before(cmdline)
        asked, asked_in = self.asked or (not with_words, boot)
        if not is_so and asked is with_words and asked_in != boot:
            wanted = f"the words {' '.join(self.words)}" if with_words else self.cmdline
            raise NotBooted(
                f"{self.address} booted with the kernel command line {cmdline}, and not with "
                f"{wanted}",
                "Check its boot loader and go on with --resume; or undo it: `wirespeed rollback`.",
            )
        earlier = self.measured if number is None else self.measured[: number - 1]
        if not is_so or (number is not None and boot in earlier):
            raise RebootDue(with_words=with_words)

    def is_as_before(self, cmdline: str) -> bool:
        """Return whether a kernel runs with the command line from before the search."""
        return _settings(cmdline) == _settings(self.cmdline)

    def begin(self, number: int, boot: str) -> None:
        """Note the boot of a measurement before it begins."""
        missing = number - 1 - len(self.measured)
        self.measured = [*self.measured[: number - 1], *("",) * missing, boot]
        self.save()

    def number_of(self, number: int) -> int:
        """Return the number of the boot of a measurement, from 1; unknown boots count as one."""
        boot = self.measured[number - 1] if number <= len(self.measured) else ""
        return list(dict.fromkeys([*self.measured, boot])).index(boot) + 1

    def ask(self, boot: str, *, with_words: bool) -> None:
        """Note a reboot before it is asked for."""
        self.asked = (with_words, boot)
        self.save()

    def save(self) -> None:
        """Write the file; it is on the disk on return."""
        text = json.dumps({"version": _VERSION, **encode(self)})
        write_private(_path(self.address), f"{text}\n")
        os.sync()  # the host may be this machine, which reboots next

    def remove(self) -> None:
        _path(self.address).unlink(missing_ok=True)


def boots_of(address: str) -> Boots | None:
    """Return the boots of the search that the host is in the middle of; None where there is none.

    Raises BadInput where its file cannot be read.
    """
    path = _path(address)
    try:
        return _read(load_json(read_own(path)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as fault:
        raise BadInput(
            f"{path}: {fault}",
            f"Undo what the search changed on {address} with `wirespeed rollback`, and remove the "
            "file.",
        ) from fault


def _path(address: str) -> Path:
    return state_directory(os.environ) / f"tune-reboot-{short_hash(address)}.json"


def _read(raw: object) -> Boots:
    """Return the boots of a document. Raises ValueError."""
    wrong = "it is of another version, or damaged"
    if not isinstance(raw, dict) or raw.pop("version", None) != _VERSION:
        raise ValueError(wrong)
    try:
        return decode(Boots, raw)
    except ValidationError as error:
        raise ValueError(wrong) from error


def _settings(cmdline: str) -> list[str]:
    return sorted(word for word in cmdline.split() if not word.startswith(_IMAGE))
