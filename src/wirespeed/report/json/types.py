# SPDX-License-Identifier: Apache-2.0
"""Define the result document; its JSON Schema is made from these types.

Names follow the test-case schema of FD.io CSIT where it has one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Ge
from pydantic import Field
from typing_extensions import TypedDict

from wirespeed.model.host.finding import AuditReport
from wirespeed.model.plan.prediction import Prediction
from wirespeed.model.result.explanation import Explanation
from wirespeed.report.json.convergence_types import ConvergenceResult
from wirespeed.report.json.result_types import Fps, Result, TcpResult
from wirespeed.report.json.sessions_types import SessionsResult
from wirespeed.report.json.trial_types import Time, Trial
from wirespeed.report.views.thresholds import Verdict
from wirespeed.store.records import PointState


class JudgedThreshold(TypedDict):
    """A threshold at one point."""

    threshold: str
    """The threshold as given, e.g. "p2p, 64 B: ndr >= 5e6"."""
    point: str
    """Label of the point; * if no point was measured."""
    verdict: Verdict
    """Only `met` counts as met. `cannot tell`: the limit is within the bracket, or the point has no
    such value."""
    found: str
    """Value of the point with its unit, or the reason why it has none."""


class Run(TypedDict):
    """The study, the command that ran it, and when."""

    id: str
    """Name of the study and a number."""
    study: str
    """Name of the study."""
    title: str
    """Title of the study."""
    description: str
    """Description of the study."""
    started_at: Time
    finished_at: Time | None
    complete: bool
    """Every point is complete."""
    command: list[str]
    """Command that began the run."""
    resolved_study: dict[str, Any]
    """Study file with every --set applied."""


class TheoreticalMax(TypedDict):
    """Line rate of traffic.link_bps at the mean frame size, over all directions."""

    rate: Fps


class Point(TypedDict):
    """One combination of parameters and its result."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{12}$")]
    """Same for the same parameters, in any study and run."""
    label: str
    """Topology and frame size, or TCP's path, and all that the study varies."""
    factors: list[str]
    """Names of the study's factors that are on at this point."""
    repeat: Annotated[int, Ge(1)]
    """Number of the repeat, from 1."""
    state: PointState
    """Only a complete point has a result. not_run: the host lacks what it needs, as `error` says.
    Any other is measured again on resume."""
    error: str | None
    """Reason why a failed point ended early."""
    started_at: Time | None
    finished_at: Time | None
    dut_type: str | None
    """Type of the SUT, e.g. ovs-dpdk, wsdp, testpmd, reference, external or kernel; null until the
    point began."""
    tg_type: Literal["wirespeed"]
    """Traffic generator."""
    tg_version: str | None
    """Version of the traffic generator."""
    parameters: dict[str, dict[str, Any]]
    """Every key that the point depends on, as tables in the spelling of a study file: those of
    frames (topology, traffic, sut, search), or those of TCP (tcp). The kind of topology is
    parameters.topology.kind, which CSV calls topology_kind."""
    theoretical_max: TheoreticalMax | None
    """Line rate; null for TCP, as virtual cables have no speed."""
    plan: dict[str, Any] | None
    """Cores, memory and queues, each with its reason."""
    bench: dict[str, Any]
    """Description of the bench: versions, configuration, commands."""
    result: Result | TcpResult | SessionsResult | ConvergenceResult | None
    """Result of a complete point."""
    explanations: list[Explanation]
    """Limits of the point, the most important first, as known when the point was complete; of
    points that a version before schema 3.0 measured, as known now."""
    predicted: Prediction | None
    """Predicted rate under full load, with `wirespeed report --params`; else null."""
    trials: list[Trial]
    """Every trial, in the order in which they ran."""


class RunDocument(TypedDict):
    """One run, as `wirespeed run --json` and `wirespeed report --json` print it.

    Names follow the test-case schema of FD.io CSIT where it has a name. Loads, rates and counts are
    summed over all directions.
    """

    schema_version: str
    """Major and minor version of this schema. A new key raises the minor, a changed or removed one
    the major version."""
    run: Run
    versions: dict[str, str]
    """Versions of the measuring programs, by name. The bench of each point adds those of the
    SUT."""
    hosts: Annotated[list[dict[str, Any]], Field(min_length=1)]
    """Facts of each host that took part, as `wirespeed inspect --json` prints them."""
    audits: list[AuditReport] | None
    """Audit of each host as the run began; null if a version before schema 3.0 ran."""
    points: list[Point]
    """Every point of the study in its order, complete or not."""
    thresholds: list[JudgedThreshold]
    """Points by --threshold and --require-grade; empty without these. Not stored with the run."""
