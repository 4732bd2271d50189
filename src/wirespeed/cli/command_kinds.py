# SPDX-License-Identifier: Apache-2.0
"""Build commands and groups of commands that look and behave alike.

A verb's module is imported when the verb is invoked. So `inspect` does not wait for the database
and numpy, and the `--help` of a group for neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from wirespeed.cli.configuration import Default, defaults
from wirespeed.cli.console import end_unread

# Words for the values of options that name none themselves.
_VALUES = {"int": "N", "float": "NUMBER", "str": "TEXT", "path": "FILE"}


class _Shown:
    """Prints help without names of Python types: `--json`, `--nodes N`, `RUN`."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = _no_type
            elif getattr(parameter, "is_flag", False):
                parameter.metavar = ""
            elif parameter.metavar is None:
                kind = (parameter.display_type(ctx) or "").strip("<>").removesuffix(" range")
                parameter.metavar = _VALUES.get(kind)
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]
        except SystemExit:  # rich ends with 1 when the reader has closed the pipe
            end_unread()


def _no_type(ctx: Any) -> None:
    """Name no type: an argument's name says what it is."""


class _Command(_Shown, TyperCommand):
    """A verb whose options have defaults from wirespeed.toml, which its help names."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        values = {name: found.value for name, found in self._defaults().items()}
        return super().make_context(info_name, args, parent, default_map=values, **extra)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        found = self._defaults()
        named: list[Any] = [one for one in self.params if one.name in found]
        helps = [one.help for one in named]
        for one in named:
            default = found[one.name]
            one.help = f"{one.help} {_literal(f'In {default.source}: {default.value}.')}"
        try:
            super().format_help(ctx, formatter)
        finally:
            for one, text in zip(named, helps, strict=True):
                one.help = text

    def _defaults(self) -> dict[str, Default]:
        names = {parameter.name for parameter in self.params}
        return {name: found for name, found in defaults().items() if name in names}


def _literal(text: str) -> str:
    """Return text that help prints as it is: brackets would be markup."""
    return text.replace("[", r"\[")


def is_named(ctx: typer.Context, option: str) -> bool:
    """Return whether the command line or the environment names the option, not a file."""
    source = ctx.get_parameter_source(option)
    return source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT")


class _Group(_Shown, TyperGroup):
    default: str | None = None

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        helped = not args and self.no_args_is_help
        if self.default and not helped and (
            not args or args[0] not in (*self.commands, *ctx.help_option_names)
        ):  # fmt: skip
            args = [self.default, *args]
        return super().parse_args(ctx, args)


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """A group of verbs that is known without the import of any."""

    summary: str
    verbs: Mapping[str, tuple[str, str] | VerbGroup]
    """Verbs by name, each with "module:function" in `wirespeed.cli.verbs` and its summary."""
    default: str | None = None
    """Verb that runs where none is named."""
    no_args_is_help: bool = True

    def build(self, root: Callable[..., None] | None = None, **settings: Any) -> Any:
        """Return the command; none of its verbs is imported yet. root: has its own options."""
        app = typer.Typer(
            cls=_Group,
            help=self.summary,
            no_args_is_help=self.no_args_is_help,
            add_completion=False,
            context_settings=settings,
        )
        if root is not None:
            app.callback()(root)
        group: Any = typer.main.get_group(app)
        group.default = self.default
        for name, verb in self.verbs.items():
            inner = verb.build() if isinstance(verb, VerbGroup) else LazyVerb(*verb)
            inner.name = name
            group.add_command(inner)
        return group


class LazyVerb(TyperCommand):
    """A verb of which only name and summary are known before it is invoked."""

    def __init__(self, where: str, summary: str) -> None:
        """Name the verb to load. where: "module:function" in `wirespeed.cli.verbs`."""
        super().__init__(None, help=summary)
        self._where = where

    def load(self) -> Any:
        """Return the verb itself."""
        module, _, function = self._where.partition(":")
        app = typer.Typer(add_completion=False)
        found = getattr(import_module(f"wirespeed.cli.verbs.{module}"), function)
        app.command(self.name, cls=_Command)(found)
        command = typer.main.get_command(app)
        command.name = self.name
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        return self.load().make_context(info_name, args, parent, **extra)
