# SPDX-License-Identifier: Apache-2.0
"""Load the published rates to which the model is compared, from published/tables.py."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from wirespeed.predict.document import parse_parameters
from wirespeed.predict.fit import fit
from wirespeed.predict.observation import Observation, parse_observations
from wirespeed.predict.parameters import Parameters
from wirespeed.published.tables import text

# Base clock of S2's E5-2699 v4.
S2_CLOCK_HZ = 2.2e9
# Parameters that our topologies need and S2's tables do not determine: S2's cores poll one port
# each, so that their exact match caches hold all flows.
ASSUMED: Mapping[str, float] = {"poll_ns": 30.0, "classifier_ns": 50.0}


def published(name: str) -> tuple[Observation, ...]:
    """Return the rates of "s2", "s3" or "s4"."""
    return parse_observations(text(name), f"{name}.csv")


def shipped_parameters(name: str = "s2") -> Parameters:
    """Return the shipped parameters, which were fitted to published rates."""
    file = files("wirespeed.predict").joinpath("data", f"{name}.json")
    return parse_parameters(file.read_text(encoding="utf-8"), f"{name}.json")


def fit_s2() -> Parameters:
    """Return the fit to S2's table, the content of data/s2.json. Takes seconds; needs scipy."""
    source = "S2 (2017), section 5.1"
    return fit(published("s2"), source, known=ASSUMED, clock_hz=S2_CLOCK_HZ)
