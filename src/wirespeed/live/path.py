# SPDX-License-Identifier: Apache-2.0
"""Join the ports of a recording into the path of its packets.

Ports are joined by name: a bench calls the switch's port to the generator's port "east" "east", and
that to port "a" of function "vnf1" "vnf1a". Where nothing joins, each program is a stop of its own
with a list of its ports.
"""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.live.lanes import Line
from wirespeed.live.path_parts import Cable, Owner, Path, Port, Stop
from wirespeed.live.path_series import PathSeries
from wirespeed.model.result.recording import RecordedSeries

_SIDES = ("a", "b")


def path_of(series: Sequence[RecordedSeries]) -> Path:
    """Return the path that follows from the names of the series."""
    found = PathSeries(series)
    switches, programs = found.switches(), found.programs()
    for switch in switches:
        for program in programs:
            both = [name for name in program.ports if name in switch.ports]
            if len(both) == len(_SIDES):
                return _through(switch, program, both, programs, found.refused(program.name))
    if not switches and len(programs) == 1 and not programs[0].ports:
        return found.tasks(programs[0])
    owners = [*programs, *switches]
    kernel = [] if any(each.ports for each in owners) else found.kernel()
    return Path(tuple(each.stop() for each in (*owners, *kernel)))


def _through(
    switch: Owner,
    generator: Owner,
    ports: Sequence[str],
    programs: Sequence[Owner],
    refused: Sequence[Line],
) -> Path:
    """Return the path from a generator through the switch and all functions, and back.

    Only the first stop of a program has its losses and its load.
    """
    first, last = ports
    functions = _functions(switch)
    by_name = {each.name: each for each in programs}
    again = Stop(switch.name, switch.what)
    joined = [*ports, *(f"{name}{side}" for name in functions for side in _SIDES)]
    stops = [generator.stop(ports), switch.stop(joined)]
    cables = [_cable(generator, first, switch, first, refused)]
    for name in functions:
        function = by_name.get(name, Owner(name, "function"))
        into, out = (f"{name}{side}" for side in _SIDES)
        stops += [function.stop(_SIDES), again]
        cables += [_cable(switch, into, function, "a"), _cable(function, "b", switch, out)]
    stops.append(Stop(generator.name, generator.what))
    cables.append(_cable(switch, last, generator, last))
    return Path(tuple(stops), tuple(cables))


def _functions(switch: Owner) -> list[str]:
    """Return the functions of which the switch has both ports, in the order of its ports."""
    names = [port[:-1] for port in switch.ports if port.endswith(_SIDES[0])]
    return [name for name in names if name and f"{name}{_SIDES[1]}" in switch.ports]


def _cable(
    near: Owner, near_port: str, far: Owner, far_port: str, refused: Sequence[Line] = ()
) -> Cable:
    """Return the cable between two ports. Rates are those of the sender where it counts them."""
    a = near.ports.get(near_port, Port(near_port))
    b = far.ports.get(far_port, Port(far_port))
    return Cable(
        f"{near.name}:{near_port} to {far.name}:{far_port}",
        a.out or b.into,
        b.out or a.into,
        (*refused, *(port.lost for port in (a, b) if port.lost is not None)),
    )
