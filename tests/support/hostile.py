# SPDX-License-Identifier: Apache-2.0
"""Put hostile texts into values and judge the files rendered from them.

The judge parses each changed file, and runs scripts with command doubles alone in PATH. The double
`MARKER` leaves a file, which shows that a value was executed.
"""

from __future__ import annotations

import configparser
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

MARKER = "wsmarker"
_ALL = f"'\";{MARKER};$({MARKER})`{MARKER}`{{{{ lookup('pipe','{MARKER}') }}}}{{% {MARKER} %}}"
PAYLOADS = (
    _ALL,
    f"x{_ALL}%s $HOME \\",
    f"x\n{MARKER}\n",
    f"x\r{MARKER}",
    f"x\u2028{MARKER}",
    f"x\x1b[2J{MARKER}",
    f"x\x00{MARKER}",
    f"-{MARKER}",
    f"--><{MARKER}/><!--",
    f"# {MARKER}",
    f"]\n[{MARKER}]",
    f"../../{MARKER}",
    f" {MARKER}: !!python/object:os.system x",
    f"{{{{ lookup('pipe', '{MARKER}') }}}}",
    f"x; {MARKER}",
    f"\ud800{MARKER}",
    MARKER + "x" * 70_000,
)
_SYNTAX = re.compile("syntax error|unexpected EOF|unterminated", re.IGNORECASE)
# No resource exists yet, so a script that waits for a removal does not wait.
_DOUBLES = {"grep": "false", "ovs-vsctl": "echo"} | dict.fromkeys(
    ("sort", "sed", "tr", "mkdir", "sleep", "grubby", "openstack", "date"), "echo ACTIVE"
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every text below a dataclass or JSON value; a key's path ends in (key,)."""
    if type(value) is str:
        yield path
    elif is_dataclass(value):
        for field in fields(value):
            yield from leaves(getattr(value, field.name), (*path, field.name))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if path and type(key) is str:
                yield (*path, (key,))
            yield from leaves(item, (*path, key))


def planted(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """Return the value with the text at that path."""
    if not path:
        return text
    head, *rest = path
    if isinstance(head, tuple):
        return {(text if key == head[0] else key): item for key, item in value.items()}
    if is_dataclass(value):
        return replace(value, **{head: planted(getattr(value, head), tuple(rest), text)})  # type: ignore[type-var]
    if isinstance(value, dict):
        return value | {head: planted(value[head], tuple(rest), text)}
    items = [planted(v, tuple(rest), text) if i == head else v for i, v in enumerate(value)]
    return type(value)(items)


class Unsafe(str):
    """A YAML text tagged !unsafe: Ansible does not treat it as a template."""

    __slots__ = ()


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]
    pass


_Loader.add_constructor("!unsafe", lambda _, node: Unsafe(node.value))


class Judge:
    """Checks rendered files in a folder; `runs` is the number of executed scripts.

    A text is judged only once per language, because targets share files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._commands = folder / "commands"
        self._commands.mkdir(parents=True)
        self._ran = folder / "ran"
        for name, does in _DOUBLES.items():
            self._double(name, does)
        self._double(MARKER, f": >{self._ran}")
        # Starting doubles took most of a script's time, so bash also gets them as functions. MARKER
        # stays a program, because a restricted shell lets no function write a file.
        functions = folder / "functions"
        lines = [f"{name}() {{ {does}; }}\n" for name, does in _DOUBLES.items()]
        functions.write_text("".join(lines), encoding="utf-8")
        self._environment = {"PATH": str(self._commands), "BASH_ENV": str(functions)}
        self._judged: set[tuple[str, str]] = set()
        self.runs = 0

    def _double(self, name: str, does: str) -> None:
        path = self._commands / name
        path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        path.chmod(0o755)

    def check(self, name: str, text: str) -> None:
        """Fail if a planted text is more than one value of the file."""
        assert ".." not in name, name
        assert not any(line.strip().startswith(MARKER) for line in text.splitlines()), name
        suffix = Path(name).suffix
        if (suffix, text) in self._judged:
            return
        if suffix in (".sh", ".cfg"):
            self._run(name, text)
        elif suffix in (".yml", ".yaml"):
            loaded = yaml.load(text, _Loader)  # noqa: S506 (a subclass of the safe loader)
            assert not _templates(loaded) or suffix == ".yaml" or name.endswith("site.yml"), name
        elif suffix in (".conf", ".ini"):
            parser = configparser.RawConfigParser(strict=False)
            parser.read_string(text)
            assert not any(MARKER in key for s in parser.sections() for key in parser[s])
        else:
            assert suffix == ".xml", name
            assert MARKER not in {node.tag for node in ElementTree.fromstring(text).iter()}  # noqa: S314
        self._judged.add((suffix, text))

    def commands(self, lines: Iterable[str]) -> None:
        """Fail if a planted text is more than one word of any of these commands.

        The shell is restricted, so no command writes to a file of this machine.
        """
        for line in lines:
            self._execute(line, line, "/bin/bash", "-r")

    def _run(self, name: str, text: str) -> None:
        self._execute(name, text, "/bin/sh" if name.endswith(".cfg") else "/bin/bash")

    def _execute(self, name: str, text: str, *shell: str) -> None:
        script = self._folder / "script"
        script.write_text(text + "\n", encoding="utf-8", errors="replace")
        done = subprocess.run(
            [*shell, str(script)], cwd=self._folder, env=self._environment,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.runs += 1
        assert not self._ran.exists(), f"{name} ran {MARKER}: {text}"
        assert not _SYNTAX.search(done.stderr), done.stderr


def _templates(value: Any) -> bool:
    """Return whether any text would be a template for Ansible."""
    if isinstance(value, dict):
        return any(_templates(item) for pair in value.items() for item in pair)
    if isinstance(value, list):
        return any(map(_templates, value))
    return isinstance(value, str) and not isinstance(value, Unsafe) and "{" in value
