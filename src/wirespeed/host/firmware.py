# SPDX-License-Identifier: Apache-2.0
"""Read the board, its firmware and the memory modules in its slots.

Source: ABI/testing/sysfs-class-dmi for the names, which need no root; SMBIOS type 17 as
dmidecode(8) prints it for the modules, which need root; ABI/testing/sysfs-devices-system-cpu for
turbo.
"""

from __future__ import annotations

import re

from wirespeed.host.reader import Reader
from wirespeed.model.facts import Dimm, Firmware

DMI = "/sys/class/dmi/id"
_NAMES = ("sys_vendor", "product_name", "bios_version", "bios_date")
NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"
MICROCODE = "/sys/devices/system/cpu/cpu0/microcode/version"
MODULES = ["dmidecode", "--type", "17"]
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
    printed = reader.command(MODULES, "dimms")
    if printed is None:
        reader.lacks("dimms", "needs dmidecode")
        return ()
    if printed.exit_code != 0:
        said = (printed.stderr or printed.stdout).strip().splitlines()
        reader.lacks("dimms", f"dmidecode: {said[-1] if said else printed.exit_code}")
        return ()
    return tuple(
        Dimm(_slot(keys), _mib(keys.get("Size", "")), _speed(keys))
        for keys in map(_keys, printed.stdout.split("\n\n"))
        if "Locator" in keys
    )


def _keys(block: str) -> dict[str, str]:
    pairs = (line.strip().partition(": ") for line in block.splitlines())
    return {key: value.strip() for key, colon, value in pairs if colon}


def _slot(keys: dict[str, str]) -> str:
    """Name a slot by bank and locator: some boards repeat the locator in each bank."""
    bank = keys.get("Bank Locator", "")
    return keys["Locator"] if bank in ("", "Not Specified") else f"{bank} {keys['Locator']}"


def _mib(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,9}) ([kMGT]B)", text)
    return round(int(found[1]) * _UNITS[found[2]]) if found else 0


def _speed(keys: dict[str, str]) -> int | None:
    """Return the configured speed in MT/s; dmidecode before 3.2 calls it the clock speed."""
    text = keys.get("Configured Memory Speed") or keys.get("Configured Clock Speed") or ""
    found = re.fullmatch(r"([0-9]{1,9}) (?:MT/s|MHz)", text)
    return int(found[1]) if found else None
