# SPDX-License-Identifier: Apache-2.0
"""Register the kinds of workload: the only place of a study that tells them apart."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.input.fault import Fault
from wirespeed.model.study.convergence import Convergence
from wirespeed.model.study.sessions import Sessions
from wirespeed.model.study.spec import Frames, RouterConvergence, TcpSessions, TcpStreams, Workload
from wirespeed.study.kinds.convergence import ConvergenceKind
from wirespeed.study.kinds.frames import FramesKind
from wirespeed.study.kinds.interface import WorkloadKind
from wirespeed.study.kinds.sessions import SessionsKind
from wirespeed.study.kinds.tcp import TcpKind
from wirespeed.study.tables import CommonTables


@dataclass(frozen=True, slots=True)
class Tables(CommonTables):
    """One point in the spelling of a study file. A kind with a table of its own adds it here."""

    sessions: Sessions | None = None
    convergence: Convergence | None = None


def kind_of(workload: Workload) -> WorkloadKind:
    match workload:
        case Frames():
            return FramesKind(workload)
        case TcpStreams():
            return TcpKind(workload)
        case TcpSessions():
            return SessionsKind(workload)
        case RouterConvergence():
            return ConvergenceKind(workload)


def read(tables: Tables) -> WorkloadKind:
    """Return the workload that the tables describe; [tcp] has precedence over those of frames."""
    if tables.convergence is not None:
        return ConvergenceKind.read(tables, tables.convergence)
    if tables.sessions is not None:
        return SessionsKind.read(tables, tables.sessions)
    if tables.tcp is not None:
        return TcpKind.read(tables, tables.tcp)
    return FramesKind.read(tables)


def broken_rules(tables: Tables) -> list[Fault]:
    """Return every rule that the point breaks."""
    return list(read(tables).faults())
