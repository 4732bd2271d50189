# SPDX-License-Identifier: Apache-2.0
"""Fit parameters to the rates of a bench whose one PMD core serves every port.

These rates give the cost of a pass and of a flow lookup that misses the exact match cache, but no
more: at 64 octets the PMD core is busy 80 to 99% of the time in every topology, so the work of a
function costs no rate. That, putting a frame into a ring, ending a burst and an idle poll are taken
from Intel 2017 (S2), at equal cycles.
"""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.predict.fit import fit
from wirespeed.predict.observation import Observation
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.published import shipped_parameters
from wirespeed.predict.server import at_clock

FROM_S2 = ("vhost_tx_ns", "vhost_tx_byte_ns", "burst_ns", "poll_ns", "function_ns")


def fit_bench(observations: Sequence[Observation], source: str, clock_hz: float) -> Parameters:
    """Return the parameters of the bench's machine. clock_hz: clock of its cores.

    Raises BadInput for fewer points than parameters and for rates of several kinds.
    """
    s2 = at_clock(shipped_parameters(), clock_hz)
    known = {name: s2.values[name].value for name in FROM_S2}
    return fit(observations, source, known=known, clock_hz=clock_hz)
