# SPDX-License-Identifier: Apache-2.0
"""Find the host that a search for faster settings changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Point
from wirespeed.remote.interface import LOCALHOST
from wirespeed.study.lab import load_lab


@dataclass(frozen=True, slots=True)
class TunedHost:
    """Host of the SUT."""

    address: str = LOCALHOST
    name: str = LOCALHOST
    """Name in the testbed file."""


def tuned_host(point: Point, lab_file: Path | None, named: str | None) -> TunedHost:
    """Return the host of the point's SUT.

    named: the host as --host names it, which must be that one. Raises BadInput.
    """
    roles = point.workload.roles
    name = roles.sut or roles.generator
    if name is None:
        if named not in (None, LOCALHOST):
            raise BadInput(
                f"--host {named}: study point {point.label} names no hosts, so it is measured on "
                "this machine",
                "Run `wirespeed tune` on that host; or add a table [hosts] to the study, and give "
                "--lab FILE.",
            )
        return TunedHost()
    if lab_file is None:
        raise BadInput(
            f"{point.label} is measured on {name}, and there is no testbed file",
            "Give one with --lab FILE (docs/howto/two-hosts.md).",
        )
    host = load_lab(lab_file).hosts.get(name)
    if host is None:
        raise BadInput(f"{lab_file} has no host {name}", "Add it, or change [hosts] of the study.")
    address = host.ssh or LOCALHOST
    if named not in (None, name, address):
        raise BadInput(
            f"--host {named}: the SUT of {point.label} is {name} ({address}), and a search changes "
            "no other host",
            f"Leave out --host, or give --host {name}.",
        )
    return TunedHost(address, name)
