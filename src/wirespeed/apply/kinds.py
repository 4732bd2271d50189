# SPDX-License-Identifier: Apache-2.0
"""Read and write changed settings as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from wirespeed.apply.setting import Entry, Setting
from wirespeed.apply.steps.boot_unit import EnabledUnit
from wirespeed.apply.steps.drivers import Driver
from wirespeed.apply.steps.governors import Governors
from wirespeed.apply.steps.grub_defaults import GrubDefaults
from wirespeed.apply.steps.grub_drop_in import GrubDropIn
from wirespeed.apply.steps.grubby import GrubbyArguments
from wirespeed.apply.steps.huge_pages import HugePagePool
from wirespeed.apply.steps.interrupts import Interrupts
from wirespeed.apply.steps.kernel_files import KernelFiles
from wirespeed.apply.steps.text_file import TextFile
from wirespeed.apply.steps.vfs import Vfs
from wirespeed.apply.switches import APPLIED

_SETTINGS: tuple[type[Setting], ...] = (
    GrubDropIn, GrubbyArguments, GrubDefaults, HugePagePool, Governors, Interrupts, Vfs, Driver,
    TextFile, EnabledUnit, KernelFiles,
)  # fmt: skip


class UnknownKind(Exception):
    """Raised for a change of another version that this version does not know."""


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """Return the record of a change: type, name and fields of the setting, and its old value."""
    setting = entry.setting
    return {
        "changed": type(setting).__name__,
        "name": setting.name,
        "fields": asdict(setting),
        "old": entry.old,
    }


def setting_from_json(kind: str, fields: Mapping[str, object]) -> Setting:
    """Return the setting with this class name and these fields of `asdict`. Raises UnknownKind."""
    known = (*_SETTINGS, *(setting for switch in APPLIED for setting in switch.settings))
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    try:
        return {setting.__name__: setting for setting in known}[kind](**values)
    except (KeyError, TypeError) as fault:
        raise UnknownKind(kind) from fault
