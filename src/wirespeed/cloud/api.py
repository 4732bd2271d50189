# SPDX-License-Identifier: Apache-2.0
"""How is an OpenStack cloud asked? Only by reading, and only for the keys that are named.

A reply holds more than is wanted, such as a server's user data with passwords in it. Keys that
nobody named are dropped where the reply comes in, so that no recording or file can hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from wirespeed.model.errors import WirespeedError

Record = dict[str, Any]


class CloudUnreadable(WirespeedError):
    """A service of the cloud refused, could not be reached or is too old."""


class Gone(Exception):
    """What was asked for does not exist (any more)."""


class Api(Protocol):
    """`service` is the type in the catalogue: compute, placement, network, image."""

    @property
    def cloud(self) -> str:
        """The cloud's name, for people."""

    def one(self, service: str, path: str, keys: Sequence[str]) -> Record:
        """The named keys of one resource. Raises CloudUnreadable, Gone."""

    def all(self, service: str, path: str, collection: str, keys: Sequence[str]) -> list[Record]:
        """The named keys of every resource of a collection, over all pages. Raises as `one`."""


def only(record: Mapping[str, Any], keys: Sequence[str]) -> Record:
    """The record without other keys; a key that ends in * stands for all that begin so."""
    exact = {key for key in keys if not key.endswith("*")}
    beginnings = tuple(key[:-1] for key in keys if key.endswith("*"))
    return {
        key: value
        for key, value in record.items()
        if key in exact or (beginnings and key.startswith(beginnings))
    }
