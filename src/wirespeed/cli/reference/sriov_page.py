# SPDX-License-Identifier: Apache-2.0
"""Write docs/explanation/why-sriov-does-not-scale.md: S2's finding in the model's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Prediction, Resource
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.pcie import in_and_out, octets_per_ns
from wirespeed.predict.predict import predict
from wirespeed.predict.published import published, shipped_parameters

SIZES = (64, 128, 256, 512, 1024, 1518)
CHAINS = (2, 3, 4, 5, 6, 7, 8)
EXAMPLE = 6
_HEAD = """# Why does SR-IOV not scale east-west?

S2 measured chains of two to eight functions on one server. Over vhost-user the frames that all
functions send grow with each function; over SR-IOV virtual functions their sum stays the same, so
that each function gets less. This page answers from [the model](prediction.md), with the parameters
that S2's table gives (an XL710 with one 40 GbE port on PCIe 3.0 x8, one core for each function, one
PMD core for each vhost port). They are fitted, so that what follows is what the table and the model
say together; the structure of the model was chosen with the whole table seen.
"""
_WHY = """## The answer

Every hop over vhost-user brings its own core: the work grows with the chain, and so do the
servers. Every hop over virtual functions goes through the same NIC, once out of memory and once
into it again: the work grows with the chain, and the server is one. So the rate *for each hop* of a
chain of N falls as 1/N, whichever part of the NIC is the limit.

## What one hop costs
"""


def sriov_page() -> str:
    """Return the whole page."""
    parameters = shipped_parameters()
    lines = [_HEAD, MADE, _WHY, *_demands(parameters)]
    lines += ["## Where the two cross\n", *_crossing(parameters)]
    lines += ["## What would help\n", *_changes(parameters)]
    lines += ["## Is PCIe full, as S2 says?\n", *_pcie(parameters)]
    lines += ["## What the table cannot tell apart\n", *_untold(parameters)]
    return "\n".join(lines) + "\n"


def _one(parameters: Parameters, case: Case) -> Prediction:
    return predict([case], parameters)[0]


def _chain(kind: Attachment, functions: int, size: int) -> Case:
    return Case(kind, Arrangement.CHAIN, functions, size)


def _demands(parameters: Parameters) -> Iterator[str]:
    yield f"In a chain of {EXAMPLE}, ns for each frame and hop; in brackets, how busy it is.\n"
    for kind in (Attachment.SRIOV, Attachment.VHOST):
        found = {size: _one(parameters, _chain(kind, EXAMPLE, size)) for size in SIZES}
        used = {load.resource for one in found.values() for load in one.loads}
        names = [name for name in Resource if name in used]
        rows = [(str(name), *(_cell(found[size], name, kind) for size in SIZES)) for name in names]
        yield from table((f"{kind}", *(f"{size} B" for size in SIZES)), rows)


def _cell(found: Prediction, name: Resource, kind: Attachment) -> str:
    """Return the value per hop: a shared resource is divided by the number of hops.

    Each vhost hop has its own core.
    """
    load = next((load for load in found.loads if load.resource is name), None)
    if load is None:
        return ""
    of_hop = (Resource.ENGINE, Resource.SWITCH, Resource.PCIE_IN, Resource.PCIE_OUT)
    shared = kind is Attachment.SRIOV and name in of_hop
    ns = load.demand_ns / (EXAMPLE if shared else 1)
    return f"{ns:.0f} ({load.utilisation:.0%})"


def _crossing(parameters: Parameters) -> Iterator[str]:
    yield "Mpps that leave the chain, SR-IOV / vhost-user; the higher one is bold.\n"
    rows = []
    for size in SIZES:
        cells = []
        for functions in CHAINS:
            vf, vhost = (
                _one(parameters, _chain(kind, functions, size)).rate_fps / 1e6
                for kind in (Attachment.SRIOV, Attachment.VHOST)
            )
            first, second = f"{vf:.2f}", f"{vhost:.2f}"
            cells.append(f"**{first}** / {second}" if vf > vhost else f"{first} / **{second}**")
        rows.append((f"{size} B", *cells))
    yield from table(("frame", *(f"{n} functions" for n in CHAINS)), rows)
    last = {size: _last_ahead(parameters, size) for size in SIZES}
    said = ", ".join(f"{size} B: {n}" if n else f"{size} B: none" for size, n in last.items())
    yield f"The longest chain in which virtual functions are ahead, by frame size: {said}.\n"


def _last_ahead(parameters: Parameters, size: int) -> int:
    ahead = [
        n for n in CHAINS
        if _one(parameters, _chain(Attachment.SRIOV, n, size)).rate_fps
        > _one(parameters, _chain(Attachment.VHOST, n, size)).rate_fps
    ]  # fmt: skip
    return max(ahead, default=0)


def _changes(parameters: Parameters) -> Iterator[str]:
    yield f"Mpps that leave a chain of {EXAMPLE} over virtual functions.\n"
    rows = []
    for size in SIZES:
        base = _chain(Attachment.SRIOV, EXAMPLE, size)
        found = [
            _one(parameters, case).rate_fps / 1e6
            for case in (
                base,
                replace(base, pcie_gts=16.0),
                replace(base, nics=2, ports=2),
                replace(base, attachment=Attachment.VHOST),
            )
        ]
        rows.append((f"{size} B", *(f"{rate:.2f}" for rate in found)))
    yield from table(("frame", "as it is", "PCIe generation 4", "a second NIC", "vhost-user"), rows)
    yield (
        "By the model, PCIe generation 4 alone changes nothing, because the NIC itself is the "
        "limit; the next but one section tells how sure that is. A newer NIC may be faster inside, "
        "which these data say nothing about. A second NIC that takes half of the frames doubles "
        "the rate: the limit is a device, and now there are two.\n"
    )


def _pcie(parameters: Parameters) -> Iterator[str]:
    yield (
        "S2 explains its chains by a PCIe bus that is full at 50 Gbit/s. How full the slot was at "
        "the published rates follows from the sizes of TLPs, descriptors and doorbells alone "
        "(`predict/pcie.py`; 63.0 Gbit/s in each direction, less 8% for acknowledgements):\n"
    )
    slot = float(octets_per_ns(8, 8.0))
    rows, fullest = [], []
    for size in SIZES:
        rates = [
            o.rate_fps for o in published("s2")
            if o.case.attachment is Attachment.SRIOV and o.case.frame_bytes == size
            and o.case.arrangement is Arrangement.CHAIN
        ]  # fmt: skip
        median = float(np.median(rates))
        into, out = (float(octets) * median / 1e9 / slot for octets in in_and_out(size))
        fullest.append(max(into, out))
        rows.append((f"{size} B", f"{median / 1e6:.2f}", f"{into:.0%}", f"{out:.0%}"))
    yield from table(("frame", "Mpps, median of all chains", "towards memory", "towards NIC"), rows)
    large = fullest[2:]
    switch = parameters.plain()["switch_byte_ns"]
    yield (
        f"With 64 octets it was {fullest[0]:.0%} full, so that something else is the limit there: "
        "the rate of frames, not of octets. From 256 octets on it was "
        f"{min(large):.0%} to {max(large):.0%} full. That is near: S2's arithmetic (each hop "
        "crosses the bus twice, all hops share it) is right, and if every frame had a tenth more "
        "overhead than is counted here, the bus would be full. But no size was seen to fill it, "
        "and its load is not the same at each size, as that of a limit would be. The model's own "
        f"limit is something that moves {8 / switch:.0f} Gbit/s, which is what S2 gives for the "
        "inside of an XL710 (about 45).\n"
    )


def _untold(parameters: Parameters) -> Iterator[str]:
    yield (
        "- **Internal switch or bus, with large frames.** Both move every octet of every hop "
        "through one place, and both are nearly full. These data do not exclude either. The same "
        "NIC in a slot of generation 4 or of 16 lanes would: by the internal switch nothing "
        "changes, by the bus chains of large frames become faster.\n"
        "- **Refused frames.** That 64-octet chains are slower than 128-octet ones is "
        "explained by the generator's full load: the engine also handles the frames that it "
        f"refuses. The share of {parameters.plain()['refusal_share']:g} was chosen, not fitted."
    )
    unsure = [name for name, e in parameters.values.items() if not e.determined]
    yield f"- **Not determined by the table at all**: {', '.join(f'`{name}`' for name in unsure)}."
    for group in parameters.together:
        names = " and ".join(f"`{name}`" for name in group)
        yield f"- **Only together**: {names}."
    yield (
        "- **512-octet chains** are 6 to 9% slower than the model says in every chain; nothing "
        "in the paper explains it."
    )
