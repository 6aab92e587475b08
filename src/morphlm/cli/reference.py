"""The command reference, generated from the commands' own help: `python -m morphlm.cli.reference`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from morphlm.cli.main import HELP_SETTINGS, morphlm

HEADER = """# Commands

Generated from the commands' own help by `make docs`; a test fails when it is stale.
"""


def pages(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """The help of a command and of all its subcommands."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, **HELP_SETTINGS)
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"## `{context.command_path}`\n\n```text\n{text}\n```\n"
    if isinstance(command, click.Group):
        for child_name in command.list_commands(context):
            child = command.get_command(context, child_name)
            if child is not None:
                yield from pages(child, child_name, context)


def reference() -> str:
    """The whole reference."""
    return "\n".join([HEADER, *pages(morphlm, "morphlm")])


if __name__ == "__main__":
    print(reference(), end="")
