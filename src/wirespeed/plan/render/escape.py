# SPDX-License-Identifier: Apache-2.0
"""Write values into files of a language, so that a value stays one value of it.

A template's suffix names its language. What a template prints is escaped by the environment, unless
a filter of the language has done it already (Written). Texts with control characters are refused
but in comments, where they are shown.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from wirespeed.model.text import LINE, NAME, printable
from wirespeed.plan.errors import PlanError


class RenderError(PlanError):
    """The plan lacks something that the target needs, or has what its files cannot hold."""


class Written(str):
    """A text that is of the target's language already."""

    __slots__ = ()


Escape = Callable[[object], str]


@dataclass(frozen=True)
class Language:
    """value: a value as one value of the language. comment: a text inside a comment's line.
    filters: further escapes by the name that templates call them by."""

    name: str
    value: Escape
    comment: Escape
    filters: dict[str, Escape] = field(default_factory=dict)

    def finalize(self, value: object) -> Written:
        """What an expression of a template prints."""
        return value if isinstance(value, Written) else Written(self.value(value))

    @property
    def escapes(self) -> dict[str, Callable[[object], Written]]:
        """Every escape as a filter."""
        named = {"comment": self.comment, **self.filters}
        return {name: _written(escape) for name, escape in named.items()}


def language_of(template: str) -> Language:
    """The language of a template's file, e.g. of site.yml.j2."""
    return _LANGUAGES[template.removesuffix(".j2").rpartition(".")[2]]


def shell_word(value: object) -> str:
    """One word of a POSIX shell."""
    return shlex.quote(_line(value))


def _written(escape: Escape) -> Callable[[object], Written]:
    return lambda value: Written(escape(value))


def _line(value: object) -> str:
    text = str(value)
    if not LINE.fits(text):
        raise RenderError(
            f"{printable(text, 60)!r} has control characters or is too long for a rendered file",
            "Correct it in the workload, the host file or the plan.",
        )
    return text


def _ini(value: object) -> str:
    """A value of oslo.config, which replaces $name and strips spaces at the ends."""
    text = _line(value)
    if text != text.strip():
        raise RenderError(f"{text!r} begins or ends with a space, which INI files drop", "Drop it.")
    return text.replace("$", "$$")


def _section(value: object) -> str:
    """A part of a section's name."""
    return _matching(NAME.pattern, value)


def _yaml(value: object) -> str:
    """A JSON value, which YAML is a superset of; a text is never taken for a number or true."""
    if isinstance(value, str):
        return json.dumps(_line(value), ensure_ascii=False)
    return _line(json.dumps(value, ensure_ascii=False))


def _yaml_word(value: object) -> str:
    """A plain word that YAML takes for a text."""
    return _matching(r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z][A-Za-z0-9_-]*", value)


def _ansible(value: object) -> str:
    """YAML whose texts Ansible never takes for a template: all of those that could be one carry
    its tag !unsafe."""
    plain = not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9 _.,:=/@%+*-]*", value)
    return _yaml(value) if plain else f"!unsafe {_yaml(value)}"


def _matching(pattern: str, value: object) -> str:
    text = _line(value)
    if not re.fullmatch(pattern, text):
        raise RenderError(f"{text!r} cannot stand here unquoted", "Give it a plain name.")
    return text


def _xml(value: object) -> str:
    """Of an element or an attribute."""
    return escape(_line(value), {"'": "&apos;", '"': "&quot;"})


def _comment(value: object) -> str:
    return printable(str(value))


def _xml_comment(value: object) -> str:
    """Without "--", which ends a comment of XML."""
    return re.sub("-(?=-)", "- ", printable(str(value)))


_SHELL = Language("shell", shell_word, _comment)
_INI = Language("INI", _ini, _comment, {"section": _section})
_YAML = Language("YAML", _yaml, _comment, {"word": _yaml_word})
_ANSIBLE = Language("Ansible", _ansible, _comment)
_XML = Language("XML", _xml, _xml_comment)
_LANGUAGES = {
    "sh": _SHELL, "cfg": _SHELL, "ini": _INI, "conf": _INI, "yaml": _YAML, "yml": _ANSIBLE,
    "xml": _XML,
}  # fmt: skip
LANGUAGES = (_SHELL, _INI, _YAML, _ANSIBLE, _XML)
