# SPDX-License-Identifier: Apache-2.0
"""Translate a point of a study into a case of the model; refuse unknown points."""

from __future__ import annotations

from wirespeed.model.errors import BadInput
from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Edge
from wirespeed.model.study.ovs import Ovs
from wirespeed.model.study.spec import (
    Frames,
    Workload,
)
from wirespeed.model.study.study import Point

# Topologies that the model knows; a chain passes through the vSwitch.
TOPOLOGIES = ("p2p", "pvp", "chain", "parallel", "sriov")
SWITCHES = ("ovs-dpdk",)
FUNCTIONS = ("wsdp", "testpmd")
SHARED = "shared"


def case_of(point: Point, plan: Plan | None = None) -> Case:
    """Return the case of a point.

    Without a plan, the host is assumed to have a core for each part. Raises BadInput for points
    that the model has no demands for.
    """
    spec = _known(point.label, point.workload)
    kind, topology = spec.topology.kind, spec.topology
    if kind == "sriov":
        return Case(
            Attachment.SRIOV, Arrangement.CHAIN, topology.vnfs, spec.mean_wire_bytes,
            link_bps=spec.traffic.link_bps, ring_frames=spec.sut.vswitch.descriptors,
        )  # fmt: skip
    functions = {"p2p": 0, "pvp": 1}.get(kind, topology.vnfs)
    ports = 2 if kind == "p2p" else 2 * functions + 2
    idle = 0 if topology.bidirectional else ports // 2
    return Case(
        Attachment.VHOST if functions else Attachment.NONE,
        Arrangement.PARALLEL if kind == "parallel" else Arrangement.CHAIN,
        functions,
        spec.mean_wire_bytes,
        edge=Edge.VIRTUAL,
        pmds=_pmds(spec, plan),
        idle_ports=idle,
        shared_core=_shared(spec, plan),
        ring_frames=spec.sut.vswitch.descriptors,
        offered_fps=spec.line_rate_fps if spec.traffic.link_bound else None,
    )


def predictable(workload: Workload) -> bool:
    """Return whether the model knows points of this workload."""
    return (frames := workload.frames) is not None and _unknown(frames) is None


def _known(label: str, workload: Workload) -> Frames:
    if (frames := workload.frames) is None:
        raise BadInput(f"{label}: {workload.subject} is not predicted", "Only frames' rates are.")
    if (unknown := _unknown(frames)) is not None:
        key, value, allowed = unknown
        raise BadInput(
            f"{label}: {key} = {value!r} is not predicted",
            f"The model knows {', '.join(allowed)}.",
        )
    return frames


def _unknown(spec: Frames) -> tuple[str, object, tuple[str, ...]] | None:
    """Return the key that the model does not know, its value, and the known values."""
    topology, vswitch, vnf = spec.topology.kind, spec.sut.vswitch, spec.sut.vnf
    sriov = topology == "sriov"
    checks = (
        (topology in TOPOLOGIES, "topology.kind", topology, TOPOLOGIES),
        (spec.bng is None, "bng", "a gateway", FUNCTIONS),
        (sriov or vswitch.kind in SWITCHES, "sut.vswitch.kind", vswitch.kind, SWITCHES),
        (vswitch.ovs == Ovs(), "sut.vswitch.ovs", vswitch.ovs, ("Open vSwitch as it comes",)),
        (topology == "p2p" or vnf.kind in FUNCTIONS, "sut.vnf.kind", vnf.kind, FUNCTIONS),
    )
    return next(((key, value, allowed) for known, key, value, allowed in checks if not known), None)


def _pmds(spec: Frames, plan: Plan | None) -> int:
    if plan is not None and plan.sut_host.vswitch is not None:
        return max(1, len(plan.sut_host.vswitch.pmd_cpus.value))
    return max(1, len(spec.sut.vswitch.pmd_cpus or ()))


def _shared(spec: Frames, plan: Plan | None) -> bool:
    """Return whether all functions take turns with the generator on one CPU."""
    if plan is None or plan.generator_host.generator is None:
        return spec.sut.vnf.placement == SHARED
    generator = plan.generator_host.generator
    return bool(generator.shared) or len(set(generator.cpus.value)) == 1
