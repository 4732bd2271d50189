# SPDX-License-Identifier: Apache-2.0
"""What is a renderer? A function from a Plan to files: relative path -> text."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.plan import Plan
from wirespeed.plan.errors import PlanError

Files = Mapping[str, str]
Renderer = Callable[[Plan], Files]


class RenderError(PlanError):
    """The plan lacks something that the target needs."""


def fill(template: str, **values: object) -> str:
    """A template of templates/ with these values; a missing value is an error."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("wirespeed.plan.render"),
        undefined=StrictUndefined,
        autoescape=select_autoescape(["xml.j2"]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["q"] = _quoted
    environment.filters["sh"] = shlex.quote
    environment.filters["cpus"] = format_list
    environment.filters["mask"] = format_mask
    return environment


def _quoted(value: object) -> str:
    """A YAML (and JSON) string: never taken for a number, a date or true."""
    return json.dumps(str(value), ensure_ascii=False)
