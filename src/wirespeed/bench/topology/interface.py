# SPDX-License-Identifier: Apache-2.0
"""What is a kind of topology, and what must it know of the functions in it?

To add one: a file here that makes a TopologyKind, and its name in TOPOLOGIES (__init__.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.host.vf_settings import VfSettings
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.fault import Fault
from wirespeed.model.spec import Frames


class Rewriting(Protocol):
    """What a network function does to the Ethernet addresses of a frame."""

    def rewritten(
        self, frames: Frames, header: Header, own: str, target: str, side: str
    ) -> tuple[Header, str | None]:
        """The header of a frame that leaves through this side, and the address that the function
        must be told to send to (None: it needs none).

        own: the address of the port that the frame leaves by; target: of the next one.
        """
        ...


def no_faults(_frames: Frames) -> Iterator[Fault]:
    return iter(())


def no_functions(_frames: Frames) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class VirtualFunction:
    """A virtual function of a NIC that is a port of a program.

    port: of the NIC's switch, by the name that the wiring gives it. owner: whose port is plugged in
    there. pf: the physical function, by the name of the port (of a lab's host) that it is; a host
    with one physical function has all of them there.
    """

    port: str
    owner: str
    pf: str
    settings: VfSettings


def no_virtual_functions(_frames: Frames) -> tuple[VirtualFunction, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class TopologyKind:
    """functions: their names, in the order in which the first direction meets them; function: of
    which kind they are, None: sut.vnf.kind. function_is_sut: one function alone is measured.

    one_process: generator and functions are tasks of one process, joined by rings. external:
    sut.ports are the generator's ports. virtual_functions: those of NICs that all its ports are,
    where the NIC's own switch joins them. takes: which keys and tables of a study, of those that
    make sense for few topologies, make sense here.
    """

    name: str
    summary: str
    wiring: Callable[[Frames, Rewriting], Wiring]
    functions: Callable[[Frames], tuple[str, ...]] = no_functions
    has_switch: bool = False
    function: str | None = None
    function_is_sut: bool = False
    one_process: bool = False
    external: bool = False
    virtual_functions: Callable[[Frames], tuple[VirtualFunction, ...]] = no_virtual_functions
    takes: frozenset[str] = frozenset()
    faults: Callable[[Frames], Iterator[Fault]] = no_faults
