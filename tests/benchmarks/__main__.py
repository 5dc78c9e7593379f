"""Run the benchmarks, each in its own process, and write docs/measurements.md and its plots.

    python -m tests.benchmarks [--spectra FOLDER] [--only NAME ...] [--keep FOLDER]

Results are kept as JSON with machine, date, versions and command. ``--spectra`` has labelled survey files and a
MANIFEST.csv. With ``--keep`` the same command resumes a run that was ended: measured sections, and the shards of
those that have any, are read from that folder. Use another folder after a change of the program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import results
from tests.benchmarks.results import (
    DOCUMENT,
    ROOT,
    VARIABLE,
    Block,
    command_line,
    conditions,
    keep,
    kept,
    write_document,
)

PICTURES = DOCUMENT.parent / "images"
SPECTRA = "SPECTRA"
KEPT = "KEPT"
"""In a command: a path of its own, with which the benchmark resumes."""


@dataclass(frozen=True)
class Section:
    """Heading, introduction, command and plot of a benchmark."""

    name: str
    title: str
    about: str
    command: tuple[str, ...]
    plot: results.Plot | None = None


SECTIONS = (
    Section(
        "readers",
        "Reading real survey files",
        "Real files against a manifest of wavelength ranges: read to that range, refused with a sentence, or "
        "wrong (another range). Best of three readings per file, median over files. "
        "`tests/agent/spectrum/test_readers_real.py` names the files whose manifest is wrong. Then made files, ours "
        "against astropy in turn, so that both meet the same load.",
        ("-m", "tests.benchmarks.readers", SPECTRA),
    ),
    Section(
        "coadd",
        "One target of a large DESI coadd",
        "A made-up file, in ms; one target is read without its neighbours.",
        ("-m", "tests.benchmarks.coadd"),
    ),
    Section(
        "draw",
        "Drawing a picture",
        "The published tool's pixels, on one core.",
        ("-m", "tests.benchmarks.draw"),
        results.PICTURES,
    ),
    Section(
        "loop",
        "The agent besides its model",
        "A policy that answers at once. Goal: 10 ms per turn besides the model.",
        ("-m", "tests.benchmarks.loop"),
    ),
    Section(
        "vllm",
        "What the agent leaves of vLLM's throughput",
        "A tiny Qwen2.5-VL behind vLLM on the CPU, with a core of its own; then the same requests without an "
        "agent, and vLLM's own benchmark with as many requests of the same mean token counts. Goal: 90 %. Not "
        "measured on a GPU.",
        ("-m", "tests.benchmarks.models.vllm"),
    ),
    Section(
        "client",
        "What the client costs besides the model",
        "CPU time of the client for three tool calls and an answer per spectrum: reading, drawing, encoding, "
        "requests, parsing, result line. A server process answers at once, in the last table at the pace of vLLM with "
        "a 7B on one H200. Goals: 40 ms per spectrum; pictures sent at most 1.3 times; a share of 95 %.",
        ("-m", "tests.benchmarks.models.client"),
    ),
    Section(
        "next",
        "The next item in the browser",
        "From key press to painted spectrum and trace, in ms; headless Chromium, software rendering. Goal: 150 ms "
        "at the 95th percentile, also with filters and with 20 people.",
        ("-m", "tests.benchmarks.next_item"),
        results.NEXT_ITEM,
    ),
    Section(
        "live",
        "Live vetting in the browser",
        "From the key press that starts a run to what is painted, in ms (headless Chromium, software rendering); "
        "then a live run against the bare loop. The model server answers at once and shares the cores.",
        ("-m", "tests.benchmarks.live_page"),
    ),
    Section(
        "blind",
        "A blind scoring session",
        "Six scorers, 100 traces scored and compared in pairs. *Open an item*: the sheet and its spectrum over HTTP.",
        ("-m", "tests.benchmarks.people.blind_session"),
    ),
    Section(
        "people-ordered",
        "The queue ordered by value of information",
        "What a person waits for the next item of a task, and others while P(YES) of all its items is recorded.",
        ("-m", "tests.benchmarks.people.ordered_queue"),
    ),
    Section(
        "start",
        "Starting the app",
        "Over a large database, until the app answers and until the first item is painted. Goal: 5 s; 1.5 s of it "
        "are Gradio's import, which writes stub files.",
        ("-m", "tests.benchmarks.app_start"),
    ),
    Section(
        "edit",
        "Editing",
        "From key press, or the end of a drag, until the page shows the result. Goal: 100 ms.",
        ("-m", "tests.benchmarks.editing"),
    ),
    Section(
        "view",
        "The interactive spectrum",
        "What drawing costs the browser, alone on a page.",
        ("-m", "tests.benchmarks.spectrum_view"),
    ),
    Section(
        "store",
        "annotations.db",
        "What a reviewer waits for.",
        ("-m", "tests.benchmarks.store", "--items", "100", "10000", "100000"),
        results.STORE,
    ),
    Section(
        "sky",
        "What catalogues know",
        "Records of catalogues and the panel of a spectrum, over HTTP, among so many records. Goal: 150 ms.",
        ("-m", "tests.benchmarks.store", "--sky", "1000000"),
    ),
    Section(
        "catalogue",
        "A catalogue for a paper",
        "Of 100,000 selected items, most of them left out; then with all pictures.",
        ("-m", "tests.benchmarks.scale.catalogue"),
    ),
    Section(
        "bulk",
        "Much at once",
        "Runs of the program over simulated spectra, its start included. Memory: all its processes, what they "
        "share counted in each.",
        ("-m", "tests.benchmarks.bulk"),
        results.BULK,
    ),
    Section(
        "people-queries",
        "A million items: queue, search, Progress, Library",
        "Calls of the store. Goals: 150 ms for the next item, 1 s for Progress and Library.",
        ("-m", "tests.benchmarks.people.queries", "--db-dir", KEPT),
    ),
    Section(
        "people-find",
        "Search of texts among 100,000 traces",
        "Server time for a page of results, the next items and the place of an item, snippets included. Goal: 150 "
        "ms at the 95th percentile.",
        ("-m", "tests.benchmarks.people.find", "--db-dir", KEPT),
    ),
    Section(
        "people-import",
        "Import of a million drafts while a person works",
        "`spec-o3 import`, and the waits of another person's decisions. Goal: 150 ms at the 95th percentile.",
        ("-m", "tests.benchmarks.people.imports"),
    ),
    Section(
        "people-bulk",
        "Many items at once",
        "Preview, action and undo of items sampled from 100,000 traces. Goal: 2 s of processor time for 5,000 "
        "items. An action is one transaction, for which other writes wait.",
        ("-m", "tests.benchmarks.people.bulk", "--db-dir", KEPT),
    ),
    Section(
        "scale-planning",
        "Ten million spectra planned and resumed",
        "A catalogue of paths, and a results folder that lacks one spectrum in a thousand. Goals: 60 s and 1 GB.",
        ("-m", "tests.benchmarks.scale.planning"),
    ),
    Section(
        "scale-workers",
        "Workers on Ray",
        "The baseline over simulated spectra in Parquet files, task carbon stars.",
        ("-m", "tests.benchmarks.scale.workers", "--folder", KEPT),
    ),
    Section(
        "inspect",
        "Ten thousand spectra inspected",
        "The baseline over simulated spectra with two processes, as above.",
        ("-m", "tests.benchmarks.bulk", "--sizes", "--inspect", "10000"),
    ),
    Section(
        "size",
        "Size of the database",
        "1,000 trajectories, each on a spectrum of its own.",
        ("-m", "tests.benchmarks.store", "--size", f"{SPECTRA}/lamost"),
    ),
    Section(
        "baseline",
        "The baseline",
        "Answers and F1 of a rule without a model; `docs/baseline.md` describes the sets.",
        ("-m", "tests.benchmarks.baseline", "--seeds", "4", "--real", SPECTRA),
    ),
    Section(
        "hints",
        "Hints",
        "Precision and recall of each kind of hint on labelled real spectra; `docs/hints.md` says how they are "
        "counted.",
        ("-m", "tests.benchmarks.hints", SPECTRA),
    ),
    Section(
        "templates",
        "Templates",
        "Class of the best bundled template for labelled real spectra, without templates of the same object; "
        "velocities of the same spectra shifted by known amounts; time on one core.",
        ("-m", "tests.benchmarks.templates", SPECTRA),
    ),
)


ORDER = (*(section.name for section in SECTIONS), "load", "kills", "bulk-kills", "survey-kills", "bad-input")
"""Order of the sections in the document; the last are the trials of ``python -m tests.soak``."""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--spectra", type=Path, metavar="FOLDER", help="real files with a MANIFEST.csv")
    names = [s.name for s in SECTIONS]
    parser.add_argument("--only", nargs="+", choices=names, help="measure only these sections again")
    parser.add_argument("--plots", action="store_true", help="measure nothing, draw the plots again")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what is measured there; the run resumes")
    chosen = parser.parse_args()
    for section in SECTIONS:
        if not chosen.plots and (chosen.only is None or section.name in chosen.only):
            print(f"{section.title} ...", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as temporary:
                keep(section.name, measured(section, chosen.spectra, chosen.keep or Path(temporary)))
        _draw(section)
        write_document(ORDER)


def measured(section: Section, spectra: Path | None, folder: Path) -> dict[str, Any]:
    """Run a section's benchmark and return the section; its output also goes to standard output.

    :param folder: where the section is kept; if it is there, nothing is run
    """
    file = folder.absolute() / f"{section.name}.json"
    if file.exists():
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found
    if spectra is None and any(part.startswith(SPECTRA) for part in section.command):
        return entry(section, [{"text": "Not run: it needs a folder of real files (`--spectra`)."}])
    file.parent.mkdir(parents=True, exist_ok=True)
    parts = (part.replace(KEPT, str(file.with_suffix(".parts"))) for part in section.command)
    status, blocks = _run([part.replace(SPECTRA, str(spectra)) for part in parts])
    made = entry(section, blocks)
    if status == 0:
        file.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
    return made


def entry(section: Section, blocks: list[Block]) -> dict[str, Any]:
    """Return the section as it is kept, with its command and the present conditions."""
    command = " ".join(("python", *section.command)).replace(SPECTRA, "FOLDER").replace(KEPT, "PARTS")
    return {
        "title": section.title,
        "about": section.about,
        "command": command,
        "conditions": conditions(),
        "blocks": blocks,
    }


def _run(command: list[str]) -> tuple[int, list[Block]]:
    """Return the exit status of a benchmark and its blocks."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: str(file)}
        done = subprocess.run(
            [sys.executable, *command], stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment, check=False
        )
        if done.returncode:
            return done.returncode, [
                {"text": f"Failed with exit status {done.returncode}:\n\n```\n{done.stderr[-2000:]}\n```"}
            ]
        blocks: list[Block] = json.loads(file.read_text(encoding="utf-8"))
        return 0, blocks


def _draw(section: Section) -> None:
    """Draw a section's plot, if it has a plot and results."""
    found = kept(section.name)
    if section.plot is None or found is None:
        return
    file = results.drawn(section.plot, found["blocks"], PICTURES)
    keep(section.name, {**found, "plot": [f"![{section.plot.caption}]({PICTURES.name}/{file})"] if file else []})


if __name__ == "__main__":
    main()
