# SPDX-License-Identifier: Apache-2.0
"""Describe TCP connections that are counted: one table of a study, [sessions]."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

# Ports that a client has for one server: net.ipv4.ip_local_port_range of a new network namespace.
CLIENT_PORTS = 60_999 - 32_768 + 1


class SessionsMode(StrEnum):
    RATE = "rate"
    CONCURRENT = "concurrent"


@dataclass(frozen=True, slots=True)
class Sessions:
    """TCP connections with one HTTP request each instead of streams (RFC 9411).

    The server is wirespeed-speedtest. [tcp] describes the network, the number of runs and their
    length; its keys for streams do not apply.
    """

    mode: SessionsMode = SessionsMode.RATE
    """rate: TCP connections per second (RFC 9411 section 7.2): each connection opens, asks, is
    answered and closed, and the next takes its place; concurrent: concurrent TCP connections
    (section 7.5): connections open, stay open for tcp.seconds, and are then asked again."""
    connections: Annotated[int, Ge(1), Le(10_000_000)] = 10_000
    """concurrent only: connections to open, all clients together."""
    opening: Annotated[int, Ge(1), Le(16_384)] = 32
    """Connections that each client opens at the same time."""
