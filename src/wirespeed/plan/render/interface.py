# SPDX-License-Identifier: Apache-2.0
"""Fill the templates of a renderer, which maps a Plan to files: relative path -> text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError

from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.render.escape import LANGUAGES, RenderError, language_of, shell_word

__all__ = ["Files", "NewFiles", "RenderError", "Renderer", "environment", "fill"]

Files = Mapping[str, str]
Renderer = Callable[[Plan], Files]


class NewFiles(dict[str, str]):
    """Files by path, each written once."""

    def __setitem__(self, path: str, text: str) -> None:
        """Add a file. Raises RenderError where two parts of the plan have the same one."""
        if path in self:
            raise RenderError(
                f"two parts of the plan have the file {path}",
                "Rename the pod or the pool of this name in the workload.",
            )
        super().__setitem__(path, text)


def fill(template: str, **values: object) -> str:
    """Fill a template of templates/ with these values.

    Raises RenderError if the plan lacks a part that the template prints.
    """
    filled = environment(language_of(template).name).get_template(template)
    try:
        return filled.render(**values)
    except UndefinedError as error:
        raise RenderError(
            f"{template.removesuffix('.j2')}: the plan lacks a part that it needs: {error.message}",
            "Make the plan again: `wirespeed plan WORKLOAD.toml --host HOST.json -o PLAN.json`.",
        ) from error


@cache
def environment(language: str) -> Environment:
    """Return the Jinja environment of a language, which escapes printed values."""
    rules = next(rules for rules in LANGUAGES if rules.name == language)
    # Jinja's autoescape is for HTML; finalize escapes for the template's language.
    made = Environment(  # noqa: S701
        loader=PackageLoader("wirespeed.plan.render"),
        undefined=StrictUndefined,
        finalize=rules.finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"sh": shell_word, "json": json.dumps, "cpus": format_list, "mask": format_mask}
    made.filters |= rules.escapes
    return made
