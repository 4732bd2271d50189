# SPDX-License-Identifier: Apache-2.0
"""Check that names of pods and pools still differ in Kubernetes, which has fewer characters."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.object_name import same_names
from wirespeed.model.plan.workload import Workload


def equal_names(workload: Workload) -> Iterator[Fault]:
    """Yield names that become one in Kubernetes. Names that are equal here are other errors."""
    for key, names in (
        ("pool.name", [pool.name for pool in workload.pools]),
        ("network.name", [network.name for network in workload.networks]),
        ("vnf.name", [vnf.name for vnf in workload.vnfs]),
        *((f"vnf[{v.name}].container.name", [c.name for c in v.containers]) for v in workload.vnfs),
        *((f"vnf[{v.name}].port.name", [p.name for p in v.ports]) for v in workload.vnfs),
    ):
        for short, found in same_names(dict.fromkeys(names)).items():
            yield Fault(
                key, found,
                f"all are {short!r} in Kubernetes, whose names have lower case letters, digits and "
                "'-' alone; rename one",
            )  # fmt: skip
