# SPDX-License-Identifier: Apache-2.0
"""Define facts of the processor, its firmware and the programs that set a host's settings."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.input.text import Line, Word


@dataclass(frozen=True, slots=True)
class Uncore:
    """Frequency range of a part of a package outside its cores (caches, memory, PCIe), in kHz."""

    name: Word
    """The kernel's name, e.g. package_00_die_00."""
    min_khz: int
    max_khz: int
    highest_khz: int | None = None
    """Maximum when the driver was loaded; None if the kernel does not report it."""


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A weakness of processors, and what the kernel does about it on this host."""

    name: Word
    state: Line
    """The kernel's words: "Not affected", "Mitigation: ..." or "Vulnerable..."."""

    @property
    def open(self) -> bool:
        """The kernel reports the weakness as not mitigated."""
        return self.state.removeprefix("KVM: ").startswith("Vulnerable")

    @property
    def mitigated(self) -> bool:
        return self.state.removeprefix("KVM: ").startswith("Mitigation")


@dataclass(frozen=True, slots=True)
class Service:
    """A unit of systemd that may write settings of the data plane."""

    name: Word
    active: bool


@dataclass(frozen=True, slots=True)
class Tuned:
    """Active profiles of tuned, and the options that they and their parents set."""

    profiles: tuple[Word, ...]
    options: tuple[Line, ...] = ()
    """Plug-in and option, e.g. cpu.governor."""

    def sets(self, option: str) -> bool:
        """Return whether an option is set; one that ends with "*" stands for all that begin so."""
        if option.endswith("*"):
            return any(name.startswith(option[:-1]) for name in self.options)
        return option in self.options


@dataclass(frozen=True, slots=True)
class BootEnvironment:
    """GRUB's environment block, a file of fixed size. Sizes are in octets."""

    path: Line
    used: int
    """Octets of the header and all variables."""
    size: int
    kernel_words: Line | None = None
    """Variable kernelopts, the command line of every kernel; None if it is not set."""


@dataclass(frozen=True, slots=True)
class CpuSmis:
    """System management interrupts of one CPU."""

    cpu: int
    count: int


@dataclass(frozen=True, slots=True)
class SmiCount:
    """System management interrupts while `wirespeed qualify` polled."""

    watched_s: float
    cpus: tuple[CpuSmis, ...]
    """CPUs that report a count; empty if none does."""
    longest_ns: int = 0
    """Longest gap that they caused."""
