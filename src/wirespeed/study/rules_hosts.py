# SPDX-License-Identifier: Apache-2.0
"""Find roles of hosts that are valid alone but not together."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.assembly.kinds import topology_of
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames, Roles


def broken_host_rules(frames: Frames) -> Iterator[Fault]:
    roles, topology = frames.hosts, topology_of(frames)
    if roles == Roles():
        return
    kind = f'topology.kind = "{topology.name}"'
    if topology.one_process:
        yield Fault("hosts", "(set)", f"does not go with {kind}: it is one process on one host")
        return
    if topology.external:
        if roles.sut is not None:
            allowed = f"does not go with {kind}: what sut.ports lead to is none of our hosts"
            yield Fault("hosts.sut", roles.sut, allowed)
        return
    for role, name in (("generator", roles.generator), ("sut", roles.sut)):
        if name is None:
            yield Fault(f"hosts.{role}", "(omitted)", "must be named as well, or neither of them")
    if roles.generator == roles.sut:
        yield Fault(
            "hosts.sut", roles.sut,
            "is hosts.generator, too, and frames are to pass cables between two hosts; to measure "
            "that host by itself, run wirespeed there and leave out [hosts]",
        )  # fmt: skip
