# SPDX-License-Identifier: Apache-2.0
"""Which rules are there? Every module in `rules/` with a constant RULE; there is no other list."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from wirespeed.audit import rules
from wirespeed.audit.rule import Rule
from wirespeed.model.errors import BadInput


@cache
def all_rules() -> tuple[Rule, ...]:
    """All rules by id. Raises ValueError when two rules share an id or a name (a coding error)."""
    found: list[Rule] = [
        importlib.import_module(f"{rules.__name__}.{module.name}").RULE
        for module in pkgutil.iter_modules(rules.__path__)
    ]
    for attribute in ("id", "name"):
        values = [getattr(rule, attribute) for rule in found]
        if len(set(values)) < len(values):
            raise ValueError(f"two rules have the same {attribute}: {sorted(values)}")
    return tuple(sorted(found, key=lambda rule: rule.id))


def rule_named(wanted: str) -> Rule:
    """The rule with that id (WS12, ws12, 12) or name. Raises BadInput."""
    key = f"WS{wanted:0>2}" if wanted.isdecimal() else wanted
    for rule in all_rules():
        if key.upper() == rule.id or key.lower() == rule.name:
            return rule
    raise BadInput(
        f"there is no audit rule {wanted!r}; ids run from {all_rules()[0].id} to "
        f"{all_rules()[-1].id}",
        "List them with `wirespeed audit --list`.",
    )
