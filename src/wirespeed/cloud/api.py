# SPDX-License-Identifier: Apache-2.0
"""Define read-only access to an OpenStack cloud, limited to named keys.

A reply holds more than is needed, such as a server's user data with passwords in it. Keys that were
not named are dropped where the reply arrives: no recording or file can hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from wirespeed.model.errors import WirespeedError

Record = dict[str, Any]


class CloudUnreadable(WirespeedError):
    """Raised when a service of the cloud rejects a request, is unreachable or is too old."""


class Gone(Exception):
    """Raised when the resource does not exist, or no longer exists."""


class Api(Protocol):
    """An OpenStack API. `service` is its type in the catalogue: compute, placement, ..."""

    @property
    def cloud(self) -> str:
        """Name of the cloud in messages."""

    def one(self, service: str, path: str, keys: Sequence[str]) -> Record:
        """Return the named keys of one resource. Raises CloudUnreadable, Gone."""

    def all(self, service: str, path: str, collection: str, keys: Sequence[str]) -> list[Record]:
        """Return the named keys of every resource of a collection, over all pages.

        Raises CloudUnreadable, Gone.
        """


def only(record: Mapping[str, Any], keys: Sequence[str]) -> Record:
    """Return the record without other keys; a key that ends in * is a prefix."""
    exact = {key for key in keys if not key.endswith("*")}
    beginnings = tuple(key[:-1] for key in keys if key.endswith("*"))
    return {
        key: value
        for key, value in record.items()
        if key in exact or (beginnings and key.startswith(beginnings))
    }
