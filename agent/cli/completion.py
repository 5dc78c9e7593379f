"""The completion of commands, options and file names for a shell, written by shtab."""

from __future__ import annotations

from argparse import ArgumentParser, _SubParsersAction

PATHS = ("FILE", "PATH", "PLAN.toml", "session.json", "RESULTS", "SOURCE", "RUN", "MODEL")


def script(parser: ArgumentParser, shell: str) -> str:
    """Return the completion script."""
    import shtab

    _mark_paths(parser, shtab.FILE, shtab.DIRECTORY)
    return str(shtab.complete(parser, shell))


def _mark_paths(parser: ArgumentParser, file: object, folder: object) -> None:
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for subparser in action.choices.values():
                _mark_paths(subparser, file, folder)
        elif action.metavar == "DIR":
            action.complete = folder  # type: ignore[attr-defined]
        elif action.metavar in PATHS:
            action.complete = file  # type: ignore[attr-defined]
