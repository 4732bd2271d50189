# SPDX-License-Identifier: Apache-2.0
"""Recognise a document of another type than the wanted one."""

from __future__ import annotations

from collections.abc import Collection

_SHOWN = 3


def other_kind(
    found: Collection[str], required: Collection[str], known: Collection[str]
) -> str | None:
    """Return one error for a document of another type; None where it seems to be of this type.

    Another type has none of the required keys and mostly unknown keys. One error then replaces an
    error for each key. found: the document's keys. known: every key of the type, required ones
    included.
    """
    strange = [key for key in found if key not in known]
    if any(key in found for key in required) or 2 * len(strange) <= len(found):
        return None
    more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
    return (
        f"another kind of file: no {', '.join(required)} in it, "
        f"but {', '.join(strange[:_SHOWN])}{more}"
    )
