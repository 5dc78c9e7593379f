"""Options that several training commands share, and the file of settings that they name."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent.cli.command import CannotRun
from agent.cli.options import LABELS, JsonOutput, Overwrite, TaskFiles, option, output_folder
from agent.language import deferred, tr

if TYPE_CHECKING:
    from training.run import Run, Start

SHIPPED = Path(__file__).resolve().parent.parent / "configs"
QUESTIONS = deferred(
    "questions: SpecVI Parquet files or a folder of them, JSON lines with spectra, or spectra with --labels"
)


@dataclass(kw_only=True)
class Settings:
    """Single settings on the command line."""

    set: list[str] = option(
        "change settings, e.g. model.method=lora; may be repeated", metavar="KEY=VALUE", extend=True
    )


@dataclass(kw_only=True)
class TrainingOptions(Settings, Overwrite, TaskFiles, JsonOutput):
    """The options of ``sft`` and ``grpo``."""

    config: str = option("settings in YAML, or the name of shipped ones", metavar="FILE")
    out: Path | None = option("folder of the run (default: output in the settings)", metavar="DIR", read=output_folder)
    no_tool: bool = option("without the tool: one turn, no zooms")
    dry_run: bool = option("check the settings, count the data, say how long it would train, and stop; needs no torch")

    def given(self) -> dict[str, object]:
        """Return the settings that have options of their own, if these are given."""
        return {
            "output": None if self.out is None else str(self.out),
            "task_files": None if self.tasks is None else str(self.tasks),
            "with_tool": False if self.no_tool else None,
        }


@dataclass(kw_only=True)
class Scale:
    """How much is computed."""

    scale: Literal["full", "quick"] = option("full: hours on two cores; quick: learns nothing", default="full")


@dataclass(kw_only=True)
class Questions(TaskFiles):
    """Questions, and the labels of spectra among them."""

    data: list[Path] = option(QUESTIONS, metavar="PATH")
    labels: Path | None = option(LABELS)


def config_file(given: str) -> Path:
    """Return the named file; for shipped settings the name is enough, with or without its extension."""
    if not (path := Path(given)).exists() and path.name == given:
        for name in (given, f"{given}.yaml"):
            if (SHIPPED / name).is_file():
                return SHIPPED / name
    return path


def start_of(arguments: Overwrite, run: Run) -> Start:
    """Return how a run begins: it continues, if there is one, unless it is to be deleted."""
    if arguments.overwrite:
        return "again"
    return "resume" if run.exists else "new"


def start_over(folder: Path, settings: str) -> None:
    """Delete what an earlier run wrote.

    :param settings: the file by which its folder is known
    :raises CannotRun: the folder holds something else
    """
    if (folder / settings).is_file():
        shutil.rmtree(folder)
    elif folder.exists() and (folder.is_file() or any(folder.iterdir())):
        raise CannotRun(
            tr("{folder}: found other files; --overwrite only deletes what this command wrote", folder=folder)
        )
