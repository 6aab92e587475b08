"""Packages that few commands need, and that are installed only if somebody asks for them: the extras of pyproject.toml.

Whoever needs one imports it here, so that everybody who lacks it is told the same way how to get it.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from morphlm.errors import ConfigError
from morphlm.signals import interrupts_deferred


class MissingExtraError(ConfigError, ImportError):
    """A package that is not installed, with the command that installs it."""


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a module that needs an extra; `purpose` begins the message if it is missing: 'pictures need'."""
    try:
        with interrupts_deferred():
            return importlib.import_module(module)
    except ImportError as error:
        raise _missing(error.name or module, extra, purpose) from error


def import_package(module: str, package: str, purpose: str) -> ModuleType:
    """Import a module of, or for, a package that morphlm works together with; pip knows it by the name `package`."""
    try:
        with interrupts_deferred():
            return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{purpose} {package}, which is not installed; pip install {package}") from error


def check_extra(module: str, extra: str, purpose: str) -> None:
    """Refuse at once what would fail later; nothing is imported."""
    if not is_installed(module):
        raise _missing(module, extra, purpose)


def is_installed(module: str) -> bool:
    """Whether a module outside of this package can be found."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # ValueError: a module that was made by a program
        return False


def how_to_install(extra: str) -> str:
    """The command, for those who have the package and for those who have its source."""
    return f"pip install 'morphlm[{extra}]' (in a checkout: pip install '.[{extra}]')"


def _missing(module: str, extra: str, purpose: str) -> MissingExtraError:
    return MissingExtraError(f"{purpose} {module.partition('.')[0]}, which is not installed; {how_to_install(extra)}")
