# SPDX-License-Identifier: Apache-2.0
"""Read the board, its firmware and the memory modules in its slots.

Source: ABI/testing/sysfs-class-dmi for the names, which need no root; SMBIOS type 17 as
dmidecode(8) prints it for the modules, which need root; ABI/testing/sysfs-devices-system-cpu for
turbo.
"""

from __future__ import annotations

import re

from wirespeed.host.reader import Reader
from wirespeed.model.host.facts import Dimm, Firmware
from wirespeed.model.input.fault import show

DMI = "/sys/class/dmi/id"
_NAMES = ("sys_vendor", "product_name", "bios_version", "bios_date")
NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"
MICROCODE = "/sys/devices/system/cpu/cpu0/microcode/version"
MODULES = ["dmidecode", "--type", "17"]
_SIZE = re.compile("([0-9]{1,9}) ([kMGT]B)|No Module Installed|Unknown")
_SPEED = re.compile("([0-9]{1,9}) (?:MT/s|MHz)|Unknown")
_UNITS = {"kB": 1 / 1024, "MB": 1, "GB": 1024, "TB": 1024 * 1024}


def read_firmware(reader: Reader) -> Firmware | None:
    """Return board and firmware; None where the host reports neither.

    Most virtual machines without SMBIOS report neither.
    """
    files = reader.files(
        [*(f"{DMI}/{name}" for name in _NAMES), NO_TURBO, BOOST, MICROCODE], "firmware"
    )
    if not files:
        return None
    vendor, product, version, date = (files.get(f"{DMI}/{name}", "").strip() for name in _NAMES)
    turbo = None
    if NO_TURBO in files:
        turbo = reader.number(files, NO_TURBO, 0) == 0
    elif BOOST in files:
        turbo = reader.number(files, BOOST, 0) == 1
    return Firmware(vendor, product, version, date, files.get(MICROCODE, ""), turbo)


def read_dimms(reader: Reader) -> tuple[Dimm, ...]:
    """Return every slot that SMBIOS describes, in its order."""
    printed = reader.output(MODULES, "dimms", needs="needs dmidecode", failed="dmidecode")
    if printed is None:
        return ()
    if not printed.startswith("# dmidecode"):
        reader.lacks("dimms", f"dmidecode prints {show(printed)}")
    modules = []
    for block in printed.split("\n\n"):
        keys = _keys(block)
        if "Locator" in keys:
            modules.append(Dimm(_slot(keys), _mib(reader, keys), _speed(reader, keys)))
        elif "\nMemory Device\n" in block:
            reader.lacks("dimms", f"dmidecode: no Locator in {show(block)}")
    return tuple(modules)


def _keys(block: str) -> dict[str, str]:
    pairs = (line.strip().partition(": ") for line in block.splitlines())
    return {key: value.strip() for key, colon, value in pairs if colon}


def _slot(keys: dict[str, str]) -> str:
    """Name a slot by bank and locator: some boards repeat the locator in each bank."""
    bank = keys.get("Bank Locator", "")
    return keys["Locator"] if bank in ("", "Not Specified") else f"{bank} {keys['Locator']}"


def _mib(reader: Reader, keys: dict[str, str]) -> int:
    size = reader.matches("dimms", _slot(keys), keys.get("Size", ""), _SIZE, "a module's size")
    return round(int(size[0][1]) * _UNITS[size[0][2]]) if size and size[0][1] else 0


def _speed(reader: Reader, keys: dict[str, str]) -> int | None:
    """Return the configured speed in MT/s; dmidecode before 3.2 calls it the clock speed."""
    text = keys.get("Configured Memory Speed") or keys.get("Configured Clock Speed") or ""
    speed = reader.matches("dimms", _slot(keys), text, _SPEED, "a module's speed")
    return int(speed[0][1]) if speed and speed[0][1] else None
