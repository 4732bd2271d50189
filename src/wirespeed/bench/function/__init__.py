# SPDX-License-Identifier: Apache-2.0
"""Register the types of network function: one file or folder each, listed in FUNCTIONS."""

from __future__ import annotations

from wirespeed.bench.function.bng.kind import BngFunction
from wirespeed.bench.function.forwarder import Forwarder
from wirespeed.bench.function.impair import ReferenceSut
from wirespeed.bench.function.interface import FunctionKind
from wirespeed.bench.function.l3fwd import StaticRouter
from wirespeed.bench.function.router import Router
from wirespeed.bench.function.testpmd import Testpmd
from wirespeed.model.kinds import Kinds

FUNCTIONS: Kinds[FunctionKind] = Kinds(
    "sut.vnf.kind",
    Forwarder(),
    Testpmd(),
    StaticRouter(),
    Router(),
    BngFunction(),
    ReferenceSut(),
)
