# SPDX-License-Identifier: Apache-2.0
"""Read uncore frequencies, mitigations and DDIO's ways from what kernel and rdmsr print."""

from __future__ import annotations

import pytest

from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.cpu import CpuFacts
from wirespeed.host.platform import (
    DDIO_WAYS,
    read_ddio_ways,
    read_uncore,
    read_vulnerabilities,
)
from wirespeed.host.reader import HostUnreadable, Reader
from wirespeed.model.host.platform import Uncore, Vulnerability

PART = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00"
WEAK = "/sys/devices/system/cpu/vulnerabilities"
XEON = CpuFacts((), (), "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", ("aes",))


def reader_of(**files: str) -> tuple[FakeRunner, Reader]:
    runner = FakeRunner(name="host")
    runner.files.update(files)
    return runner, Reader(runner)


def test_uncore_range_is_read_without_the_maximum_of_an_older_kernel() -> None:
    files = {f"{PART}/min_freq_khz": "800000\n", f"{PART}/max_freq_khz": "2400000\n"}
    assert read_uncore(reader_of(**files)[1]) == (Uncore("package_00_die_00", 800_000, 2_400_000),)
    files[f"{PART}/initial_max_freq_khz"] = "2600000\n"
    [part] = read_uncore(reader_of(**files)[1]) or ()
    assert part.highest_khz == 2_600_000


def test_uncore_without_the_driver_is_none() -> None:
    assert read_uncore(reader_of()[1]) is None


def test_uncore_value_that_no_kernel_writes_is_an_error() -> None:
    _, reader = reader_of(**{f"{PART}/min_freq_khz": "x", f"{PART}/max_freq_khz": "1"})
    read_uncore(reader)
    with pytest.raises(HostUnreadable, match="min_freq_khz"):
        reader.raise_faults()


@pytest.mark.parametrize(
    ("state", "still_open", "mitigated"),
    [
        ("Not affected", False, False),
        ("Vulnerable", True, False),
        ("Vulnerable: Safe RET, no microcode", True, False),
        ("KVM: Vulnerable", True, False),
        ("KVM: Mitigation: VMX disabled", False, True),
        ("Mitigation: Clear CPU buffers; SMT vulnerable", False, True),
        ("Unknown: Dependent on hypervisor status", False, False),
    ],
)
def test_vulnerability_state_is_as_the_kernel_words_it(
    state: str, still_open: bool, mitigated: bool
) -> None:
    found = read_vulnerabilities(reader_of(**{f"{WEAK}/mds": f"{state}\n"})[1])
    assert found == (Vulnerability("mds", state),)
    assert (found[0].open, found[0].mitigated) == (still_open, mitigated)


def test_vulnerabilities_of_an_old_kernel_are_none() -> None:
    assert read_vulnerabilities(reader_of()[1]) is None


def test_ddio_ways_are_the_fewest_of_all_packages() -> None:
    runner, reader = reader_of()
    runner.answer(DDIO_WAYS, "600\n600\n400\n")
    assert read_ddio_ways(reader, XEON) == 1
    assert reader.missing == ()


@pytest.mark.parametrize(
    ("stdout", "stderr", "code", "reason"),
    [
        ("", "rdmsr: open: No such file or directory\n", 3, "needs MSR 0xc8b: rdmsr: open"),
        ("0x600\n", "", 0, "is not a hexadecimal number"),
    ],
)
def test_ddio_that_cannot_be_read_is_missing(
    stdout: str, stderr: str, code: int, reason: str
) -> None:
    runner, reader = reader_of()
    runner.answer(DDIO_WAYS, stdout, stderr, code)
    assert read_ddio_ways(reader, XEON) is None
    assert reason in reader.missing[0].reason


def test_ddio_without_rdmsr_is_missing() -> None:
    _, reader = reader_of()
    assert read_ddio_ways(reader, XEON) is None
    assert reader.missing[0].reason.startswith("needs rdmsr")


@pytest.mark.parametrize(
    "cpu", [CpuFacts((), (), "AMD EPYC 9354", ()), CpuFacts((), (), XEON.model, ("hypervisor",))]
)
def test_ddio_of_other_processors_and_of_guests_is_absent(cpu: CpuFacts) -> None:
    runner, reader = reader_of()
    runner.answer(DDIO_WAYS, "0\n")
    assert read_ddio_ways(reader, cpu) is None
    assert reader.missing == ()
