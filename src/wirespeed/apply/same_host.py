# SPDX-License-Identifier: Apache-2.0
"""Reject records of another host that a cloned disk brings along.

Prepared clones have another machine ID; other clones have another board or virtual machine. Source:
machine-id(5), Documentation/ABI/testing/sysfs-class-dmi.
"""

from __future__ import annotations

from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import Runner

_FILES = {"machine_id": "/etc/machine-id", "board": "/sys/class/dmi/id/product_uuid"}
# Contents of the files where no ID is set.
_UNSET = ("", "uninitialized", "Not Settable", "Not Present")
_MOUNTS = "/proc/self/mounts"


class OtherHostsJournal(WirespeedError):
    """Raised when the journal of changes is of another host. Nothing was changed."""


def identity(runner: Runner) -> dict[str, str]:
    """Return the IDs that distinguish this host from others, as far as they are known.

    A mounted machine ID is excluded: systemd could not write it, so it lasts for one boot.
    """
    texts = runner.read_many([*_FILES.values(), _MOUNTS])
    mounts = texts.pop(_MOUNTS)
    if isinstance(mounts, str) and f" {_FILES['machine_id']} " in mounts:
        texts.pop(_FILES["machine_id"])
    found = {name: texts.get(path) for name, path in _FILES.items()}
    known = {name: text.strip() for name, text in found.items() if isinstance(text, str)}
    return {name: text for name, text in known.items() if text not in _UNSET}


def check_same_host(runner: Runner, recorded: object, folder: str) -> None:
    """Raise OtherHostsJournal where a recorded part of the identity is known and differs."""
    if not isinstance(recorded, dict):
        return
    now = identity(runner)
    differing = [
        f"{_FILES[name]} was {recorded[name]}, is {now[name]}"
        for name in _FILES
        if name in recorded and name in now and recorded[name] != now[name]
    ]
    if differing:
        raise OtherHostsJournal(
            f"the journal of changes in {folder} on {runner.name} is of another host: "
            f"{'; '.join(differing)}",
            "It came with a cloned disk: this host does not have the changes that it names. "
            f"Remove the folder (`rm -rf {folder}`), then apply.",
        )
