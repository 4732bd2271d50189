# SPDX-License-Identifier: Apache-2.0
"""Escape values for the language of a file, so that each stays one value.

A template's suffix names its language. The environment escapes what a template prints, unless a
filter of the language has done so (Written). Texts with control characters are refused; comments
show them escaped.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from wirespeed.model.input.text import LINE, NAME, printable
from wirespeed.plan.errors import PlanError


class RenderError(PlanError):
    """The plan lacks a value that the target needs, or has one that its files cannot hold."""


class Written(str):
    """A text that is already in the target's language."""

    __slots__ = ()


Escape = Callable[[object], str]


@dataclass(frozen=True)
class Language:
    """Escapes of one language."""

    name: str
    value: Escape
    """Escapes a value as one value of the language."""
    comment: Escape
    """Escapes a text inside a comment line."""
    filters: dict[str, Escape] = field(default_factory=dict)
    """Further escapes, by their filter name in templates."""

    def finalize(self, value: object) -> Written:
        """Escape the value of a template's expression."""
        return value if isinstance(value, Written) else Written(self.value(value))

    @property
    def escapes(self) -> dict[str, Callable[[object], Written]]:
        """All escapes as template filters."""
        named = {"comment": self.comment, **self.filters}
        return {name: _written(escape) for name, escape in named.items()}


def language_of(template: str) -> Language:
    """Return the language of a template's file, e.g. of site.yml.j2."""
    return _LANGUAGES[template.removesuffix(".j2").rpartition(".")[2]]


def shell_word(value: object) -> str:
    """Quote a value as one word of a POSIX shell. Raises RenderError."""
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
    """Escape a value of oslo.config, which replaces $name and strips spaces at the ends."""
    text = _line(value)
    if text != text.strip():
        raise RenderError(f"{text!r} begins or ends with a space, which INI files drop", "Drop it.")
    return text.replace("$", "$$")


def _section(value: object) -> str:
    """Check a part of a section's name."""
    return _matching(NAME.pattern, value)


def _yaml(value: object) -> str:
    """Write a JSON value, which is valid YAML; a text is never read as a number or true."""
    if isinstance(value, str):
        return json.dumps(_line(value), ensure_ascii=False)
    return _line(json.dumps(value, ensure_ascii=False))


def _yaml_word(value: object) -> str:
    """Check a plain word that YAML reads as a text."""
    return _matching(r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z][A-Za-z0-9_-]*", value)


def _ansible(value: object) -> str:
    """Write YAML whose texts Ansible never reads as a template.

    Every text that could be a template carries Ansible's tag !unsafe.
    """
    plain = not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9 _.,:=/@%+*-]*", value)
    return _yaml(value) if plain else f"!unsafe {_yaml(value)}"


def _matching(pattern: str, value: object) -> str:
    text = _line(value)
    if not re.fullmatch(pattern, text):
        raise RenderError(f"{text!r} cannot stand here unquoted", "Give it a plain name.")
    return text


def _xml(value: object) -> str:
    """Escape a value of an element or an attribute."""
    return escape(_line(value), {"'": "&apos;", '"': "&quot;"})


def _comment(value: object) -> str:
    return printable(str(value))


def _xml_comment(value: object) -> str:
    """Escape "--", which XML does not allow in a comment."""
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
