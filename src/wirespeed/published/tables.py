# SPDX-License-Identifier: Apache-2.0
"""Read the tables that the papers published, with the type of rate in each.

S1: A. Hoban et al., A Path to Line-Rate-Capable NFV Deployments, Intel 2015, figure 5: a chart
without numbers. S2: SR-IOV for NFV Solutions, Intel 2017, section 5.1: sum of all VNFs' transmit
rates under full load, which is no lossless rate. Its Gbps are Mpps x (frame - 4) x 8. S3: jumbo
frames without loss, Dell and Intel 2021, table 5: RFC 2544 throughput on 25 GbE. Its table 1 is
excluded, because some of its rates exceed line rate. S4: Evaluation and Characterization of NFV
Infrastructure on HP servers, 2015: RFC 2544 throughput in both directions of 2 x 10 GbE, and the
trials of one search.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Source:
    """A table of a paper."""

    short: str
    """Name in sentences."""
    cite: str
    """Place in the paper."""
    rate: str
    """Definition of its rates."""


TABLES: Mapping[str, Source] = {
    "s1": Source(
        "S1", "S1 (Intel, 2015), figure 5", "the highest rate without loss, as a share of 10 GbE",
    ),
    "s2": Source(
        "S2", "S2 (Intel, 2017), section 5.1", "what the VNFs transmit under full load, summed",
    ),
    "s3": Source(
        "S3", "S3 (Dell and Intel, 2021), table 5", "RFC 2544 throughput as a share of 25 GbE",
    ),
    "s4": Source(
        "S4", "S4 (HP, 2015)", "RFC 2544 throughput in both directions of 2 x 10 GbE",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rate:
    """One published rate."""

    attachment: str
    """Port attachment of the functions; "none" without functions."""
    arrangement: str
    functions: int
    frame_bytes: int
    rate_fps: float
    """In frames/s."""
    label: str
    """Number or name of the paper's test case, if any."""


@dataclass(frozen=True, slots=True)
class SearchTrial:
    """A trial of S4's search at 64 octets."""

    intended: float
    """In percent of line rate, as is `offered`."""
    offered: float
    loss: float
    """In percent."""
    latency_us: tuple[float, float, float]
    """(minimum, mean, maximum) in µs."""
    jitter_us: tuple[float, float, float]
    """(minimum, mean, maximum) in µs."""


@cache
def rates(table: str) -> tuple[Rate, ...]:
    """Return every rate of "s2", "s3" or "s4"; those of S2 include kernel virtio."""
    names = ("s2", "s2-virtio") if table == "s2" else (table,)
    return tuple(
        Rate(
            row["attachment"], row.get("arrangement", ""), int(row["functions"]),
            int(row["frame_bytes"]), float(row["rate_fps"]), row.get("label", ""),
        )
        for name in names
        for row in _rows(name)
    )  # fmt: skip


def s4_search() -> tuple[SearchTrial, ...]:
    """Return the trials in the order in which S4 ran them."""

    def three(row: Mapping[str, str], what: str) -> tuple[float, float, float]:
        lowest, mean, highest = (float(row[f"{of}_{what}_us"]) for of in ("min", "avg", "max"))
        return lowest, mean, highest

    return tuple(
        SearchTrial(
            float(row["intended_load_percent"]), float(row["offered_load_percent"]),
            float(row["min_frame_loss_percent"]), three(row, "latency"), three(row, "jitter"),
        )
        for row in _rows("s4-search")
    )  # fmt: skip


def s4_titles() -> tuple[tuple[str, str], ...]:
    """Return S4's charts of 6WIND by their titles, all that is left of them, as (title, studies).

    The studies ask the same question.
    """
    return tuple((row["title"], row["study"]) for row in _rows("s4-titles"))


def text(name: str) -> str:
    """Return the text of a CSV file in data/. name: without its extension."""
    file = files("wirespeed.published").joinpath("data", f"{name}.csv")
    return file.read_text(encoding="utf-8")


def _rows(name: str) -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(io.StringIO(text(name))))
