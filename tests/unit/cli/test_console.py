# SPDX-License-Identifier: Apache-2.0
"""Check that control characters of data never reach the terminal."""

from __future__ import annotations

import json

import pytest
from rich.console import Group
from rich.panel import Panel
from rich.table import Table

from tests.unit.cli.conftest import Command
from tests.unit.cli.hostile import PAYLOAD, raw
from wirespeed.cli.console import Text, plain_console, print_json, print_line, visible

SHOWN = r"\x1b]52;c;QQ==\x07\x1b]8;;http://x\x1b\\x0d\x9b31m\x7f\u202e\u2066\u2028"


def test_visible_payload_is_escaped() -> None:
    assert visible(PAYLOAD) == SHOWN


def test_visible_text_of_ours_is_unchanged() -> None:
    text = "a\tb\nµ ─ \N{CHECK MARK} é"
    assert visible(text) == text


@pytest.mark.parametrize("stderr", [False, True])
def test_print_line_payload_is_escaped(capsys: pytest.CaptureFixture[str], stderr: bool) -> None:
    print_line(f"host {PAYLOAD}", stderr=stderr)
    printed = capsys.readouterr()
    assert (printed.err if stderr else printed.out) == f"host {SHOWN}\n"


@pytest.mark.parametrize("ascii_only", [True, False])
def test_print_json_payload_stays_valid(
    capsys: pytest.CaptureFixture[str], ascii_only: bool
) -> None:
    print_json(json.dumps({PAYLOAD: [PAYLOAD]}, ensure_ascii=ascii_only, indent=1))
    printed = capsys.readouterr().out
    assert raw(printed) == ""
    assert json.loads(printed) == {PAYLOAD: [PAYLOAD]}


def tables() -> Group:
    table = Table(title=PAYLOAD, caption=PAYLOAD)
    table.add_column(PAYLOAD)
    table.add_row(PAYLOAD)
    table.add_row(Text(PAYLOAD))
    table.add_row(Text().append(PAYLOAD, "bold"))
    return Group(table, Panel(PAYLOAD, title=Text(PAYLOAD)), PAYLOAD)


@pytest.mark.parametrize("terminal", [False, True])
def test_console_payload_anywhere_is_escaped(
    capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    console = plain_console(width=400)
    if terminal:
        console._force_terminal = True
    console.print(tables())
    printed = capsys.readouterr().out
    assert raw(printed) == ""
    assert printed.count(SHOWN) == 9


def test_console_markup_and_emoji_in_data_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    name = "[red]0000:ab:00.0[/red] [link=http://x]:smile:"
    table = Table()
    table.add_column(name)
    table.add_row(name)
    plain_console(width=200).print(table, name)
    assert capsys.readouterr().out.count(name) == 3


def test_main_error_with_payload_is_escaped(wirespeed: Command) -> None:
    for words in (["inspect", "--host", PAYLOAD], ["run", PAYLOAD], [PAYLOAD], [f"--{PAYLOAD}"]):
        ended = wirespeed(*words)
        assert (ended.code, raw(ended.out + ended.err)) == (2, ""), words
        assert r"\x1b]52" in ended.err, words


def test_main_unforeseen_error_is_escaped_and_has_its_own_code(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_host: object, _recorded: object, _record: object) -> None:
        raise RuntimeError(PAYLOAD)

    monkeypatch.setattr("wirespeed.cli.verbs.inspect.read_facts", broken)
    ended = wirespeed("inspect")
    assert (ended.code, raw(ended.err)) == (70, "")
    assert ended.err.startswith("wirespeed: an error of wirespeed itself\nTraceback")
