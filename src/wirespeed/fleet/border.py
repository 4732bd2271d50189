# SPDX-License-Identifier: Apache-2.0
"""Check a host's statements about itself before the fleet accepts them.

A host's name is that of the directory into which its controller fetched its files. Its address and
site come only from the controller's inventory. So no host can speak for another.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wirespeed.document.validation import faults_of
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.host.snapshot import HostSnapshot, Member
from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.moment import moment_fault
from wirespeed.model.input.text import ADDRESS, HOST, OPTIONAL_NAME


class _Place(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str = ""
    site: str = ""


_PLACES = TypeAdapter(dict[str, _Place])
_NEXT = 'It is JSON: {"compute-1": {"address": "192.0.2.1", "site": "fra"}}.'


def read_members(text: str, where: str) -> dict[str, Member]:
    """Read the controller's inventory: each host's address and site. Raises BadInput."""
    try:
        places = _PLACES.validate_python(load_json(text))
    except ValidationError as error:
        raise faulty_file(where, faults_of(error), _NEXT) from None
    except ValueError as error:
        raise BadInput(f"{where} is not JSON: {error}", _NEXT) from None
    faults = [fault for name, place in places.items() for fault in _place_faults(name, place)]
    if faults:
        raise faulty_file(where, faults, _NEXT)
    return {name: Member(name, place.address, place.site) for name, place in places.items()}


def _place_faults(name: str, place: _Place) -> list[str]:
    found = []
    if not HOST.fits(name):
        found.append(f"{name!r}: is no name of a host")
    if not ADDRESS.fits(place.address):
        found.append(f"{name}.address: {place.address!r} is no address")
    if not OPTIONAL_NAME.fits(place.site):
        found.append(f"{name}.site: {place.site!r} is no name of a site")
    return found


def host_of_folder(folder: str, file: str) -> str:
    """Return the host of this directory. Raises BadInput where the name is not a host's."""
    if not HOST.fits(folder):
        raise BadInput(
            f"{file}: its directory {folder!r} is no host's name",
            "Keep each host's files in a directory with its name.",
        )
    return folder


def admitted(
    snapshot: HostSnapshot, file: str, host: str, members: Mapping[str, Member], now: datetime
) -> HostSnapshot:
    """Return the snapshot with the controller's name, address and site of the host.

    host: owner of the file's directory. now: the controller's clock. Raises BadInput.
    """
    if snapshot.member.name != host:
        raise BadInput(
            f"{file}: it names host {snapshot.member.name!r}, but is in the directory of {host}",
            "A host's directory may hold its own files alone: find out who wrote this one.",
        )
    if (fault := moment_fault(snapshot.collected_at, now)) is not None:
        raise BadInput(f"{file}: collected_at: {fault}", "Take the snapshot again.")
    member = members.get(host, Member(host))
    return HostSnapshot(
        member, snapshot.collected_at, snapshot.hardware, snapshot.facts, snapshot.audit,
        snapshot.versions,
    )  # fmt: skip
