"""A collection of labelled real spectra: objects, known answers, and two halves by object.

The collection is a folder with a MANIFEST.csv (columns path, survey, class). ``real_labels.toml`` says which classes
are trusted and why, and which files have another class than their folder. Bounds are chosen on the half ``choose`` and
figures are reported on the half ``report``; all spectra of one object are in one half.
"""

from __future__ import annotations

import csv
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.spectrum import Spectrum, SpectrumError, read_all
from agent.trajectory.steps import Verdict

LABELS = Path(__file__).with_name("real_labels.toml")
Half = Literal["choose", "report"]


@dataclass(frozen=True)
class RealSpectrum:
    """A spectrum of the collection.

    :param answers: the known answer of each task that the label decides
    :param tier: "trusted" or "pipeline"; "unlabelled" for a class without a trusted label
    """

    spectrum: Spectrum
    path: str
    source: str
    label: str
    object: str
    half: Half
    answers: Mapping[str, Verdict]
    tier: str


def real_spectra(folder: Path, tasks: Sequence[str] = (), counts: Counter[str] | None = None) -> Iterator[RealSpectrum]:
    """Yield every readable spectrum of the collection.

    :param tasks: the tasks for which ``answers`` are wanted
    :param counts: gets the number of files used, refused, and without a trusted label
    """
    counted: Counter[str] = Counter() if counts is None else counts
    with LABELS.open("rb") as opened:
        groups = tomllib.load(opened)["group"]
    with (folder / "MANIFEST.csv").open(newline="", encoding="utf-8") as opened_text:
        rows = list(csv.DictReader(opened_text))
    halves = halves_of([(row["class"], object_of(row["path"])) for row in rows])
    for row in rows:
        group = _group_of(row["class"], row["survey"], row["path"], groups)
        undecided = group.get("undecided", []) if group else list(tasks)
        answers: dict[str, Verdict] = {
            task: "YES" if group and task in group.get("yes", []) else "NO" for task in tasks if task not in undecided
        }
        tier = "unlabelled" if group is None else str(group.get("tier", "trusted"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spectra = list(read_all(folder / row["path"]))
        except SpectrumError:
            counted["files refused by the reader"] += 1
            continue
        counted["files of a class without a trusted label" if group is None else "files used"] += 1
        name = object_of(row["path"])
        for spectrum in spectra:
            yield RealSpectrum(spectrum, row["path"], row["survey"], row["class"], name, halves[name], answers, tier)


def object_of(path: str) -> str:
    """Return the name of the object in a file of the collection: phases, formats and arms of one object share it."""
    source, name = path.split("/")[0], path.split("/")[-1].lower()
    if source in ("int_ids_j1948", "ugem_halpha_text"):
        return source
    if source == "ctio_novae":
        # The letter at the end of the first word counts the epochs of a nova.
        return name.split("_")[0][:-1]
    known = re.search(r"at201\d[a-z]{2,3}|lds749b|hz_?21|j015437|feige_?110|gd_?71|g191b2b", name)
    if known:
        return known[0].replace("_", "")
    return re.sub(r"(\.(fits?|gz|txt|dat|csv|ascii|asci|spec|json|oke|bdf))+$|_[bru]\.bdf\.ascii$", "", name)


def halves_of(objects: Sequence[tuple[str, str]]) -> dict[str, Half]:
    """Split objects, given as (class, object), alternately in the order of their classes and names."""
    halves: dict[str, Half] = {}
    for _, name in sorted(set(objects)):
        if name not in halves:
            halves[name] = "report" if len(halves) % 2 == 0 else "choose"
    return halves


def _group_of(
    name: str, source: str, path: str, groups: Sequence[Mapping[str, list[str]]]
) -> Mapping[str, list[str]] | None:
    """Return the group that names the file; else the first one of its class and source."""
    for group in groups:
        if path in group.get("files", []):
            return group
    for group in groups:
        if name in group.get("classes", []) and source in group.get("sources", [source]):
            return group
    return None
