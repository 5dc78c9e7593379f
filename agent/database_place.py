"""Where annotations.db is when no option names it.

In a checkout: next to app.py. Installed: in the current folder if it is there, else in the user's data folder; never
among the installed packages, which an update may delete.
"""

from __future__ import annotations

import shlex
import sysconfig
from pathlib import Path

from agent.errors import Refusal
from agent.language import tr

NAME = "annotations.db"
PROGRAM = Path(__file__).resolve().parents[1]
"""The folder of app.py: a checkout, or the folder of the installed packages."""
# What is next to a database and belongs to it; `annotations.db*` is meant as a pattern of the shell.
_COMPANIONS = ("backups", "annotations-exports", "servers.toml", "trained_prompts.json", "tasks", "templates")


class PlaceError(Refusal):
    """The usual place of the database cannot be used; the message says what to do."""


def among_packages(path: Path) -> bool:
    """Return whether a path is in a folder of installed packages, of this Python or of another one."""
    path = path.resolve()
    folders = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    named = {"site-packages", "dist-packages"}.intersection(path.parts)
    return bool(named) or any(path.is_relative_to(folder) for folder in folders)


def usual_place() -> Path:
    """Return the path of the database where no option names it, whether it exists or not."""
    if not among_packages(PROGRAM):
        return PROGRAM / NAME
    here = Path.cwd() / NAME
    return here if here.is_file() else data_folder() / NAME


def data_folder() -> Path:
    """Return the folder of this user's data, by the rules of the operating system."""
    from platformdirs import user_data_path

    return user_data_path("spec-o3", appauthor=False)


def misplaced() -> Path | None:
    """Return the database of an earlier release among the installed packages, if there is one."""
    path = PROGRAM / NAME
    return path if among_packages(path) and path.is_file() else None


def moving(database_file: Path, to: Path) -> str:
    """Return the command that moves a database with everything that belongs to it."""
    folder = database_file.parent
    others = [name for name in _COMPANIONS if (folder / name).exists() and not (folder / name / "__init__.py").exists()]
    files = [f"{shlex.quote(str(database_file))}*", *(shlex.quote(str(folder / name)) for name in others)]
    target = shlex.quote(str(to))
    return f"mkdir -p {target} && mv {' '.join(files)} {target}/"


def database(named: Path | None) -> Path:
    """Return the database that an option names, else its usual place. Every command asks here.

    :raises PlaceError: there is none at the usual place, but one of an earlier release among the packages
    """
    if named is not None:
        return named
    place, wrong_place = usual_place(), misplaced()
    if wrong_place is not None and not place.is_file():
        raise PlaceError(
            tr(
                "{found}: found the database of an earlier release among the installed packages, where an update may "
                "delete it; expected it in {folder}. “spec-o3 doctor database” gives the command that moves it. Or "
                "name it with --db.",
                found=wrong_place,
                folder=place.parent,
            )
        )
    return place


def make_folder(place: Path) -> None:
    """Create the user's data folder if the database is to be there; no other folder is created.

    :raises PlaceError: it cannot be created
    """
    if not among_packages(PROGRAM) or place.parent != data_folder():
        return
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise PlaceError(
            tr("{folder}: {strerror}. Name another place with --db.", folder=place.parent, strerror=error.strerror)
        ) from error
