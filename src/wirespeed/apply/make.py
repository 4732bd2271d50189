# SPDX-License-Identifier: Apache-2.0
"""Change one setting of a host, or restore it, and report why that failed."""

from __future__ import annotations

import errno
from collections.abc import Callable

from wirespeed.apply.setting import Entry, Setting, Value
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import HostUnreachable, RemoteError, Runner


class NotWritable(WirespeedError):
    """Raised when a file system of the host is full or read-only."""


def restore(runner: Runner, entry: Entry) -> str:
    """Restore the previous value of a setting. Return the reason of a failure, else ""."""
    setting = entry.setting

    def made() -> str:
        needed = setting.makes_more or setting.left(runner, entry.old)
        failed = make(runner, setting, entry.old) if needed else ""
        left = setting.left(runner, entry.old)
        if not left or setting.excusable(runner, left):
            return ""
        return "; ".join(part for part in (f"is {', '.join(left)}", failed) if part)

    fault, failed = attempt(setting.name, made)
    return failed or fault or ""


def attempt(name: str, do: Callable[[], str]) -> tuple[str | None, str]:
    """Return the result of `do` and "", or None and the reason of its failure.

    Raises only HostUnreachable: no other failure of one setting may keep others from being undone.
    """
    try:
        return do(), ""
    except HostUnreachable:
        raise
    except WirespeedError as fault:
        return None, fault.what
    except OSError as fault:  # The device of the setting does not exist.
        return None, f"{fault.filename or name}: {fault.strerror or fault}"
    except (ValueError, LookupError, TypeError) as fault:
        return None, f"its recorded value is not of this version: {fault!r}"


def make(runner: Runner, setting: Setting, value: Value) -> str:
    """Change a setting. Return the host's error message where that failed, else "".

    Raises HostUnreachable, and NotWritable where the host's disk is full or read-only, because no
    other setting can be changed then.
    """
    try:
        setting.make(runner, value)
    except HostUnreachable:
        raise
    except RemoteError as fault:
        return fault.what
    except OSError as fault:
        if fault.errno in (errno.ENOSPC, errno.EROFS):
            raise NotWritable(
                f"{fault.filename or setting.name} on {runner.name} cannot be written: "
                f"{fault.strerror}",
                "Free space there, or mount it writable. Then run the command again: it continues.",
            ) from fault
        return f"{fault.filename or setting.name}: {fault.strerror or fault}"
    return ""
