# SPDX-License-Identifier: Apache-2.0
"""Which published rates can the model be held against? data/*.csv, copied from the papers.

S2: SR-IOV for NFV Solutions, Intel 2017, section 5.1: what all VNFs transmit under full load.
S3: jumbo frames, table 5: RFC 2544 throughput without loss on 25 GbE. Its table 1 is left out: some
of its rates exceed line rate. S4: Intel Open Network Platform, RFC 2544 throughput on 2 x 10 GbE.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from wirespeed.predict.document import parse_parameters
from wirespeed.predict.fit import fit
from wirespeed.predict.observation import Observation, parse_observations
from wirespeed.predict.parameters import Parameters

# The base clock of S2's E5-2699 v4.
S2_CLOCK_HZ = 2.2e9
# What S2's tables say nothing about and our own topologies need: its cores poll one port each.
ASSUMED: Mapping[str, float] = {"poll_ns": 30.0}


def published(name: str) -> tuple[Observation, ...]:
    """The rates of "s2", "s3" or "s4"."""
    return parse_observations(_text(f"{name}.csv"), f"{name}.csv")


def shipped_parameters(name: str = "s2") -> Parameters:
    """Parameters fitted to published rates, as they are shipped."""
    return parse_parameters(_text(f"{name}.json"), f"{name}.json")


def fit_s2() -> Parameters:
    """What data/s2.json holds: the fit to S2's table. Takes seconds; needs scipy."""
    source = "S2 (2017), section 5.1"
    return fit(published("s2"), source, known=ASSUMED, clock_hz=S2_CLOCK_HZ)


def _text(name: str) -> str:
    return files("wirespeed.predict").joinpath("data", name).read_text(encoding="utf-8")
