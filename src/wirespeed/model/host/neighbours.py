# SPDX-License-Identifier: Apache-2.0
"""Define the time that other programs and guests took from a host during a run."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.input.text import Line


@dataclass(frozen=True, slots=True)
class Neighbours:
    """CPU time that neighbours took, as shares of the time of a run's trials.

    `run` is the run's id and `trials` the number of its trials. `moved` is the number of trials in
    which the hypervisor moved the polling CPUs. `taken` is the share in which a polling thread was
    stopped or its core was shared. `stolen` is the share of steal time on the polling CPUs.
    `takers` lists the programs that used the polling CPUs most, each with its share.
    """

    run: Line
    trials: int
    moved: int
    taken: float
    stolen: float
    takers: tuple[Line, ...] = ()
