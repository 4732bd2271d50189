# SPDX-License-Identifier: Apache-2.0
"""What is a run as one JSON document? Its shape is schemas/result.schema.json.

Names follow the test-case schema of FD.io CSIT where it has a name for the thing.
"""

from __future__ import annotations

from typing import Any

from wirespeed.model.cpus import Proximity
from wirespeed.model.result import TCP, Bound, Interval, LatencyAtLoad, SearchResult
from wirespeed.model.spec import PointSpec, SearchKind, TopologyKind, VnfKind
from wirespeed.model.tcp import TcpPath, TcpResult
from wirespeed.model.trial import Latency, Trial
from wirespeed.report.figures import rate, theoretical_max_fps
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord, RunRecord, StoredTrial

# Raise the second number when a field is added, the first when one changes or goes.
SCHEMA_VERSION = "1.3"


def document(run: RunRecord) -> dict[str, Any]:
    """The whole run; every value is a JSON type."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            "id": run.id,
            "study": run.study,
            "title": run.title,
            "description": run.description,
            "started_at": run.started_at,
            "finished_at": run.finished_at,
            "complete": run.complete,
            "command": list(run.command),
            "resolved_study": run.resolved,
        },
        "versions": run.versions,
        "hosts": [encode(run.host)],
        "points": [_point(point, run.versions) for point in run.points],
    }


def _point(point: PointRecord, versions: dict[str, str]) -> dict[str, Any]:
    return {
        "id": point.id,
        "label": point.label,
        "state": str(point.state),
        "error": point.error,
        "started_at": point.started_at,
        "finished_at": point.finished_at,
        "dut_type": _dut_type(point.spec),
        "tg_type": "wirespeed",
        "tg_version": versions.get("wirespeed"),
        "parameters": point.parameters,
        "theoretical_max": _theoretical_max(point.spec),
        "plan": None if point.plan is None else encode(point.plan),
        "bench": point.bench,
        "result": None if point.result is None else _result(point.result, point.spec),
        "trials": [_trial(stored) for stored in point.trials],
    }


def _theoretical_max(spec: PointSpec) -> dict[str, Any] | None:
    """TCP has none: virtual cables have no speed."""
    if spec.tcp is not None:
        return None
    return {"rate": {"value": theoretical_max_fps(spec), "unit": "fps"}}


def _dut_type(spec: PointSpec) -> str:
    """CSIT's word for what is measured."""
    kind = spec.topology.kind
    if spec.tcp is not None:
        return "kernel" if spec.tcp.path is TcpPath.VETH else "ovs-dpdk"
    if kind is TopologyKind.WIRE:
        return "reference"
    if kind is TopologyKind.EXTERNAL:
        return "external"
    if kind.has_vswitch:
        return "ovs-dpdk"
    return "testpmd" if spec.sut.vnf.kind is VnfKind.TESTPMD else "wsdp"


def _result(result: SearchResult, spec: PointSpec) -> dict[str, Any]:
    if result.search == TCP:
        return {
            "type": TCP,
            "search": TCP,
            "rfc2544_conformant": False,
            "not_measurable": result.not_measurable,
            "notes": list(result.notes),
            "tcp": None if result.tcp is None else _tcp(result.tcp),
        }
    held = result.search in (SearchKind.FIXED, SearchKind.SOAK)
    kinds = {SearchKind.MRR: "mrr", SearchKind.B2B: "back_to_back"}
    return {
        "type": "constant" if held else kinds.get(SearchKind(result.search), "ndrpdr"),
        "search": result.search,
        "rfc2544_conformant": result.conformant,
        "limited_by": result.limited_by,
        "not_measurable": result.not_measurable,
        "notes": list(result.notes),
        "max_load": _rate(result.max_load_fps, spec),
        "mrr": _rate(result.mrr_fps, spec),
        "ndr": _interval(result.ndr, spec),
        "pdr": _interval(result.pdr, spec),
        "constant": _bound(result.constant, spec),
        "back_to_back": None if result.back_to_back is None else encode(result.back_to_back),
        "latency_forward": {f"pdr_{at.share * 100:g}": _latency_at(at) for at in result.latency},
    }


def _tcp(result: TcpResult) -> dict[str, Any]:
    """The medians, then every run with TCP_INFO over time."""
    encoded: dict[str, Any] = encode(result)
    return {"total_bps": result.total_bps} | encoded


def _rate(fps: float | None, spec: PointSpec) -> dict[str, Any] | None:
    """CSIT's rate and bandwidth; its bandwidth is that of the wire (L1)."""
    if fps is None:
        return None
    converted = rate(fps, spec)
    return {
        "rate": {"value": fps, "unit": "fps"},
        "bandwidth": {"value": converted.l1_bps, "unit": "bps"},
        "bandwidth_l2": {"value": converted.l2_bps, "unit": "bps"},
        "line_share": converted.line_share,
    }


def _interval(interval: Interval | None, spec: PointSpec) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {"lower": _bound(interval.lower, spec), "upper": _bound(interval.upper, spec)}


def _bound(bound: Bound | None, spec: PointSpec) -> dict[str, Any] | None:
    if bound is None:
        return None
    rates = _rate(bound.load_fps, spec) or {}
    forwarding = {"value": bound.forwarding_fps, "unit": "fps"}
    return rates | {"forwarding_rate": forwarding, "loss_ratio": bound.loss_ratio}


def _latency_at(at: LatencyAtLoad) -> dict[str, Any]:
    return {"load": {"value": at.load_fps, "unit": "fps"}} | latency_us(at.latency)


def latency_us(latency: Latency) -> dict[str, Any]:
    """Latency in microseconds, CSIT's names first."""
    return {
        "min": latency.min_ns / 1e3,
        "avg": latency.avg_ns / 1e3,
        "max": latency.max_ns / 1e3,
        "p50": latency.p50_ns / 1e3,
        "p90": latency.p90_ns / 1e3,
        "p99": latency.p99_ns / 1e3,
        "p99_9": latency.p999_ns / 1e3,
        "pdv": latency.pdv_ns / 1e3,
        "jitter": latency.jitter_ns / 1e3,
        "count": latency.count,
        "hdrh": latency.hdrh,
        "unit": "us",
    }


def _trial(stored: StoredTrial) -> dict[str, Any]:
    trial, seen = stored.trial, stored.trial.seen
    return {
        "ended_at": stored.ended_at,
        "stage": str(trial.stage),
        "intended_load_fps": trial.intended_load_fps,
        "offered_fps": trial.offered_fps,
        "forwarding_fps": trial.forwarding_fps,
        "duration_s": trial.duration_s,
        "overhead_s": seen.overhead_s,
        "waited_s": seen.waited_s,
        # A frame that the SUT's first ring refused was sent as far as the SUT is concerned.
        "sent": trial.offered,
        "refused": trial.offered - seen.total("sent"),
        "unsent": seen.total("unsent"),
        "received": trial.received,
        "handled": seen.handled,
        "lost": trial.lost,
        "loss_ratio": trial.loss_ratio,
        "duplicated": seen.total("duplicated"),
        "reordered": seen.total("reordered"),
        "foreign": seen.total("foreign"),
        "misdirected": seen.total("misdirected"),
        "corrupted": seen.total("corrupted"),
        "valid": trial.valid,
        "invalid_reason": trial.invalid_reason,
        "limited_by": seen.limited_by,
        "drops": [
            {"hop": drop.hop, "cause": str(drop.cause), "frames": drop.frames}
            for drop in seen.drops
        ],
        "latency": None if seen.latency is None else latency_us(seen.latency),
        **_evidence(trial),
    }


def _proximity(pair: tuple[Proximity, Proximity] | None) -> dict[str, Any] | None:
    return None if pair is None else {"before": encode(pair[0]), "after": encode(pair[1])}


def _evidence(trial: Trial) -> dict[str, Any]:
    """What the verdict on the trial's validity rests on."""
    return {
        "steal_ns": trial.seen.steal_ns,
        "proximity": _proximity(trial.seen.proximity),
        "pulses": encode(list(trial.seen.pulses)),
        "ring_frames": trial.seen.ring_frames,
        "threads": encode(list(trial.seen.threads)),
        "directions": encode(list(trial.seen.directions)),
        "workers": encode(list(trial.seen.workers)),
    }
