# SPDX-License-Identifier: Apache-2.0
"""Which published rates can the model be held against? Those of published/tables.py."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from wirespeed.predict.document import parse_parameters
from wirespeed.predict.fit import fit
from wirespeed.predict.observation import Observation, parse_observations
from wirespeed.predict.parameters import Parameters
from wirespeed.published.tables import text

# The base clock of S2's E5-2699 v4.
S2_CLOCK_HZ = 2.2e9
# What S2's tables say nothing about and our own topologies need: its cores poll one port each.
ASSUMED: Mapping[str, float] = {"poll_ns": 30.0}


def published(name: str) -> tuple[Observation, ...]:
    """The rates of "s2", "s3" or "s4"."""
    return parse_observations(text(name), f"{name}.csv")


def shipped_parameters(name: str = "s2") -> Parameters:
    """Parameters fitted to published rates, as they are shipped."""
    file = files("wirespeed.predict").joinpath("data", f"{name}.json")
    return parse_parameters(file.read_text(encoding="utf-8"), f"{name}.json")


def fit_s2() -> Parameters:
    """What data/s2.json holds: the fit to S2's table. Takes seconds; needs scipy."""
    source = "S2 (2017), section 5.1"
    return fit(published("s2"), source, known=ASSUMED, clock_hz=S2_CLOCK_HZ)
