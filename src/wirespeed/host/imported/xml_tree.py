# SPDX-License-Identifier: Apache-2.0
"""Parse XML from anybody: no entities, no document type that is fetched, bounded size and depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

# hwloc nests 30 deep on the largest hosts, and writes 20 elements for each CPU.
_DEEPEST, _MOST = 50, 200_000
_LONGEST = 1 << 20


class Unsafe(ValueError):
    """Raised for XML that is not well-formed, not safe, or beyond a limit."""


@dataclass(slots=True)
class Element:
    """An element with what is inside it."""

    tag: str
    attributes: Mapping[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def get(self, name: str) -> str:
        """Return an attribute, or "" where there is none."""
        return self.attributes.get(name, "")

    def walk(self) -> Iterator[tuple[Element, tuple[Element, ...]]]:
        """Yield each element below with those above it, outermost first, in document order."""
        waiting: list[tuple[Element, tuple[Element, ...]]] = [
            (child, (self,)) for child in reversed(self.children)
        ]
        while waiting:
            element, above = waiting.pop()
            yield element, above
            waiting += [(child, (*above, element)) for child in reversed(element.children)]


def parse(content: bytes) -> Element:
    """Return the root element. Raises Unsafe."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.EntityDeclHandler = reader.entity
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        parser.Parse(content, True)
    except expat.ExpatError as fault:
        raise Unsafe(f"is not XML: {fault}") from None
    assert reader.root is not None  # a document without a root is not well-formed
    return reader.root


class _Reader:
    """Builds the tree, and ends at the first thing that is not allowed."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def doctype(self, name: str, system: str | None, public: str | None, inside: int) -> None:
        if inside:
            raise Unsafe(f"has declarations inside its document type {name} {system} {public}")

    def entity(self, name: str, *_: object) -> None:
        raise Unsafe(f"declares the entity {name}")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST:
            raise Unsafe(f"has more than {_MOST} elements")
        if len(self._open) >= _DEEPEST:
            raise Unsafe(f"is nested more than {_DEEPEST} deep")
        element = Element(tag, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, tag: str) -> None:
        assert self._open[-1].tag == tag  # the parser refuses others
        self._open.pop()

    def characters(self, text: str) -> None:
        element = self._open[-1]
        if text.strip():
            element.text += text
            if len(element.text) > _LONGEST:
                raise Unsafe(f"has a text of more than {_LONGEST} characters")
