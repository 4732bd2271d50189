# SPDX-License-Identifier: Apache-2.0
"""Register the kinds of a component by name, in the order of registration."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from wirespeed.model.errors import BadInput


class Kind(Protocol):
    """A named choice of a study key.

    name: spelling in a study file. summary: a clause for the reference.
    """

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...


K = TypeVar("K", bound=Kind)


class Kinds(Generic[K]):
    """The kinds that one study key chooses from, e.g. "topology.kind"."""

    def __init__(self, key: str, *kinds: K) -> None:
        self.key = key
        self._kinds: dict[str, K] = {}
        for kind in kinds:
            self.register(kind)

    def register(self, kind: K) -> None:
        """Register a kind. Raises ValueError if its name is taken."""
        if kind.name in self._kinds:
            raise ValueError(f'{self.key} = "{kind.name}" is registered already')
        self._kinds[kind.name] = kind

    @contextmanager
    def including(self, *kinds: K) -> Iterator[None]:
        """Register the kinds for the duration of the context."""
        for kind in kinds:
            self.register(kind)
        try:
            yield
        finally:
            for kind in kinds:
                del self._kinds[kind.name]

    def __iter__(self) -> Iterator[K]:
        return iter(tuple(self._kinds.values()))

    def __contains__(self, name: str) -> bool:
        return name in self._kinds

    def __getitem__(self, name: str) -> K:
        """Return the kind of this name. Raises BadInput that lists the known names."""
        if name not in self._kinds:
            raise BadInput(f'{self.key} = "{name}": {self.unknown(name)}')
        return self._kinds[name]

    def unknown(self, name: str) -> str:
        """Return the error text for an unknown name."""
        near = difflib.get_close_matches(name, self._kinds, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        return f"must be one of {', '.join(self._kinds)}{hint}"
