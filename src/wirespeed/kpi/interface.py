# SPDX-License-Identifier: Apache-2.0
"""Define what a collector of KPIs is: it finds sources on a host, and reads their raw counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.series import SeriesKind
from wirespeed.remote.interface import RemoteError, Runner

# Errors of a source that is gone or hangs, or whose answer has another layout.
FAILURES = (
    RemoteError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
)  # fmt: skip


class KpiError(WirespeedError):
    """Raised when a recording cannot be begun or goes on no more."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit of stored integers, and its base unit."""

    name: str
    base: str
    """Base unit as Prometheus names it; "" for a plain number."""
    factor: float = 1.0
    """Base units in one."""


NS = Unit("ns", "seconds", 1e-9)
OCTETS = Unit("B", "bytes")
PACKETS = Unit("packets", "packets")
CYCLES = Unit("cycles", "cycles")
HERTZ = Unit("Hz", "hertz")
PERCENT = Unit("%", "ratio", 0.01)
NUMBER = Unit("1", "")


@dataclass(frozen=True, slots=True)
class Metric:
    """One kind of series: name, unit, and where it comes from."""

    key: str
    """Stable name; Prometheus gets it with the prefix wirespeed_, and _total for counters."""
    kind: SeriesKind
    unit: Unit
    labels: tuple[str, ...]
    text: str
    """Meaning, as one sentence without its full stop."""
    source: str
    """File or command that it is read from."""
    term: str = ""
    """Term of ETSI GS NFV-TST 008; "" where that has none."""
    alias: str = ""
    """Name in dataplane-node-exporter; "" where that has none."""

    @property
    def prometheus(self) -> str:
        total = "_total" if self.kind is SeriesKind.COUNTER else ""
        return f"wirespeed_{self.key}{total}"


def counter(
    key: str, unit: Unit, labels: str, text: str, source: str, *, term: str = "", alias: str = ""
) -> Metric:
    """Return a metric that counts since its source started. labels: separated by spaces."""
    words = tuple(labels.split())
    return Metric(key, SeriesKind.COUNTER, unit, words, text, source, term, alias)


def gauge(
    key: str, unit: Unit, labels: str, text: str, source: str, *, term: str = "", alias: str = ""
) -> Metric:
    """Return a metric that is a level at the moment of the read. labels: separated by spaces."""
    return Metric(key, SeriesKind.GAUGE, unit, tuple(labels.split()), text, source, term, alias)


# A series of a source: its metric's key, and the values of its metric's labels in their order.
Name = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Values:
    """Values of one read."""

    epoch: str
    """Process and start time of the source; a new one breaks every line."""
    values: Mapping[Name, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """One read of a source with its begin and end by CLOCK_MONOTONIC."""

    source: str
    begin_ns: int
    end_ns: int
    found: Values


@dataclass(frozen=True, slots=True)
class Missing:
    """Reason for a collector that has nothing to read on this host, in one sentence."""

    because: str


class Source(Protocol):
    """A program or a group of files that is read at once."""

    @property
    def name(self) -> str:
        """Name that is the same after a restart, e.g. "cpu" or "ovs-pmd system"."""
        ...

    def read(self) -> Values:
        """Read all counters. Raises RemoteError or OSError when the source is gone or silent."""
        ...

    def close(self) -> None: ...


class Collector(Protocol):
    """A kind of source. Implementations: collectors/, one file each."""

    @property
    def name(self) -> str: ...

    @property
    def cheap(self) -> bool:
        """True if a read takes well below a millisecond and disturbs no polling thread."""
        ...

    @property
    def metrics(self) -> tuple[Metric, ...]: ...

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        """Return the sources that are there now, or why there is none."""
        ...
