# SPDX-License-Identifier: Apache-2.0
"""Compare a host's facts after the rollback with those before the first apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts

# These facts change by themselves.
_VOLATILE = frozenset({"free_kib", "free", "effective", "usage_percent", "missing", "allowed"})
# Share of a node's memory in which its total may differ: the kernel's own memory is not in the
# total, and each boot takes it from one node or another.
_OWN_SHARE = 0.05
_OWN_MEMORY = "each boot takes the kernel's own memory from one node or another"
_MODULE_STAYS = "the kernel keeps a module that was loaded until the next reboot"


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that differs from its value before the first apply."""

    fact: str
    before: str
    now: str
    expected: str = ""
    """Reason of a natural difference; "" for any other."""


@dataclass(frozen=True, slots=True)
class Before:
    """Facts before the first apply, as far as they are readable."""

    facts: HostFacts | None
    not_compared: tuple[str, ...] = ()
    """Sentences on the parts that cannot be compared."""


def read_before(text: str | None, host: str) -> Before:
    """Parse the text of before.json; None: there is no such file."""
    where = f"before.json on {host}"
    if text is None:
        return Before(None, (f"facts: {where} is gone",))
    try:
        facts, unknown = HOST_FILE.parse_known(text, where)
    except BadInput as fault:
        return Before(None, (f"facts: {fault.what}",))
    if unknown:
        said = f"{where} has keys that a later version wrote: {', '.join(unknown)}"
        return Before(facts, (said,))
    return Before(facts)


def differences(before: HostFacts, now: HostFacts) -> tuple[Difference, ...]:
    """Return every fact that differs, except those that change by themselves."""
    one, other = HOST_FILE.document(before), HOST_FILE.document(now)
    # Interrupt numbers change from boot to boot, and some exist only while a port is up.
    one_irqs, other_irqs = _by_actions(one.pop("irqs")), _by_actions(other.pop("irqs"))
    same = one_irqs.keys() & other_irqs.keys()
    one["irqs"] = {name: one_irqs[name] for name in same}
    other["irqs"] = {name: other_irqs[name] for name in same}
    return tuple(
        Difference(where, str(was), str(is_), _expected(where, was, is_)) for where, was, is_ in
        _differ("", one, other)
    )  # fmt: skip


def _expected(where: str, was: Any, now: Any) -> str:
    if where.startswith("nodes[") and where.endswith("].memory_kib"):
        return _OWN_MEMORY if abs(was - now) <= _OWN_SHARE * was else ""
    return _MODULE_STAYS if where.startswith("uio_drivers") else ""


def _by_actions(irqs: list[dict[str, Any]] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for irq in irqs or ():
        found.setdefault(irq["actions"], []).append(irq["cpus"])
    return {name: sorted(lists) for name, lists in found.items()}


def _differ(where: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted((one.keys() | other.keys()) - _VOLATILE, key=str):
            yield from _differ(f"{where}.{key}".lstrip("."), one.get(key), other.get(key))
    elif _are_lists(one, other) and len(one) == len(other):
        for number, (item, same) in enumerate(zip(one, other, strict=True)):
            yield from _differ(f"{where}[{number}]", item, same)
    elif one != other:
        yield where, one, other


def _are_lists(one: Any, other: Any) -> bool:
    return isinstance(one, list | tuple) and isinstance(other, list | tuple)
