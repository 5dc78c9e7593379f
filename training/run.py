"""A training run is a folder: settings, data card, environment, lineage, log, traces, checkpoints and model.

``environment.json`` has one entry per start, ``log.jsonl`` one object per step; ``model/`` appears when the run is
finished. A checkpoint counts only once it is marked complete, so a killed process leaves none that is cut short.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent.errors import Refusal
from agent.language import tr
from agent.settings_file import parse_yaml
from training.data.inputs import inputs
from training.environment import environment
from training.model import MODEL
from training.settings import ModelSettings, plain, to_mapping, to_yaml

if TYPE_CHECKING:
    from transformers import TrainerCallback

Start = Literal["new", "resume", "again"]
"""Begin in a folder without a run; resume the run there; delete the run there and begin again."""

COMPLETE = "complete"
SETTINGS, LOG, LINEAGE, ENVIRONMENT = "settings.yaml", "log.jsonl", "lineage.json", "environment.json"
# A folder with settings is a run, so they are written first and deleted last.
_OURS = ("data_card.json", "data_card.md", LOG, LINEAGE, ENVIRONMENT, SETTINGS)


@dataclass(frozen=True)
class CardFiles:
    """A data card as it is saved: plain values and Markdown."""

    plain: Mapping[str, Any]
    markdown: str


class RunError(Refusal, ValueError):
    """A folder that cannot hold this run: what is there, and what to do about it."""


class Run:
    """A run in its folder. Call ``begin`` first; with several processes, only in the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / LOG
        self.traces = folder / "traces"
        self.model = folder / MODEL

    @property
    def exists(self) -> bool:
        return (self.folder / SETTINGS).is_file()

    @property
    def finished(self) -> bool:
        return self.model.is_dir()

    def begin(self, kind: str, settings: Any, start: Start = "new") -> Path | None:
        """Prepare the folder; return the checkpoint to resume from, None to begin at the first step.

        Log lines and checkpoints after that checkpoint are deleted: those steps are repeated.

        :param kind: "sft", "grpo", ...
        :param settings: a dataclass; its ``model`` says what the run starts from
        :raises RunError: there is already a run, finished or not, or with other settings, unless
            ``start`` says what to do with it; nothing to resume
        """
        self.check(settings, start)
        if start == "again":
            self._clear()
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self.folder / SETTINGS, to_yaml(settings))
        checkpoint = self.checkpoint()
        self._delete_after(checkpoint)
        sittings = _read_list(self.folder / ENVIRONMENT)
        _write_json(self.folder / ENVIRONMENT, [*sittings, environment()])
        _write_json(self.folder / LINEAGE, [*lineage(settings.model), _here(kind, settings)])
        return checkpoint

    def check(self, settings: Any, start: Start) -> None:
        """:raises RunError: what ``begin`` would raise"""
        file = self.folder / SETTINGS
        if self.folder.is_file():
            raise RunError(tr("{folder} is a file; expected a folder for the run", folder=self.folder))
        if not file.is_file():
            if start == "resume":
                raise RunError(
                    tr(
                        "{folder} holds no run to resume: found no {settings} in it",
                        folder=self.folder,
                        settings=SETTINGS,
                    )
                )
            if self.folder.is_dir() and any(self.folder.iterdir()):
                raise RunError(tr("{folder} holds other files: choose another --out", folder=self.folder))
            return
        if start == "again":
            return
        if self.finished:
            raise RunError(
                tr(
                    "{folder} holds a finished run: choose another --out, or --overwrite to delete it",
                    folder=self.folder,
                )
            )
        if start == "new":
            raise RunError(
                tr(
                    "{folder} holds an unfinished run: the same command continues it; --overwrite to begin again, or "
                    "choose another --out",
                    folder=self.folder,
                )
            )
        self._refuse_other(settings)

    def save_card(self, plain: Mapping[str, Any], markdown: str) -> None:
        """Save the data card, as JSON and Markdown."""
        _write_json(self.folder / "data_card.json", plain)
        _write(self.folder / "data_card.md", markdown)

    def checkpoint(self) -> Path | None:
        """The last complete checkpoint; None if there is none."""
        complete = [checkpoint for checkpoint in self._checkpoints() if (checkpoint / COMPLETE).is_file()]
        return max(complete, key=_step, default=None)

    def logged(self) -> list[dict[str, Any]]:
        """Return the lines of the log, without an incomplete last one."""
        if not self.log.is_file():
            return []
        # Not splitlines(), which also splits at line separators within a text.
        return [json.loads(line) for line in self.log.read_text("utf-8").split("\n")[:-1]]

    def callback(self) -> TrainerCallback:
        """Return a callback for a trainer of transformers or TRL: it logs here and marks complete checkpoints."""
        return _callback(self)

    def append(self, line: Mapping[str, Any]) -> None:
        """Append a line to the log. NaN and infinite become null, because JSON has no such numbers."""
        plain = {key: _plain(value) for key, value in line.items()}
        with self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n")

    def _refuse_other(self, settings: Any) -> None:
        import yaml

        try:
            before = parse_yaml((self.folder / SETTINGS).read_text("utf-8"))
        except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
            raise RunError(
                tr("{folder}: cannot be read ({error})", folder=self.folder / SETTINGS, error=_line(error))
            ) from error
        now = to_mapping(settings)
        if isinstance(before, dict):
            # A run of an older release lacks settings that are newer; it had their defaults.
            defaults = {field.name: _default(field) for field in dataclasses.fields(settings)}
            before = {name: defaults[name] for name in now if name not in before} | before
        if other := _difference(before, now):
            raise RunError(
                tr(
                    "{folder} holds a run with other settings ({other}): a resumed run keeps its settings",
                    folder=self.folder,
                    other=other,
                )
            )

    def _checkpoints(self) -> list[Path]:
        return [path for path in self.folder.glob("checkpoint-*") if path.name.partition("-")[2].isdigit()]

    def _clear(self) -> None:
        for checkpoint in [*self._checkpoints(), self.traces, self.model]:
            shutil.rmtree(checkpoint, ignore_errors=True)
        for name in _OURS:
            (self.folder / name).unlink(missing_ok=True)

    def _delete_after(self, checkpoint: Path | None) -> None:
        last = _step(checkpoint) if checkpoint else 0
        for folder in self._checkpoints():
            if _step(folder) > last or not (folder / COMPLETE).is_file():
                shutil.rmtree(folder)
        kept = [line for line in self.logged() if line["step"] <= last]
        _write(self.log, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept))


def lineage(model: ModelSettings) -> list[dict[str, Any]]:
    """Return the stages from the base to the start of ``model``: the entries of the run that its adapter or weights
    come from, or the one of a base.
    """
    for given in filter(None, (model.adapter, model.name)):
        for folder in (Path(given).expanduser(), Path(given).expanduser().parent):
            if stages := _read_list(folder / LINEAGE):
                return stages
    return [{"kind": "base", "name": model.name}]


def _here(kind: str, settings: Any) -> dict[str, Any]:
    model = settings.model
    started = {"model": model.name, "adapter": model.adapter, "method": model.method}
    if model.license is not None:
        started["license"] = model.license
    here = {"kind": kind, "name": str(settings.output), "from": started, "seed": settings.seed}
    selected = getattr(settings, "trajectories", None)
    if selected is not None:
        here["trajectories"] = selected
    # A script's traces, which are made when they are needed, have no files.
    for name in ("data", "validation"):
        if named := inputs(getattr(settings, name, ())):
            here[name] = named
    return here


def _callback(run: Run) -> TrainerCallback:
    import torch
    from transformers import TrainerCallback

    class Log(TrainerCallback):  # type: ignore[misc]
        """Logs each step's numbers, with the seconds since the last one, and marks complete checkpoints."""

        def __init__(self) -> None:
            self._since = time.monotonic()

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._since = time.monotonic()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            # At the end a trainer also logs the total time; here a line is a step.
            if not state.is_world_process_zero or not logs or "train_runtime" in logs:
                return
            now = time.monotonic()
            line = {"step": state.global_step, **logs, "seconds": round(now - self._since, 3)}
            if torch.cuda.is_available():
                line["gpu_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
            run.append(line)
            self._since = now

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            if state.is_world_process_zero and checkpoint.is_dir():
                (checkpoint / COMPLETE).touch()

    return Log()


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.partition("-")[2])


def _default(setting: dataclasses.Field[Any]) -> Any:
    """Return the default as a plain value; None for a setting without one."""
    if setting.default_factory is not dataclasses.MISSING:
        return plain(setting.default_factory())
    return None if setting.default is dataclasses.MISSING else plain(setting.default)


def _difference(before: Any, now: Any, where: str = "") -> str:
    """Return the first setting that differs, with both values; empty if none does."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*now, *(key for key in before if key not in now)]:
            inner = _difference(before.get(key), now.get(key), f"{where}.{key}" if where else str(key))
            if inner:
                return inner
        return ""
    return "" if before == now else f"{where}: {before!r:.60} there, {now!r:.60} now"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str | int | float | None):
        return value
    # A number of numpy or torch.
    return _plain(value.item())


def _read_list(path: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return rows if isinstance(rows, list) else []


def _write_json(path: Path, value: Any) -> None:
    _write(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _write(path: Path, text: str) -> None:
    """Write atomically."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(text, "utf-8")
    os.replace(unfinished, path)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
