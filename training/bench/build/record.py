"""The files of a built benchmark: the Parquet files in the layout of SpecVI-Bench, and how it was made.

``build_TASK.json`` (for programs) also lists which source is in which part, so that a later build of another task
in the same folder keeps each source in the same part; ``card_TASK.md`` is for people.
"""

from __future__ import annotations

import json
import os
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from agent import tool
from agent.conversation import SYSTEM
from agent.language import tr
from agent.plot import png_bytes
from agent.tasks import Task
from agent.tool import TOOL_NAME
from training.bench.build import Built, Part, Recipe, Selected
from training.data import DataError

SCHEMA = "spec-o3/bench-build/1"
PARTS: tuple[Part, ...] = get_args(Part)


def file_name(part: Part, task: str) -> str:
    return f"{part}_{task}.parquet"


def build_record(built: Built, recipe: Recipe, weak: Mapping[str, object]) -> dict[str, Any]:
    """Return how the benchmark was made, as JSON values, without time and place."""
    return {
        "schema": SCHEMA,
        "made_by": f"spec-o3 {version('spec-o3')}",
        "recipe": vars(recipe),
        "weak_classifier": dict(weak),
        "candidates": {
            "scored": built.scored,
            "accepted": built.accepted,
            "acceptance": built.acceptance,
            "all_looked_at": built.exhausted,
        },
        "left_out": dict(built.left_out),
        "left_out_examples": built.examples,
        "parts": {part: _part(built, part) for part in PARTS},
        "sources": {part: sorted(selected.entry.source for selected in built.part(part)) for part in PARTS},
    }


def placed(folder: Path, task: str) -> dict[str, Part]:
    """Return the part of each source in the benchmarks of other tasks in ``folder``.

    :raises DataError: a build's JSON is damaged, or there is one of this task already
    """
    parts: dict[str, Part] = {}
    for path in sorted(folder.glob("build_*.json")):
        if path.name == f"build_{task}.json":
            raise DataError(tr("{path}: found a benchmark of this task, expected a folder without one", path=path))
        try:
            sources = json.loads(path.read_text(encoding="utf-8"))["sources"]
            parts |= {str(name): part for part in PARTS for name in sources[part]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(tr("{path}: found no readable build ({error})", path=path, error=error)) from error
    return parts


def markdown(values: Mapping[str, Any], task: Task) -> str:
    """Return the card as Markdown."""
    recipe, weak, candidates = values["recipe"], values["weak_classifier"], values["candidates"]
    lines = [
        f"# {task.title}: a benchmark made with `spec-o3 bench build`",
        "",
        f"{values['made_by']}, seed {recipe['seed']}. SpecVI-Bench's layout: "
        f"`data/{file_name('train', task.key)}` and `data/{file_name('test', task.key)}`.",
        "",
        "| part | YES | NO | of them hard | random | simulated | surveys |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in PARTS:
        row = values["parts"][part]
        surveys = ", ".join(f"{name} {number}" for name, number in row["surveys"].items())
        lines.append(
            f"| {part} | {row['YES']} | {row['NO']} | {row['hard']} | {row['random']} | {row['simulated']} | "
            f"{surveys} |"
        )
    acceptance = candidates["acceptance"]
    rate = "" if acceptance is None else f", {100 * acceptance:.2f} %"
    lines += [
        "",
        f"- Positives: labelled YES, S/N {recipe['snr_min']:g} per pixel or more.",
        f"- Hard negatives: candidates to which the weak classifier gives P(YES) > {recipe['keep']:g}: "
        f"{candidates['accepted']} of {candidates['scored']} scored{rate}.",
        f"- Weak classifier: {_weak_text(weak)}.",
        "- A candidate that the labels do not mention counts as NO. Members of the class that the catalogue "
        "lacks are likely among the hard negatives; check them before trusting a wrong YES.",
        "- No spectrum is in both parts: split by source, and one spectrum under two names is taken once. "
        "Two observations of one object are two spectra.",
    ]
    if values["parts"]["train"]["simulated"] or values["parts"]["test"]["simulated"]:
        lines.append("- **Simulated spectra are among these**, marked in `extra_info.simulated`.")
    lines += ["", "Left out:", ""]
    lines += [f"- {number}: {reason}" for reason, number in values["left_out"].items()] or ["- nothing"]
    return "\n".join(lines) + "\n"


def _part(built: Built, part: Part) -> dict[str, Any]:
    rows: list[Selected] = built.part(part)
    return {
        "YES": sum(row.label == "YES" for row in rows),
        "NO": built.negatives(part),
        "hard": sum(row.negative == "hard" for row in rows),
        "random": sum(row.negative == "random" for row in rows),
        "missing": built.missing(part),
        "simulated": sum(row.simulated for row in rows),
        "surveys": dict(sorted(Counter(row.survey for row in rows).items())),
    }


def _weak_text(weak: Mapping[str, Any]) -> str:
    if weak["kind"] == "predictions":
        return f"the predictions in {weak['file']} (SHA-256 {weak['sha256']})"
    if weak["kind"] == "none":
        return "none, because torch is not installed: no negative is a hard one"
    of = weak["trained_on"]
    return (
        f"a small 1-D network trained on the {of['YES']} training positives against {of['NO']} random "
        f"candidates, which are set aside; F1 {weak['held_out_f1']:.3f} on the fifth it was not trained on"
    )


AGENT = "tool_agent"
_DATA_SOURCES = {"cc": "carbon"}  # the only task whose published name differs from its file's
_GROUP = 64  # rows per row group: about 20 MB uncompressed


def write_parquet(path: Path, rows: Sequence[Selected], task: Task, done: Callable[[], None] = lambda: None) -> None:
    """Write the rows in their order; the file is complete or absent. Spectra are read once more.

    :param done: called after each row
    :raises OSError: it cannot be written
    :raises SpectrumError: a spectrum is not there any more
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    schema = _schema()
    try:
        with pq.ParquetWriter(part, schema, compression="zstd") as file:
            for start in range(0, len(rows), _GROUP):
                group = []
                for selected in rows[start : start + _GROUP]:
                    group.append(row(selected, task))
                    done()
                file.write_table(pa.Table.from_pylist(group, schema))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def row(taken: Selected, task: Task) -> dict[str, Any]:
    """Return one row of the layout, as Python values."""
    spectrum = taken.entry.spectrum()
    redshift = spectrum.redshift if spectrum.frame == "observed" else None
    shown = {
        "flux": spectrum.flux.tolist(),
        "wavelength": spectrum.wavelength.tolist(),
        "redshift": redshift,
    }
    return {
        "images": [{"bytes": png_bytes(tool.overview(spectrum))}],
        "data_source": _DATA_SOURCES.get(task.key, task.key),
        "prompt": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"<image>\n{task.prompt}"},
        ],
        "reward_model": {"ground_truth": taken.label, "type": "rule"},
        "agent_name": AGENT,
        "extra_info": {
            "index": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{task.key} {spectrum.sha256}")),
            "name": taken.entry.source,
            "tools_kwargs": {TOOL_NAME: {"create_kwargs": shown}},
            "spectrum": json.dumps(spectrum.to_json()),
            "survey": taken.survey,
            "snr": taken.snr,
            "simulated": taken.simulated,
            "negative": taken.negative,
            "p": taken.p,
        },
    }


def _schema() -> Any:
    import pyarrow as pa

    text, numbers = pa.string(), pa.list_(pa.float64())
    shown = pa.struct({"flux": numbers, "wavelength": numbers, "redshift": pa.float64()})
    info = {
        "index": text,
        "name": text,
        "tools_kwargs": pa.struct({TOOL_NAME: pa.struct({"create_kwargs": shown})}),
        "spectrum": text,
        "survey": text,
        "snr": pa.float64(),
        "simulated": pa.bool_(),
        "negative": text,
        "p": pa.float64(),
    }
    return pa.schema(
        {
            "images": pa.list_(pa.struct({"bytes": pa.binary()})),
            "data_source": text,
            "prompt": pa.list_(pa.struct({"role": text, "content": text})),
            "reward_model": pa.struct({"ground_truth": text, "type": text}),
            "agent_name": text,
            "extra_info": pa.struct(info),
        }
    )
