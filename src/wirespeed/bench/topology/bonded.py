# SPDX-License-Identifier: Apache-2.0
"""Insert a partner between the generator and a switch whose ports are bonds. Pure."""

from __future__ import annotations

from dataclasses import replace

from wirespeed.bench.topology.wiring import GENERATOR, PARTNER, SWITCH, Cable, End, Wiring


def bond_of(port: str) -> str:
    """Return the partner's end of the bond whose other end is this port of the switch."""
    return f"{port}-bond"


def with_partner(wiring: Wiring) -> Wiring:
    """Add a second switch to the wiring, as the partner of the bonds.

    Cables from the generator end there, and a bond leads on. The links of a bond are one cable.
    """
    cables: list[Cable] = []
    passes = list(wiring.passes)
    for cable in wiring.cables:
        if cable.a.owner == GENERATOR and cable.b.owner == SWITCH:
            outer, inner = End(PARTNER, cable.b.port), End(PARTNER, bond_of(cable.b.port))
            cables += [Cable(cable.a, outer), Cable(inner, cable.b)]
            passes += [(outer, inner), (inner, outer)]
        else:
            cables.append(cable)
    rings = wiring.rings + 2
    return replace(wiring, cables=tuple(cables), passes=tuple(passes), rings=rings)
