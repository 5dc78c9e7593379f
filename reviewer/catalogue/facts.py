"""The facts of a catalogue: read once from the database and written to ``data/``; all else is derived from these files.

``campaign.json`` says what was selected, by which rules, with which certificates and programs. ``items.jsonl`` has a
line per selected item, ``spectra.jsonl`` per spectrum that is in the catalogue, ``sky.jsonl`` per record of a
catalogue about such a spectrum.
"""

from __future__ import annotations

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from agent.errors import Refusal
from agent.language import tr
from agent.sky.records import Sky, record_from
from agent.spectrum import Spectrum
from agent.spectrum.objects import Identity
from agent.tasks import Task
from agent.trajectory import Trajectory
from reviewer.pictures import as_stated
from reviewer.rules.inspection import Merged
from reviewer.rules.workflow import REASONS, WITHDRAWALS
from reviewer.store import LARGEST_ID, QueueFilter, Store
from reviewer.store.team.views import View
from reviewer.store.trust_values import StoredCase
from reviewer.trust.certificates import listed

SCHEMA = "spec-o3/catalogue/1"
DATA = "data"
CAMPAIGN, ITEMS, SPECTRA, SKY = (
    f"{DATA}/{name}" for name in ("campaign.json", "items.jsonl", "spectra.jsonl", "sky.jsonl")
)
PACKAGES = ("spec-o3", "numpy", "scipy", "astropy", "matplotlib", "cdspyreadme")
"""Whose versions are stated: what calculates, draws and writes."""
_PERSONAL = ("mine", "words", "discussed")
"""Parts of a filter by which people see different items."""

HIDDEN = "in a blind session of the person who made the catalogue"
"""Why an item is left out that a person may not see."""

Json = dict[str, Any]


class CatalogueError(Refusal, ValueError):
    """A catalogue that cannot be made or read: what was found, what was expected."""

    kind = "catalogue"
    status = 409


@dataclass(frozen=True)
class Wish:
    """What a catalogue is to be made of.

    :param view: number of a saved view that selects items; None: all items of the task
    :param simulated: simulated spectra may become rows
    :param title: "": made of the title of the task
    :param licence: of the catalogue, an SPDX identifier or an address; "": not stated
    """

    task: Task
    view: int | None = None
    simulated: bool = False
    title: str = ""
    authors: tuple[str, ...] = ()
    licence: str = ""


@dataclass(frozen=True)
class Facts:
    """The files of a folder ``data/``, checked for their form."""

    folder: Path
    campaign: Json = field(repr=False)
    items: tuple[Json, ...] = field(repr=False)

    @classmethod
    def read(cls, folder: Path) -> Facts:
        """Read the facts of the bundle ``folder``.

        :raises CatalogueError: a file is missing or damaged
        """
        campaign = next(_lines(folder / CAMPAIGN))
        if campaign.get("schema") != SCHEMA:
            schema = campaign.get("schema")
            raise CatalogueError(
                tr(
                    "{path}: schema: found {found!r:.60}, expected {expected!r}",
                    path=CAMPAIGN,
                    found=schema,
                    expected=SCHEMA,
                )
            )
        return cls(folder, campaign, tuple(_lines(folder / ITEMS)))

    @property
    def rows(self) -> Iterator[Json]:
        """The items that are in the catalogue."""
        return (item for item in self.items if not item["out"])

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where the line of each spectrum begins, so that only those in use are in memory."""
        places = {}
        with (self.folder / SPECTRA).open("rb") as file:
            start = 0
            for line in file:
                places[_parsed(line, SPECTRA)["sha256"]] = start
                start += len(line)
        return places

    def spectrum(self, item: Mapping[str, Any]) -> Spectrum:
        """Return the spectrum of an item of the catalogue, with the medium and redshift that were reviewed."""
        sha256 = item["spectrum"]
        if sha256 not in self._places:
            raise CatalogueError(tr("{path}: found no spectrum {sha256:.12}…", path=SPECTRA, sha256=sha256))
        with (self.folder / SPECTRA).open("rb") as file:
            file.seek(self._places[sha256])
            spectrum = Spectrum.from_json(_parsed(file.readline(), SPECTRA)["spectrum"])
        if spectrum.sha256 != sha256:
            raise CatalogueError(
                tr(
                    "{path}: the spectrum {sha256:.12}… has other contents than its hash says",
                    path=SPECTRA,
                    sha256=sha256,
                )
            )
        trace = Trajectory.from_json(item["trace"])
        return replace(as_stated(spectrum, trace), redshift=trace.redshift)

    @cached_property
    def skies(self) -> dict[str, Sky]:
        """What catalogues know, by spectrum."""
        records = defaultdict(list)
        for line in _lines(self.folder / SKY):
            records[line["spectrum"]].append(record_from(json.dumps(line["record"]), SKY))
        return {sha256: Sky.of(of) for sha256, of in records.items()}


def identity(item: Mapping[str, Any]) -> Identity:
    """Return what the file of an item says of the object."""
    names = tuple((catalogue, name) for catalogue, name in item["names"])
    return Identity(names, item["ra"], item["dec"], item["file"])


def collect(
    store: Store,
    wish: Wish,
    folder: Path,
    person: str | None = None,
    on_step: Callable[[], object] = lambda: None,
) -> None:
    """Read the facts from the database and write them to ``folder/data``; the database is not changed.

    :param person: who makes the catalogue (initials): items that they score in a blind session are left out; None: the
        owner of the file
    :param on_step: called now and then; what it raises ends the work
    :raises CatalogueError: the view depends on the person, or no item is in the catalogue
    :raises NotFound: there is no such view, or it is not shared with the person
    """
    view = None if wish.view is None else store.views.get(person, wish.view)
    selected = store.queue.neighbours(0, _query(view, wish.task), "", LARGEST_ID)
    hidden = frozenset() if person is None else frozenset(store.blind.scoring.hidden_items(person))
    cases = {case.item: case for case in store.trust.cases(wish.task.key)}
    decisions = _decisions(store)
    out = {item: _why_out(cases.get(item), decisions.get(item, ()), wish, item in hidden) for item in selected}
    rows = [item for item in selected if not out[item]]
    if not rows:
        raise CatalogueError(_nothing(out))
    hashes = [cases[item].spectrum_sha256 or "" for item in selected if item in cases]
    known, dates = store.objects.identities(hashes), store.objects.dates(hashes)
    names: dict[int, str] = {}
    for start in range(0, len(selected), 1000):
        on_step()
        names |= {row.item_id: row.name for row in store.queue.rows(selected[start : start + 1000])}
    drafted = dict(store.trust.trajectories(rows))
    inspected = {item.item_id: item.merged for item in store.inspections.of_items(rows)}

    (folder / DATA).mkdir(parents=True)
    with (folder / ITEMS).open("w", encoding="utf-8", newline="\n") as lines:
        for item in selected:
            case = None if item in hidden else cases.get(item)
            sha256 = case and case.spectrum_sha256
            about = known.get(sha256 or "", Identity())
            line = {
                "item": item,
                "name": "" if item in hidden else names[item],
                "out": out[item],
                "spectrum": sha256,
                "mjd": dates.get(sha256 or ""),
                "names": about.names,
                "ra": about.ra,
                "dec": about.dec,
                "file": about.file,
            }
            if case is not None and case.decided_at is not None:
                line |= {"decided_at": case.decided_at.isoformat(), "decisions": decisions.get(item, [])}
            if not out[item] and case is not None:
                line |= _reviewed(store, case, drafted[item], inspected.get(item))
            lines.write(_line(line))
    with (folder / SPECTRA).open("w", encoding="utf-8", newline="\n") as lines:
        of_rows = list(dict.fromkeys(cases[item].spectrum_sha256 or "" for item in rows))
        for sha256 in of_rows:
            on_step()
            spectrum = replace(store.spectra.get(sha256), model=None, exposures=())
            lines.write(_line({"sha256": sha256, "spectrum": spectrum.to_json()}))
    with (folder / SKY).open("w", encoding="utf-8", newline="\n") as lines:
        for sha256 in of_rows:
            for record in store.sky.of(sha256):
                lines.write(_line({"spectrum": sha256, "record": record.to_json()}))
    (folder / CAMPAIGN).write_text(_line(_campaign(store, wish, view, cases, rows), indent=1), encoding="utf-8")


def _query(view: View | None, task: Task) -> QueueFilter:
    query = QueueFilter() if view is None else view.query
    if personal := [name for name in _PERSONAL if getattr(query, name)]:
        raise CatalogueError(
            tr(
                "The view {name} selects by {fields}, which shows each person other items. Save its present items as a "
                "list, and use that.",
                name=view.name if view else "",
                fields=", ".join(personal),
            )
        )
    if query.task not in (None, task.key):
        raise CatalogueError(
            tr("The view selects items of the class {found}, expected {task}.", found=query.task, task=task.key)
        )
    return replace(query, task=task.key)


def _decisions(store: Store) -> dict[int, list[Json]]:
    """Return the decisions in force on each item, oldest first, without comments and times."""
    of: defaultdict[int, list[Json]] = defaultdict(list)
    for row in store.statistics.decisions():
        if row["undone"] == "no" and row["verb"] not in WITHDRAWALS:
            kept = ("round", "person", "verb", "reason", "verdict", "version")
            of[row["item"]].append({name: row[name] for name in kept})
    return of


def _why_out(case: StoredCase | None, decisions: Sequence[Json], wish: Wish, hidden: bool) -> str:
    """Return why an item is no row of the catalogue, in English; "": it is a row."""
    if case is None:
        return "withdrawn from the campaign"
    if hidden:
        return HIDDEN
    if case.simulated and not wish.simulated:
        return "simulated spectrum"
    if case.state == "rejected":
        reason = next((row["reason"] for row in reversed(decisions) if row["verb"] == "reject"), "")
        return f"trace rejected: {REASONS[reason].lower()}" if reason in REASONS else "trace rejected"
    if case.state == "cannot tell":
        return "people cannot tell from these data"
    if case.state != "approved":
        return f"not decided yet: {case.state}"
    if case.approved != "YES":
        return "decided: not of the class" if case.approved == "NO" else "approved without YES or NO"
    return "" if case.spectrum_sha256 else "no spectrum stored, only pictures"


def _nothing(out: Mapping[int, str]) -> str:
    reasons = "; ".join(f"{n} {reason}" for reason, n in sorted(Counter(out.values()).items()))
    return tr(
        "found no item that was approved with YES, of {n} selected ({reasons}); expected at least one",
        n=len(out),
        reasons=reasons or tr("none"),
    )


def _reviewed(store: Store, case: StoredCase, drafted: Trajectory, merged: Merged | None) -> Json:
    """Return what is known of an item of the catalogue: the trace as approved, and what gave which verdict."""
    item = store.items.get(case.item)
    trace = item.version.trajectory
    quality = (
        {}
        if merged is None
        else {
            "z": merged.z,
            "quality": merged.quality,
            "issues": merged.issues,
            "spectype": merged.spectype,
            "people": list(merged.people),
            "conflict": list(merged.conflict),
        }
    )
    return {
        "trace": trace.to_json(),
        "version": {"number": item.version.number, "content_hash": item.version.content_hash},
        "disagreement": item.standing.disagreement,
        "drafter": {"kind": case.drafter_kind, "name": case.drafter_name},
        "drafted": drafted.answer.verdict if drafted.answer else None,
        "simulated": case.simulated,
        "snr": case.snr,
        "survey": case.survey,
        "chosen": case.plan is not None,
        "p_yes": case.p_yes,
        "reasons": case.reasons,
        "features": case.features,
        "score_model": case.model,
        "inspection": quality,
    }


def _campaign(
    store: Store, wish: Wish, view: View | None, cases: Mapping[int, StoredCase], rows: Sequence[int]
) -> Json:
    selection: Json = {"task": wish.task.key, "view": None, "simulated": wish.simulated}
    if view is not None:
        selection["view"] = {"number": view.id, "name": view.name, "items": view.items, "filter": dict(view.filter)}
    decided = [case.decided_at for case in cases.values() if case.decided_at is not None]
    return {
        "schema": SCHEMA,
        "title": wish.title or f"Catalogue of {wish.task.title}",
        "authors": list(wish.authors),
        "licence": wish.licence,
        "task": {
            "key": wish.task.key,
            "title": wish.task.title,
            "question": wish.task.question,
            "references": dict(wish.task.references),
            "features": [asdict(feature) for feature in wish.task.features],
        },
        "selection": selection,
        "rules": asdict(store.settings.rules()),
        "decided_until": max(decided).isoformat() if decided else "",
        "certificates": [
            {
                "file": entry.path.name,
                "suspended": entry.suspension is not None,
                "certificate": entry.certificate.to_json(),
            }
            for entry in listed(store.path, wish.task.key)
            if entry.certificate is not None
        ],
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions of the programs that calculate, draw and write."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _line(value: Mapping[str, Any], indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, indent=indent) + "\n"


def _lines(path: Path) -> Iterator[Json]:
    """Yield the objects of a file. :raises CatalogueError: it is missing or damaged"""
    try:
        if path.suffix == ".json":
            yield _parsed(path.read_bytes(), path.name)
            return
        with path.open("rb") as file:
            for line in file:
                yield _parsed(line, path.name)
    except OSError as error:
        raise CatalogueError(
            tr("{path}: {reason}; expected a file of `spec-o3 catalogue`", path=path, reason=error.strerror)
        ) from error


def _parsed(line: bytes, name: str) -> Json:
    try:
        value = json.loads(line)
        if isinstance(value, dict):
            return value
    except (ValueError, RecursionError):
        pass
    raise CatalogueError(tr("{path}: found {line!r:.60}, expected a JSON object per line", path=name, line=line))
