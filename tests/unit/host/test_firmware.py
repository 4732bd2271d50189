# SPDX-License-Identifier: Apache-2.0
"""Test the board, firmware and memory modules that a server's kernel and dmidecode report."""

from __future__ import annotations

from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.firmware import (
    BOOST,
    DMI,
    MICROCODE,
    MODULES,
    NO_TURBO,
    read_dimms,
    read_firmware,
)
from wirespeed.host.reader import Reader
from wirespeed.model.host.facts import Dimm, Firmware, Missing

# Two slots of a server as dmidecode 3.3 prints them, with invented serial numbers.
PRINTED = """# dmidecode 3.3
Getting SMBIOS data from sysfs.
SMBIOS 3.2.0 present.

Handle 0x1100, DMI type 17, 84 bytes
Memory Device
\tTotal Width: 72 bits
\tSize: 16 GB
\tForm Factor: DIMM
\tLocator: A1
\tBank Locator: Not Specified
\tType: DDR4
\tSpeed: 2933 MT/s
\tSerial Number: 12345678
\tConfigured Memory Speed: 2666 MT/s

Handle 0x1101, DMI type 17, 84 bytes
Memory Device
\tSize: No Module Installed
\tLocator: A2
\tBank Locator: P0 CHANNEL B
\tSpeed: Unknown
\tConfigured Memory Speed: Unknown

Handle 0x1102, DMI type 17, 40 bytes
Memory Device
\tSize: 8192 MB
\tLocator: A3
\tConfigured Clock Speed: 1600 MHz
"""


def test_modules_with_their_configured_speed() -> None:
    host = FakeRunner()
    host.answer(MODULES, PRINTED)
    assert read_dimms(Reader(host)) == (
        Dimm("A1", 16384, 2666), Dimm("P0 CHANNEL B A2", 0, None), Dimm("A3", 8192, 1600),
    )  # fmt: skip


def test_absent_memory_modules_have_a_reason() -> None:
    absent = Reader(FakeRunner())
    assert read_dimms(absent) == ()
    assert absent.missing == (Missing("dimms", "needs dmidecode"),)
    host = FakeRunner()
    host.answer(MODULES, "", "/sys/firmware/dmi/tables/DMI: Permission denied", exit_code=1)
    denied = Reader(host)
    assert read_dimms(denied) == ()
    assert denied.missing[0].reason.endswith("Permission denied")


def test_the_board_and_its_firmware() -> None:
    files: dict[str, str | OSError] = {
        f"{DMI}/sys_vendor": "Dell Inc.\n", f"{DMI}/product_name": "PowerEdge R740xd\n",
        f"{DMI}/bios_version": "2.12.2\n", f"{DMI}/bios_date": "07/09/2021\n",
        MICROCODE: "0x2006b06\n", NO_TURBO: "1\n",
    }  # fmt: skip
    assert read_firmware(Reader(FakeRunner(files=files))) == Firmware(
        "Dell Inc.", "PowerEdge R740xd", "2.12.2", "07/09/2021", "0x2006b06", turbo=False
    )
    amd = read_firmware(Reader(FakeRunner(files={BOOST: "1\n"})))
    assert amd is not None
    assert amd.turbo is True


def test_a_machine_that_reports_nothing_has_no_firmware() -> None:
    reader = Reader(FakeRunner())
    assert read_firmware(reader) is None
    assert reader.missing == ()
