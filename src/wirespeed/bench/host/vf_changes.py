# SPDX-License-Identifier: Apache-2.0
"""Define the changes of a bench to a NIC's virtual functions (VFs), and undo each of them.

A VF is identified by its physical function's (PF's) PCI address and its number: interface names
change.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from wirespeed.bench.host.change import Change
from wirespeed.bench.host.vf_settings import VfSettings, parse_vf
from wirespeed.bench.interface import BenchError
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import SYS_PCI


def pf_interface(runner: Runner, pf: str) -> str | None:
    """Return the PF's kernel interface, through which its VFs are configured."""
    return next((os.path.basename(p) for p in runner.glob(f"{SYS_PCI}/{pf}/net/*")), None)


def vf_entries(runner: Runner, interface: str) -> Mapping[int, Mapping[str, Any]]:
    """Return what the kernel reports of a PF's VFs, by number."""
    told = runner.run(["ip", "-json", "-details", "-statistics", "link", "show", "dev", interface])
    [seen] = load_json(told.stdout)
    return {int(entry["vf"]): entry for entry in seen.get("vfinfo_list", ())}


@dataclass(frozen=True, slots=True)
class VfsMade(Change):
    """VFs made on a PF that had none. Their settings end with them."""

    pf: str
    count: int

    def __str__(self) -> str:
        return f"{self.count} virtual functions of {self.pf}"

    def undo(self, runner: Runner) -> str | None:
        path = f"{SYS_PCI}/{self.pf}/sriov_numvfs"
        # Somebody else has set another number since and may use them.
        if not runner.glob(path) or int(runner.read(path)) != self.count:
            return None
        runner.write(path, "0")
        return f"took the {self.count} virtual functions of {self.pf} away"


@dataclass(frozen=True, slots=True)
class VfSet(Change):
    """VF that existed before and was set from `was` to `to`: fields of VfSettings."""

    pf: str
    number: int
    was: Mapping[str, Any]
    to: Mapping[str, Any]

    def __str__(self) -> str:
        return f"settings of virtual function {self.number} of {self.pf}"

    def undo(self, runner: Runner) -> str | None:
        interface = pf_interface(runner, self.pf)
        entry = {} if interface is None else vf_entries(runner, interface).get(self.number)
        if interface is None or entry is None:
            return None  # gone
        now = parse_vf(entry)
        # Settings that somebody else has changed since stay.
        ours = {key: self.was[key] for key, value in self.to.items() if getattr(now, key) == value}
        was = replace(now, **ours)
        if now == was:
            return None
        set_vf(runner, self.pf, interface, self.number, was)
        return f"set virtual function {self.number} of {self.pf} as it was"


def set_vf(runner: Runner, pf: str, interface: str, number: int, wanted: VfSettings) -> None:
    """Set what differs, and read back what the driver made of it.

    Raises BenchError for a setting that the driver rejects, or accepts without keeping.
    """
    for words in wanted.words_from(parse_vf(vf_entries(runner, interface)[number])):
        told = runner.run(
            ["ip", "link", "set", "dev", interface, "vf", str(number), *words], check=False
        )
        if told.exit_code != 0:
            raise BenchError(
                f"the driver of {pf} ({interface}) does not set {' '.join(words)} on virtual "
                f"function {number}: {told.stderr.strip()}",
                "Leave that key of [sriov] out, or use a NIC that has it.",
            )
    kept = parse_vf(vf_entries(runner, interface)[number])
    if lost := [" ".join(words) for words in wanted.words_from(kept)]:
        raise BenchError(
            f"the driver of {pf} ({interface}) took {', '.join(lost)} for virtual function "
            f"{number} and did not keep it: it says {kept}",
            "Leave that key of [sriov] out, or use a NIC that has it.",
        )
