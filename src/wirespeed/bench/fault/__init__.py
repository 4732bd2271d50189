# SPDX-License-Identifier: Apache-2.0
from wirespeed.bench.fault.bond_link import BondLinkDown
from wirespeed.bench.fault.generator import SlowGenerator
from wirespeed.bench.fault.hogs import MemoryHog, PmdCoreHog, StolenGenerator
from wirespeed.bench.fault.interface import FaultKind
from wirespeed.bench.fault.missing_flow import MissingFlow
from wirespeed.bench.fault.nodes import PmdOffNode
from wirespeed.bench.fault.none import NoFault
from wirespeed.bench.fault.policers import EgressPolicer, IngressPolicer
from wirespeed.bench.fault.queues import OneQueue, SmallRing
from wirespeed.bench.fault.small_mtu import SmallMtu
from wirespeed.bench.fault.upcalls import RevalidatorChurn, UpcallStorm
from wirespeed.bench.fault.vnf import CrashingVnf, FewMbufs, SlowVnf, StoppedVnf
from wirespeed.bench.fault.wrong_vlan import WrongVlan
from wirespeed.model.kinds import Kinds

FAULTS: Kinds[FaultKind] = Kinds(
    "fault.kind",
    NoFault(),
    SlowVnf(),
    StoppedVnf(),
    CrashingVnf(),
    FewMbufs(),
    MissingFlow(),
    BondLinkDown(),
    SmallMtu(),
    WrongVlan(),
    IngressPolicer(),
    EgressPolicer(),
    SmallRing(),
    OneQueue(),
    UpcallStorm(),
    RevalidatorChurn(),
    PmdCoreHog(),
    PmdOffNode(),
    MemoryHog(),
    SlowGenerator(),
    StolenGenerator(),
)
