"""Groups of commands: imported only when they are called, so that --help is quick; found under other spellings."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from morphlm.cli.names import find_command, unknown_command


class UnknownCommandError(click.UsageError):
    """The message says what may have been meant."""


class NamedGroup(click.Group):
    """A group that understands other spellings of its commands' names, and points where others may have been meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-"):
            name = find_command(args[0], known)
            if name is None:
                raise UnknownCommandError(unknown_command(args[0], known, ctx.command_path), ctx)
            args = [name, *args[1:]]
        return super().resolve_command(ctx, args)


class LazyGroup(NamedGroup):
    """Each command is the `command` of a module; its line of help is known without importing it."""

    def __init__(self, *arguments: Any, package: str, lines: Mapping[str, str], **settings: Any) -> None:
        """`lines`: the command's name -> one line of help. The module has the same name, in this package."""
        super().__init__(*arguments, **settings)
        self._package, self._lines = package, lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lines:
            return None
        command: click.Command = importlib.import_module(f"{self._package}.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lines.items()))
