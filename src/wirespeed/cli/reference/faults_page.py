# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/faults.md: every type of injected fault, from the registry."""

from __future__ import annotations

from wirespeed.bench.fault import FAULTS
from wirespeed.bench.fault.interface import Strength
from wirespeed.cli.reference.markdown import MADE, table

_HEAD = """# Injected faults

`wirespeed run STUDY --fault NAME[:STRENGTH]` and the table `[fault]` of a study inject these faults
([how](../howto/cause-a-fault.md)). A kind that the host cannot have makes a point *not run*, with
the reason; one that a topology or switch cannot have is refused.
"""


def faults_page() -> str:
    """Return the whole page."""
    rows = [
        (f"`{kind.name}`", kind.summary, _strength(kind.strength), ", ".join(kind.needs))
        for kind in FAULTS
    ]
    head = ("kind", "what is caused", "strength", "needs")
    return "\n".join([_HEAD, MADE, *table(head, rows)]).rstrip() + "\n"


def _strength(of: Strength | None) -> str:
    if of is None:
        return ""
    unit = "" if of.unit == "ratio" else f" ({of.unit})"
    return f"{of.meaning}{unit}: {of.least:.9g} to {of.most:.9g}; default: {of.default:.9g}"
