# SPDX-License-Identifier: Apache-2.0
"""Give keys of [tcp] in a proposed change their next value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wirespeed.explain.interface import Measured
from wirespeed.explain.next_value import UNKNOWN, Next, Refusal
from wirespeed.model.study.spec import TcpStreams

_JUMBO_MTU = 9000
_LARGER_WINDOW = 4


def _of_tcp(next_value: Callable[[TcpStreams], Next]) -> Callable[[Measured], Next]:
    def checked(point: Measured) -> Next:
        if not isinstance(point.workload, TcpStreams):
            return UNKNOWN
        return next_value(point.workload)

    return checked


def _offloads(streams: TcpStreams) -> Next:
    return True if not streams.tcp.offloads else Refusal("they are on already")


def _tcp_mtu(streams: TcpStreams) -> Next:
    mtu = streams.tcp.mtu
    return _JUMBO_MTU if mtu < _JUMBO_MTU else Refusal(f"it is {mtu} already")


def _clients(streams: TcpStreams) -> Next:
    clients = streams.tcp.clients
    return clients // 2 if clients > 1 else Refusal("one client is the least")


def _window(streams: TcpStreams) -> Next:
    size = streams.tcp.window_bytes
    return _LARGER_WINDOW * size if size is not None else Refusal("the kernel tunes it")


TCP_NEXT: Mapping[str, Callable[[Measured], Next]] = {
    "tcp.offloads": _of_tcp(_offloads),
    "tcp.mtu": _of_tcp(_tcp_mtu),
    "tcp.clients": _of_tcp(_clients),
    "tcp.window_bytes": _of_tcp(_window),
}
