# SPDX-License-Identifier: Apache-2.0
"""A link of a bond goes down in the middle of a trial, and its other end is late to notice.

BFD is what tells both ends of a link that frames no longer pass; here it is given what to find
(ovs-vswitchd(8): bfd/set-forwarding), at the receiving end at once, at the sending end later.
Between the two the sender goes on by a link that the receiver no longer lets frames in by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wirespeed.bench.fault.interface import Kind, Lasting, Scene, Strength
from wirespeed.bench.fault.openvswitch import vswitch
from wirespeed.bench.fault.places import ports_in
from wirespeed.bench.interface import Injection, Step
from wirespeed.bench.switch.ovs_dpdk.bonds import Bond
from wirespeed.bench.switch.ovs_dpdk.counters import parse_ports
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.bench.topology.bonded import bond_of
from wirespeed.bench.topology.wiring import PARTNER, PORTS
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.ovs import BondMode
from wirespeed.model.study.spec import (
    Frames,
)

# Of a trial: when the link goes down.
_WHEN = (0.2, 0.4)
# BFD's own frames are no frames of the trial: one an hour.
_RARELY_MS = 3_600_000


class BondLinkDown(Kind):
    name = "bond-link-down"
    summary = "a link of a bond goes down in each trial, and the other end sends on by it"
    strength = Strength("how long it sends on, before it notices, too", "s", 0.1, 0.01, 10.0)

    def places(self, frames: Frames) -> tuple[str, ...]:
        """Return the bonds at which the generator's frames arrive."""
        return tuple(port for port in ports_in(self.name, frames) if port in PORTS)

    def refused(self, frames: Frames) -> Iterator[Fault]:
        """Reject balance-slb: Open vSwitch then accepts frames on a link that it considers down."""
        if frames.sut.vswitch.ovs.bond not in (BondMode.ACTIVE_BACKUP, BondMode.BALANCE_TCP):
            allowed = 'needs sut.vswitch.ovs.bond = "active-backup" or "balance-tcp"'
            yield Fault("fault.kind", self.name, allowed)

    def injection(self, scene: Scene) -> Injection:
        return _LinkDown(scene)


class _LinkDown(Lasting):
    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._receiver, self._sender = vswitch(scene), _partner(scene)
        self._links = _bond(self._receiver, scene.place)
        partners = _bond(self._sender, bond_of(scene.place))
        self._ends = ((self._sender, partners), (self._receiver, self._links))
        self._down = ""
        self._before: Mapping[str, int] = {}
        self._began = scene.chance.uniform(*_WHEN)

    def up(self) -> None:
        """Both ends ask BFD, which says that all is well."""
        for end, bond in self._ends:
            for member in bond.port.members:
                end.control.vsctl(
                    "set", "Interface", member.name, "bfd:enable=true",
                    f"bfd:min_tx={_RARELY_MS}", f"bfd:min_rx={_RARELY_MS}",
                )  # fmt: skip
        self.rest()

    def begin(self) -> None:
        self._before = self._entered()

    def steps(self, duration_s: float) -> Sequence[Step]:
        down_s = self._began * duration_s
        return [(down_s, self._goes_down), (down_s + self.scene.strength, self._is_noticed)]

    def _goes_down(self) -> None:
        """Break the link with most frames.

        Streams that moved to the other link stay there for up to 10 s after this one returns.
        """
        now = self._entered()
        self._down = max(now, key=lambda link: now[link] - self._before[link])
        _forwards(self._receiver, self._down, passes=False)

    def _is_noticed(self) -> None:
        _forwards(self._sender, self._down, passes=False)

    def _entered(self) -> Mapping[str, int]:
        """Frames by link, as the receiving end counts them."""
        counts = parse_ports(self._receiver.control.ofctl("dump-ports", bridge=self._links.bridge))
        return {member.name: counts[member.number].rx for member in self._links.port.members}

    def rest(self) -> None:
        """Only once the receiving end has counted what it dropped: later it would credit that to
        the rules of a link that is up."""
        self._receiver.control.ask("revalidator/wait")
        for end, bond in self._ends:
            for member in bond.port.members:
                _forwards(end, member.name, passes=True)


def _forwards(end: OvsDpdk, link: str, *, passes: bool) -> None:
    end.control.ask("bfd/set-forwarding", link, str(passes).lower())


def _partner(scene: Scene) -> OvsDpdk:
    return next(p for p in scene.parts if isinstance(p, OvsDpdk) and p.hop == PARTNER)


def _bond(end: OvsDpdk, port: str) -> Bond:
    return next(bond for bond in end.bonds if bond.port.name == port)
