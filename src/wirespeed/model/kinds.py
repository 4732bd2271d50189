# SPDX-License-Identifier: Apache-2.0
"""Which kinds of a thing are there? A registry by name, in the order of registration."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from wirespeed.model.errors import BadInput


class Kind(Protocol):
    """name: as written in a study. summary: a clause for the reference."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...


K = TypeVar("K", bound=Kind)


class Kinds(Generic[K]):
    """The kinds that one key of a study chooses from, e.g. "topology.kind"."""

    def __init__(self, key: str, *kinds: K) -> None:
        self.key = key
        self._kinds: dict[str, K] = {}
        for kind in kinds:
            self.register(kind)

    def register(self, kind: K) -> None:
        """Make a kind known. Raises ValueError when its name is taken."""
        if kind.name in self._kinds:
            raise ValueError(f'{self.key} = "{kind.name}" is registered already')
        self._kinds[kind.name] = kind

    @contextmanager
    def including(self, *kinds: K) -> Iterator[None]:
        """The kinds are known while the context lasts."""
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
        """Raises BadInput for a name that is not known, with those that are."""
        if name not in self._kinds:
            raise BadInput(f'{self.key} = "{name}": {self.unknown(name)}')
        return self._kinds[name]

    def unknown(self, name: str) -> str:
        """What to say of a name that is not known."""
        near = difflib.get_close_matches(name, self._kinds, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        return f"must be one of {', '.join(self._kinds)}{hint}"
