# SPDX-License-Identifier: Apache-2.0
"""Define a type of topology, and what it must know of the functions in it.

To add one: a file here that makes a TopologyKind, and its name in TOPOLOGIES (__init__.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.host.vf_settings import VfSettings
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames


class Rewriting(Protocol):
    """Rewriting of a frame's Ethernet addresses by a network function."""

    def rewritten(
        self, frames: Frames, header: Header, own: str, target: str, side: str
    ) -> tuple[Header, str | None]:
        """Return the header after this side, and the next hop's address to configure.

        own: address of the port that the frame leaves by. target: address of the next port. The
        second value is None if the function needs no such address.
        """
        ...


def no_faults(_frames: Frames) -> Iterator[Fault]:
    return iter(())


def no_functions(_frames: Frames) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class VirtualFunction:
    """A virtual function of a NIC that is a port of a program."""

    port: str
    """Port of the NIC's switch, as named in the wiring."""
    owner: str
    """Program whose port it is."""
    pf: str
    """Physical function, by its port name in a testbed file. A host with one physical function has
    all virtual functions there.
    """
    settings: VfSettings


def no_virtual_functions(_frames: Frames) -> tuple[VirtualFunction, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class TopologyKind:
    """A type of topology."""

    name: str
    summary: str
    wiring: Callable[[Frames, Rewriting], Wiring]
    functions: Callable[[Frames], tuple[str, ...]] = no_functions
    """Names of the functions, in the order in which the first direction passes them."""
    has_switch: bool = False
    function: str | None = None
    """Type of the functions; None for that of sut.vnf.kind."""
    function_is_sut: bool = False
    """True if one function alone is measured."""
    one_process: bool = False
    """True if generator and functions are tasks of one process, joined by rings."""
    external: bool = False
    """True if sut.ports are the generator's ports."""
    virtual_functions: Callable[[Frames], tuple[VirtualFunction, ...]] = no_virtual_functions
    """Virtual functions that all its ports are, where the NIC's switch joins them."""
    takes: frozenset[str] = frozenset()
    """Keys and tables of a study that apply here, of those that apply to few topologies."""
    faults: Callable[[Frames], Iterator[Fault]] = no_faults
