# SPDX-License-Identifier: Apache-2.0
"""Collect the audit rules: every module in `rules/` with a constant RULE."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from wirespeed.audit import rules
from wirespeed.audit.rule import Rule
from wirespeed.model.errors import BadInput


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return all rules, sorted by id.

    Raises ValueError when two rules share an id or a name, which is a programming error.
    """
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
    """Return the rule with this id ("WS12", "ws12" or "12") or name.

    Raises BadInput when there is none.
    """
    key = f"WS{wanted:0>2}" if wanted.isdecimal() else wanted
    for rule in all_rules():
        if key.upper() == rule.id or key.lower() == rule.name:
            return rule
    raise BadInput(
        f"there is no audit rule {wanted!r}; ids run from {all_rules()[0].id} to "
        f"{all_rules()[-1].id}",
        "List them with `wirespeed audit --list`.",
    )
