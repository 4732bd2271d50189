# SPDX-License-Identifier: Apache-2.0
"""Define the time that other programs and guests took from a host during a run."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.input.text import Line


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Shares of the time of a run's trials.

    run: the run's id. trials: how many it had. moved: in how many of them the hypervisor moved the
    polling CPUs. taken: the share in which a polling thread was stopped or its core was shared.
    stolen: the share that the hypervisor reports as steal time of the polling CPUs. takers: the
    programs that used the polling CPUs most, each with its share.
    """

    run: Line
    trials: int
    moved: int
    taken: float
    stolen: float
    takers: tuple[Line, ...] = ()
