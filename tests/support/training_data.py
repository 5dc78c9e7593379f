"""Small training data as published and as exported, and rollouts without a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from agent import tool
from agent.json_lines import json_line
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Trajectory
from agent.trajectory.steps import Verdict
from reviewer.exchange.exports import export
from reviewer.exchange.imports import own_row
from tests.support.drawn_traces import PROMPT, a_spectrum, a_store, a_trace, add_approved
from training.bench.outcomes import Outcome
from training.data.records import Question
from training.grpo.rollout import GeneratedTurn, Request
from training.render import ASSISTANT, Renderer

SYSTEM = "You are a helpful assistant."
WAVELENGTH = np.round(10 ** np.linspace(np.log10(3700.0), np.log10(9000.0), 60), 3)


def lamost_name(number: int) -> str:
    """A file name in LAMOST's form, as in both published sets."""
    return f"spec-56414-HD161547N531412F01_sp07-{number:03d}.fits.gz"


def specvi_row(number: int, data_source: str = "cv", **changes: Any) -> dict[str, Any]:
    given = {"flux": (WAVELENGTH * 0 + number + 0.5).tolist(), "wavelength": WAVELENGTH.tolist()}
    row = {
        "images": [{"bytes": b"not looked at", "path": None}],
        "data_source": data_source,
        "prompt": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"<image>\nThe published words about {data_source}.\n\nGuide."},
        ],
        "reward_model": {"ground_truth": "YES" if number % 2 else "NO", "type": "rule"},
        "agent_name": "tool_agent",
        "extra_info": {
            "index": f"0000-{number}",
            "name": lamost_name(number),
            "tools_kwargs": {tool.TOOL_NAME: {"create_kwargs": {**given, "redshift": None if number % 3 else 0.01}}},
        },
    }
    return row | changes


def write_predictions(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write a file for ``bench table``, as a specialist does."""
    path.write_text("".join(json_line(outcome.to_json()) for outcome in outcomes), "utf-8")


def specvi_file(path: Path, rows: Sequence[dict[str, Any]], group: int = 1000) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=group)
    return path


def published_folder(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """``train_sharegpt.json`` and its pictures, one colour each."""
    (folder / "images").mkdir(parents=True)
    (folder / "train_sharegpt.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    for number, path in enumerate(sorted({path for row in rows for path in row["images"]})):
        Image.new("RGBA", (40, 30), (number, 0, 0, 255)).save(folder / path)
    return folder


def published_set(folder: Path, numbers: Sequence[int]) -> Path:
    """Write a published folder with rows for these numbers; the even ones are not CVs."""
    rows = []
    for number in numbers:
        trace = a_trace(a_spectrum(lamost_name(number)), "YES" if number % 2 else "NO", faults=())
        paths = [f"images/lf_cv_{number}_{k}.png" for k in range(len(trace.pictures))]
        row = trace.to_sharegpt(paths) | {"ground_truth": "YES" if number % 2 else "NO"}
        ours = ("task", "redshift", "frame", "z", "medium", "spectrum_sha256", "drafter_kind", "drafter_name")
        rows.append({key: value for key, value in row.items() if key not in (*ours, "simulated", "label_source")})
    return published_folder(folder, rows)


def own_lines(path: Path, *traces: tuple[Trajectory, Spectrum | None], **more: Any) -> Path:
    path.write_text("".join(json.dumps(own_row(t, s) | more) + "\n" for t, s in traces), encoding="utf-8")
    return path


def an_export(folder: Path, name: str = "one", verdicts: Sequence[Verdict] = ("YES", "NO")) -> Path:
    """Export through the reviewer's own code: one approved trace per verdict, each on its own spectrum."""
    with a_store(folder / f"{name}.db") as store:
        spectra = [a_spectrum(f"{name}-{n}.fits") for n in range(len(verdicts))]
        add_approved(store, *((a_trace(s, v), s) for s, v in zip(spectra, verdicts, strict=True)))
        return export(store, name, folder=folder).folder


__all__ = [
    "PROMPT",
    "an_export",
    "lamost_name",
    "own_lines",
    "own_row",
    "published_folder",
    "published_set",
    "specvi_file",
    "specvi_row",
]


_MARKS = re.compile(r"<\|[a-z_]+\|>|.", re.DOTALL)


class Letters:
    """Tokenizer in which every letter and every ``<|mark|>`` is a token; ids are in order of first use."""

    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._ids: dict[str, int] = {}

    def convert_tokens_to_ids(self, given: str | list[str]) -> int | list[int]:
        return self._id(given) if isinstance(given, str) else [self._id(token) for token in given]

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [self._id(token) for token in _MARKS.findall(text)]

    def decode(self, ids: Sequence[int], clean_up_tokenization_spaces: bool = True) -> str:
        return "".join(self._tokens[number] for number in ids)

    def _id(self, token: str) -> int:
        if token not in self._ids:
            self._ids[token] = len(self._tokens)
            self._tokens.append(token)
        return self._ids[token]


def renderer() -> Renderer:
    """A renderer in which pictures have one token per 100 x 100 pixels."""
    counted = SimpleNamespace(
        merge_size=1, get_number_of_image_patches=lambda height, width, _: -(-height // 100) * -(-width // 100)
    )
    return Renderer(SimpleNamespace(tokenizer=Letters(), image_processor=counted))


Script = Callable[[str, int], str]
"""Returns the text of a turn, given the conversation so far and the number of the turn (from 1)."""


class Scripted:
    """Generator that follows a script; ``asked`` has the number of turns per call."""

    def __init__(self, made: Renderer, script: Script, logprobs: bool = False) -> None:
        self.asked: list[int] = []
        self.requests: list[Request] = []
        self._tokenizer = made.processor.tokenizer
        self._script = script
        self._logprobs = logprobs
        end = self._tokenizer.convert_tokens_to_ids("<|im_end|>")
        self.ends = frozenset([end])
        self._end = end

    def any_waiting(self, waiting: int) -> bool:
        return waiting > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        self.asked.append(len(requests))
        self.requests += requests
        return [self._written(request) for request in requests]

    def _written(self, request: Request) -> GeneratedTurn:
        text = self._tokenizer.decode(request.so_far.ids)
        written = self._script(text, text.count(ASSISTANT))
        ids = (*self._tokenizer.encode(written), self._end)[: request.limit]
        return GeneratedTurn(ids, tuple(-0.1 * n for n in range(len(ids))) if self._logprobs else None)


def star(kind: str = "cv", seed: int = 1) -> Spectrum:
    return simulate(kind, "LAMOST", 20.0, seed=seed)


def question(task: str = "cv", kind: str = "cv", label: Verdict = "YES", seed: int = 1) -> Question:
    """A question about a simulated spectrum."""
    name = f"{kind}-{seed}"
    return Question(name, name, load()[task], label, "simulated LAMOST", 20.0, True, lambda: star(kind, seed))
