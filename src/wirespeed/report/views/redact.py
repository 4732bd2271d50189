# SPDX-License-Identifier: Apache-2.0
"""Replace host names, addresses and command lines of a run by labels, so that it can be shown.

The same text has the same label in every output of a run: host-1, address-1, command-1.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from wirespeed.model.study.spec import AnyWorkload
from wirespeed.store.records import RunRecord
from wirespeed.store.series import PackedSeries

T = TypeVar("T")

# Keys and fields whose text is a command line, and those whose text is a name of ours.
_COMMANDS = frozenset({"command", "cmdline", "argv"})
_OURS = frozenset({"kind", "search", "limit", "unit", "state", "hdrh"})
# Names by which nobody is known; the words of our own keys and sentences are among them.
_COMMON = frozenset({"localhost", "host", "generator", "sut", "switch", "vswitch", "vnf"})
_MAC = (
    r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{12}"
)
# Names of the public and of the special-use domains (RFC 2606, 6762, 8375). A two-letter one needs
# two labels before it: shorter names are also those of files, e.g. start.sh.
_TOP = (
    "com|net|org|edu|gov|mil|int|info|biz|dev|cloud|arpa|local|lan|internal|intranet|corp|home|"
    "localdomain|example|test|invalid"
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\."
_DOMAIN = rf"(?:(?:{_LABEL})+(?i:{_TOP})|(?:{_LABEL}){{2,}}[A-Za-z]{{2}})"
_ADDRESS = re.compile(
    r"ssh://[^\s\"'<>]+"
    r"|(?<=://)[^\s/@\"'<>]+@[^\s/\"'<>]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)*"
    rf"|(?<![0-9A-Fa-f])(?<!\b[0-9A-Fa-f]{{2}}:)(?<![\w.])(?:{_MAC})(?![\w:])"
    rf"|(?<=:)(?:{_MAC})(?![\w:])"
    r"|(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z_]|\.\w)"
    rf"|(?<![\w.-]){_DOMAIN}(?![\w-]|\.\w)"
    # Behind a word and a colon, too: "tcp:203.0.113.9:6640", "addr:2001:db8::7".
    r"|(?:(?<![\w.:])|(?<=[G-Zg-z]:))(?=[0-9A-Fa-f:.]*[0-9A-Fa-f])[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?![\w:])"
)


class Redactor:
    """Gives labels to what a run tells of its hosts."""

    def __init__(self, run: RunRecord) -> None:
        self._labels: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        for command in dict.fromkeys(_commands(run)):
            self._label("command", command)
        self._known = _alternatives(self._labels)
        names = [name for name in dict.fromkeys(_hosts(run)) if name.lower() not in _COMMON]
        for name in names:
            label = self._label("host", name.lower())
            self._labels.setdefault(name.lower().partition(".")[0], label)
        self._hosts = _host_pattern(names)

    def of(self, value: T) -> T:
        """Return the value with labels in every text of it."""
        found: T = self._walk(value)
        return found

    def _walk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return self._string(value, key)
        if isinstance(value, dict | list | tuple):
            return self._container(value, key)
        if isinstance(value, AnyWorkload):
            # What is measured; its texts are in the point's parameters, too.
            return value.with_roles(self._walk(value.roles))
        # The names of series are ours.
        if is_dataclass(value) and not isinstance(value, PackedSeries | type):
            return self._dataclass(value)
        return value

    def _string(self, value: str, key: str) -> str:
        if key in _OURS or isinstance(value, Enum):
            return value
        return self._label("command", value) if key in _COMMANDS and value else self.text(value)

    def _container(self, value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: self._walk(one, str(name)) for name, one in value.items()}
        if key in _COMMANDS and value:
            return type(value)([self._label("command", " ".join(map(str, value)))])
        return type(value)(self._walk(one, key) for one in value)

    def _dataclass(self, value: Any) -> Any:
        changed = {}
        for field in fields(value):
            before = getattr(value, field.name)
            walk = self._bench if field.name == "bench" else self._walk
            after = walk(before, field.name)
            if after is not before and after != before:
                changed[field.name] = after
        return replace(value, **changed) if changed else value

    def _bench(self, value: Any, key: str = "") -> Any:
        """Return a bench's tables with labels. Hosts name tables; other keys are ours."""
        if not isinstance(value, dict):
            return self._walk(value, key)
        return {
            self.text(name) if isinstance(one, dict) else _ADDRESS.sub(self._address, name):
            self._bench(one, name)
            for name, one in value.items()
        }  # fmt: skip

    def text(self, text: str) -> str:
        """Return the text with labels for what it names."""
        if self._known is not None:
            text = self._known.sub(lambda found: self._labels[found[0]], text)
        text = _ADDRESS.sub(self._address, text)
        if self._hosts is not None:
            text = self._hosts.sub(lambda found: self._labels[found["name"].lower()], text)
        return text

    def _address(self, found: re.Match[str]) -> str:
        text = found[0]
        # A sentence ends behind it.
        bare = text.rstrip(".:") if not text.endswith("::") else text
        known = "@" in bare or "://" in bare or re.fullmatch(_DOMAIN, bare)
        if not known and not _is_address(bare):
            return text
        return self._label("address", bare.lower()) + text[len(bare) :]

    def _label(self, kind: str, text: str) -> str:
        if text not in self._labels:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._labels[text] = f"{kind}-{self._counts[kind]}"
        return self._labels[text]


def _is_address(text: str) -> bool:
    if re.fullmatch(_MAC, text):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _commands(run: RunRecord) -> Iterator[str]:
    """Yield command lines that other texts may quote."""
    yield " ".join(run.command)
    if run.host.kernel.cmdline:
        yield run.host.kernel.cmdline
    for point in run.points:
        for part in point.bench.values():
            command = part.get("command") if isinstance(part, dict) else None
            if command:
                yield command if isinstance(command, str) else " ".join(map(str, command))


def _hosts(run: RunRecord) -> Iterator[str]:
    """Yield the names of hosts and of guests that ran on them."""
    yield run.host.host
    for audit in run.audits or ():
        yield audit.host
    for guest in run.host.guests or ():
        yield guest.name
    for point in run.points:
        for plan in point.plan.hosts if point.plan is not None else ():
            yield plan.host
        roles = point.workload.roles
        yield from (name for name in (roles.generator, roles.sut) if name is not None)


def _alternatives(texts: dict[str, str]) -> re.Pattern[str] | None:
    found = sorted((re.escape(text) for text in texts if text), key=len, reverse=True)
    return re.compile("|".join(found)) if found else None


def _host_pattern(names: list[str]) -> re.Pattern[str] | None:
    """Match a host's name, or the first part of it, with the domain behind it."""
    known = {part for name in names for part in (name, name.partition(".")[0])}
    known = {part for part in known if part and part.lower() not in _COMMON}
    if not known:
        return None
    words = "|".join(re.escape(one) for one in sorted(known, key=len, reverse=True))
    domain = r"(?:(?:[-_][A-Za-z0-9]+)*(?:\.[A-Za-z0-9-]*[A-Za-z0-9])+)?"
    pattern = rf"(?<![A-Za-z0-9])(?P<name>{words}){domain}(?![A-Za-z0-9])"
    # Without ASCII, a long s would match an s, and have no label.
    return re.compile(pattern, re.IGNORECASE | re.ASCII)
