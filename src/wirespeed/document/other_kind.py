# SPDX-License-Identifier: Apache-2.0
"""Is a document of ours of another kind than the one that is wanted?"""

from __future__ import annotations

from collections.abc import Collection

_SHOWN = 3


def other_kind(
    found: Collection[str], required: Collection[str], known: Collection[str]
) -> str | None:
    """What to say, instead of a fault for each key, of a document that has none of the required
    keys and mostly keys that this kind does not know; None where it seems to be of this kind.

    found: the document's keys. known: every key of the kind, required ones included.
    """
    strange = [key for key in found if key not in known]
    if any(key in found for key in required) or 2 * len(strange) <= len(found):
        return None
    more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
    return (
        f"another kind of file: no {', '.join(required)} in it, "
        f"but {', '.join(strange[:_SHOWN])}{more}"
    )
