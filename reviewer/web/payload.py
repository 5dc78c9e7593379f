"""What the Review page gets about an item; what the person must not see yet is left out."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from pydantic import TypeAdapter

from agent import lines
from agent.hints.disturbances import fault_lines
from agent.language import deferred, localized, tr
from agent.spectrum import Spectrum, account
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trajectory.steps import step_to_json
from reviewer.rules.people import Person
from reviewer.rules.workflow import REASONS, VERBS, Decision, Rules, Standing, judges_independently, refusal
from reviewer.store import Autosave, Item, Mark, NotFound, QueueRow, Store
from reviewer.store.team.finding import Shared
from reviewer.trials import result_json
from reviewer.web.models import evidence
from reviewer.web.models import item as answers
from reviewer.web.models.queue import Drafter, ListedRow
from reviewer.web.models.queue import QueueRow as ShownRow
from reviewer.web.verdict_first import neutral_row, neutral_trajectory, shows_names


def links(spectrum: Spectrum) -> list[dict[str, str]]:
    """``[{"name", "url"}]``: Gaia DR3 (VizieR I/355) around the position, the survey's page. They tell no class; of
    SIMBAD see ``simbad``."""
    addresses = []
    if spectrum.ra is not None and spectrum.dec is not None:
        place = f"{spectrum.ra:.6f} {spectrum.dec:+.6f}"
        gaia = urlencode({"-source": "I/355/gaiadr3", "-c": place, "-c.rs": 10, "-out.add": "_r"})
        addresses.append({"name": "Gaia", "url": f"https://vizier.cds.unistra.fr/viz-bin/VizieR-4?{gaia}"})
    page = _survey_page(spectrum)
    if page and not spectrum.meta.get("simulated"):
        addresses.append({"name": spectrum.survey, "url": page})
    return addresses


def simbad(ra: float, dec: float) -> str:
    """Return the address of SIMBAD around a position (degrees, ICRS), which tells names and types."""
    query = urlencode({"Coord": f"{ra:.6f} {dec:+.6f}", "Radius": 10, "Radius.unit": "arcsec"})
    return f"https://simbad.cds.unistra.fr/simbad/sim-coo?{query}"


def _simbad_for(store: Store, item: Item, person: Person) -> str | None:
    sha256 = item.row.spectrum_sha256
    place = None if sha256 is None else store.spectra.position(sha256)
    if sha256 is None or place is None:
        return None
    rows = [item.row, *store.queue.rows_of_spectrum(sha256)]
    return simbad(*place) if shows_names(store, person, rows) else None


def _survey_page(spectrum: Spectrum) -> str | None:
    ids, survey = spectrum.ids, spectrum.survey.upper()
    # An obsid holds from release to release; some early files carry a negative one, which no page knows.
    if survey.startswith("LAMOST") and ids.get("obsid", "").isdigit():
        return "https://www.lamost.org/dr10/v2.0/spectrum/view?" + urlencode({"obsid": ids["obsid"]})
    if survey.startswith("SDSS") and ids.get("plate-mjd-fiber", "").count("-") == 2:
        plate, mjd, fiber = ids["plate-mjd-fiber"].split("-")
        query = urlencode({"plate": plate, "mjd": mjd, "fiber": fiber})
        return f"https://skyserver.sdss.org/dr18/VisualTools/explore/summary?{query}"
    if survey.startswith("DESI") and ids.get("targetid"):
        return f"https://www.legacysurvey.org/viewer/desi-spectrum/dr1/targetid{ids['targetid']}"
    return None


def sexagesimal(ra: float, dec: float) -> str:
    """Return a position (degrees, ICRS) as ``19 48 27.70 -13 17 34.0``, to paste into a search form."""
    tenths_s = round((ra % 360) / 15 * 3600 * 100)
    hours, rest = divmod(tenths_s, 360_000)
    minutes, seconds = divmod(rest, 6_000)
    sign = "-" if dec < 0 else "+"
    tenths = round(abs(dec) * 3600 * 10)
    degrees, rest = divmod(tenths, 36_000)
    arcmin, arcsec = divmod(rest, 600)
    right = f"{hours % 24:02d} {minutes:02d} {seconds / 100:05.2f}"
    return f"{right} {sign}{degrees:02d} {arcmin:02d} {arcsec / 10:04.1f}"


# At once: a call of Python for each line takes longer than the rest of the atlas.
_LINES: TypeAdapter[list[evidence.AtlasLine]] = TypeAdapter(list[evidence.AtlasLine])
_STEPS: TypeAdapter[list[answers.TraceStep]] = TypeAdapter(list[answers.TraceStep])

LABELS = {
    "keep": deferred("Keep"),
    "submit": deferred("Submit revision"),
    "pass": deferred("Pass"),
    "approve": deferred("Approve"),
    "reject": deferred("Reject…"),
    "return": deferred("Return to revision"),
    "abstain": deferred("Abstain"),
}


def item_for(store: Store, item: Item, person: Person, task: Task | None, waiting: bool) -> answers.Item:
    """Return the whole item for one person. ``waiting``: for their own verdict, and until then everything that tells
    the answer is left out."""
    rules = store.settings.rules()
    verdicts = (v.verdict for v in reversed(store.marks.verdicts(item.id)) if v.person == person.initials)
    trajectory = item.version.trajectory
    body = trajectory.to_json()
    if waiting:
        body = neutral_trajectory(body, item.id)
        body.pop("cannot_tell", None)
    if item.standing.round is not None:
        # The known label would influence the reviewer; it is shown once the item is decided.
        body["label"] = None
    originals, edited_by = ([], {}) if waiting else _provenance(store, item)
    # One's own unsent text holds the drafter's steps too.
    autosave = None if waiting else store.leases.autosaved(person.initials, item.id)
    row = row_of(item.row)
    return answers.Item(
        id=item.id,
        stamp=stamp(item),
        row=neutral_row(row) if waiting else row,
        task=answers.ItemTask(key=item.row.task, title=task.title if task else item.row.task),
        trajectory=answers.Trajectory.model_validate(body),
        draft_cannot_tell=None if waiting else trajectory.cannot_tell or None,
        answer_confirmed=not waiting and bool(trajectory.cannot_tell) and store.marks.answer_confirmed(item.id),
        hidden=waiting,
        simbad=None if waiting else _simbad_for(store, item, person),
        my_verdict=next(verdicts, None),
        originals=originals,
        edited_by=edited_by,
        version=answers.CurrentVersion(
            id=item.version.id,
            number=item.version.number,
            author=None if waiting else item.version.author,
            reason="" if waiting else item.version.reason,
            at=item.version.at,
        ),
        assigned=store.assignments.of_items([item.id]).get(item.id, ()),
        standing=standing_for(item.standing, rules, person, waiting),
        may=_may(item, rules, person, waiting),
        marks=_marks([] if waiting else store.marks.of_item(item.id), item, person),
        request=None if waiting else _request(store, item),
        # The numbers and texts of a trial tell the answer.
        trial=None if waiting else shown_trial(store, item),
        inspection=_inspections(store, item, person, waiting),
        autosave=None
        if autosave is None
        else answers.Autosave(base=autosave.base_version_id, body=dict(autosave.body), at=autosave_stamp(autosave)),
    )


def shown_trial(store: Store, item: Item) -> answers.Trial | answers.OtherTrial | None:
    """Return the trial of an item's present text for the page; that only another text was tried; or None."""
    recorded = store.trust.trial_of(item.id, item.version.content_hash)
    if recorded is not None:
        return answers.Trial.model_validate(result_json(recorded.result))
    return answers.OtherTrial(of_this_version=False) if store.trust.was_tried(item.id) else None


def _request(store: Store, item: Item) -> answers.ChangeRequest | None:
    """Return who returned an item, when, and what they want to be changed; None unless it waits for that."""
    if item.standing.state != "returned":
        return None
    returns = (r for r in reversed(store.items.history(item.id)) if r.decision.verb == "return")
    last = next((r for r in returns if r.withdrawn_by is None), None)
    if last is None:
        return None
    return answers.ChangeRequest(person=last.decision.person, comment=last.decision.comment, at=last.at)


def autosave_stamp(autosave: Autosave) -> str:
    """Return the identifier of an autosave: its time to the stored millisecond."""
    return autosave.at.isoformat(timespec="milliseconds")


def stamp(item: Item) -> str:
    """Return a string that changes with each version and decision, by which a page notices that it is out of date."""
    last = item.standing.last.id if item.standing.last else 0
    return f"{item.version.id}.{item.standing.state}.{len(item.standing.decisions)}.{last}"


def row_of(row: QueueRow) -> ShownRow:
    return ShownRow(**_fields_of_row(row))


def listed_row(row: QueueRow, shared: Shared) -> ListedRow:
    return ListedRow(
        **_fields_of_row(row),
        assigned=shared.assigned,
        comments=shared.comments,
        unread=shared.unread,
        blind=False,
    )


def _fields_of_row(row: QueueRow) -> dict[str, Any]:
    return {
        "id": row.item_id,
        "name": row.name,
        "task": row.task,
        "survey": row.survey,
        "snr": row.snr,
        "drafter": Drafter(kind=row.drafter_kind, name=row.drafter_name),
        "batch": row.batch,
        "simulated": row.simulated,
        "spectrum": row.spectrum_sha256,
        "state": row.state,
        "version": row.version,
        "cast": row.cast,
        "needed": row.needed,
        "disagreement": row.disagreement,
        "held_by": row.held_by,
    }


def standing_for(standing: Standing, rules: Rules, person: Person, waiting: bool) -> answers.ItemStanding:
    """Return the state of the item, without others' votes of the round while this person may still vote."""
    open_to_me = judges_independently(standing, rules, person)
    shown = [
        d
        for d in standing.decisions
        if not waiting and not (open_to_me and d.round == standing.round and d.person != person.initials)
    ]
    return answers.ItemStanding(
        state=standing.state,
        round=standing.round,
        **progress_of(standing),
        disagreement=standing.disagreement and not (open_to_me or waiting),
        decisions=[answers.Decision(**fields_of_decision(d)) for d in shown],
        stale=[] if waiting else [answers.Decision(**fields_of_decision(d)) for d in standing.stale],
        withheld=len(standing.decisions) - len(shown),
        solo=rules.solo,
    )


def progress_of(standing: Standing) -> dict[str, Any]:
    """Return the fields of ``RoundProgress``."""
    return {"progress": standing.progress, "done": len(standing.cast), "needed": standing.needed}


def fields_of_decision(decision: Decision) -> dict[str, Any]:
    """Return the fields of ``answers.Decision``."""
    return {
        "person": decision.person,
        "round": decision.round,
        "verb": decision.verb,
        "reason": tr(REASONS[decision.reason]) if decision.reason in REASONS else decision.reason,
        "comment": decision.comment,
    }


def _may(item: Item, rules: Rules, person: Person, waiting: bool) -> answers.Permissions:
    standing, version = item.standing, item.version.id
    wait = tr('Give your own verdict first: "my verdict first" is on, so you judge before you see the answer.')
    verbs = []
    for verb in VERBS[standing.round] if standing.round else ():
        now, later = (
            wait if waiting else refusal(standing, rules, person, verb, version, changed=changed)
            for changed in (False, True)
        )
        verbs.append(answers.OfferedVerb(verb=verb, label=tr(LABELS[verb]), refusal=now, refusal_if_changed=later))
    last = standing.last
    return answers.Permissions(
        verbs=verbs,
        edit=wait if waiting else refusal(standing, rules, person, "edit", version),
        undo=last is not None and last.person == person.initials,
    )


def _marks(marks: list[Mark], item: Item, person: Person) -> answers.Marks:
    """Return the person's marks by step; others' marks only during adjudication, in revision or once decided."""
    open_book = item.standing.round in ("adjudication", "revision", None)
    return answers.Marks(
        mine={m.step_id: answers.Mark(mark=m.mark, note=m.note) for m in marks if m.person == person.initials},
        others=[
            answers.OthersMark(step=m.step_id, person=m.person, mark=m.mark, note=m.note)
            for m in marks
            if open_book and m.person != person.initials
        ],
    )


def _inspections(store: Store, item: Item, person: Person, waiting: bool) -> answers.Inspections:
    """Return the person's own inspection of the spectrum; others' and the merged one only during adjudication, in
    revision or once decided."""
    stored = store.inspections.of_item(item.id)
    if stored is None:
        return answers.Inspections(mine=None, others=[], merged=None)
    inspections = [answers.Inspection.model_validate(inspection) for inspection in stored.inspections]
    shown = not waiting and item.standing.round in ("adjudication", "revision", None)
    return answers.Inspections(
        mine=next((inspection for inspection in inspections if inspection.person == person.initials), None),
        others=[inspection for inspection in inspections if shown and inspection.person != person.initials],
        merged=answers.MergedInspection.model_validate(stored.merged) if shown else None,
    )


def steps_of(trajectory: Trajectory) -> list[answers.TraceStep]:
    return _STEPS.validate_python([step_to_json(step) for step in trajectory.steps])


def _provenance(store: Store, item: Item) -> tuple[list[answers.TraceStep], dict[str, str]]:
    """Return the draft's steps, and who last changed each step."""
    if item.version.number == 1:
        return [], {}
    versions = store.items.versions(item.id)
    edited: dict[str, str] = {}
    before = {step.id: step_to_json(step) for step in versions[0].trajectory.steps}
    originals = steps_of(versions[0].trajectory)
    for version in versions[1:]:
        after = {step.id: step_to_json(step) for step in version.trajectory.steps}
        for step_id, step in after.items():
            if _but_medium(before.get(step_id)) != _but_medium(step):
                edited[step_id] = version.author or "import"
        before = after
    return originals, edited


def _but_medium(step: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a step without its medium: stating the medium of the spectrum edits no step."""
    return step and {key: value for key, value in step.items() if key != "medium"}


def about_json(spectrum: Spectrum) -> dict[str, Any]:
    """Return what the item's header shows about a spectrum."""
    position = None
    if spectrum.ra is not None and spectrum.dec is not None:
        position = {
            "ra": spectrum.ra,
            "dec": spectrum.dec,
            "text": sexagesimal(spectrum.ra, spectrum.dec),
        }
    return {
        "name": spectrum.name,
        "survey": spectrum.survey,
        "medium": spectrum.medium,
        "frame": spectrum.frame,
        "fluxUnit": spectrum.flux_unit,
        "errors": spectrum.errors,
        "redshift": spectrum.redshift,
        "catalogue_class": spectrum.catalogue_class,
        "snr": dict(spectrum.snr),
        "snr_typical": spectrum.snr_typical,
        "ids": dict(spectrum.ids),
        "meta": dict(spectrum.meta),
        "position": position,
        "links": links(spectrum),
        # None without one, so that a blind sheet says no more than its numbers.
        "model": True if spectrum.model is not None else None,
        "exposures": len(spectrum.exposures) or None,
    }


def reading_json(spectrum: Spectrum) -> dict[str, Any]:
    """Return how the file was read, and faults of its data, as label and text, in the language of the request.

    Not medium and velocity frame, which the page shows itself: a person may have stated the medium since.
    """
    warnings = [*account.warnings(spectrum), *fault_lines(spectrum)]
    return {"read": localized(account.sources(spectrum)), "warnings": localized(warnings)}


def spectrum_bytes(spectrum: Spectrum, reading: bool = True) -> bytes:
    """Pack a spectrum as binary: uint32 header length, JSON header padded to 8 bytes, then the arrays.

    Little-endian: wavelength and ivar float64 (ivar of a flux in erg s-1 cm-2 Å-1 is beyond float32), flux
    float32, mask uint8. Float32 is for drawing on the screen; pictures and measurements use what is stored.

    :param reading: with ``reading_json``; without, with the faults of the data, which name nothing of the file
    """
    read = reading_json(spectrum) if reading else {"warnings": localized(fault_lines(spectrum))}
    about = {"n": len(spectrum), **about_json(spectrum), **read}
    header = json.dumps(about, ensure_ascii=False, allow_nan=False).encode()
    header += b" " * (-(len(header) + 4) % 8)
    arrays = (
        spectrum.wavelength.astype("<f8"),
        spectrum.ivar.astype("<f8"),
        spectrum.flux.astype("<f4"),
        spectrum.mask.astype("u1"),
    )
    return b"".join([struct.pack("<I", len(header)), header, *(a.tobytes() for a in arrays)])


def pipeline_model(spectrum: Spectrum) -> evidence.PipelineModel:
    """Return the pipeline's model. :raises NotFound: the file has none"""
    if spectrum.model is None:
        raise NotFound(tr("{name}: the file has no pipeline model.", name=spectrum.name))
    return evidence.PipelineModel(name=spectrum.survey, flux=[digits(flux) for flux in spectrum.model.tolist()])


def exposures_of(spectrum: Spectrum) -> evidence.Exposures:
    """Return the single exposures. :raises NotFound: the file has none"""
    if not spectrum.exposures:
        raise NotFound(tr("{name}: the file has no single exposures.", name=spectrum.name))
    return evidence.Exposures(
        exposures=[
            evidence.SingleExposure(
                name=exposure.name,
                wavelength=[round(float(at), 3) for at in exposure.wavelength],
                flux=[
                    digits(flux) if ivar > 0 else None
                    for flux, ivar in zip(exposure.flux.tolist(), exposure.ivar.tolist(), strict=True)
                ],
            )
            for exposure in spectrum.exposures
        ]
    )


def digits(value: float, significant: int = 5) -> float:
    """Round to significant digits, for JSON."""
    return float(f"{value:.{significant}g}")


def atlas_of(survey: str, task: Task | None) -> evidence.Atlas:
    """Return the lines, band heads and sky bands of a spectrum; those of the task are flagged."""
    return evidence.Atlas(
        lines=known_lines(task),
        bands=[evidence.AtlasBand.model_validate(band) for band in lines.sky_bands(survey)],
        range=_range(task) if task else None,
    )


def _range(task: Task) -> evidence.AtlasRange | None:
    """Return the wavelengths of a task at rest: from the first to the last edge of all windows and continuum windows
    of its features; None for a task without features.
    """
    features = [feature.in_medium("vacuum") for feature in task.features]
    edges = [edge for feature in features for window in (feature.window, *feature.side_bands) for edge in window]
    return evidence.AtlasRange(lo=min(edges), hi=max(edges), medium="vacuum") if edges else None


SAME_LINE = 2.0
"""Å within which a task file's wavelength and the line list's are the same line or band head."""


def known_lines(task: Task | None = None) -> list[evidence.AtlasLine]:
    """Return the line list and the molecular band heads, at rest; those of the task are marked."""
    places = _places(task) if task else []

    def entry(of: lines.Line | lines.Band, wavelength: float, kind: str, major: bool) -> dict[str, Any]:
        # Any number of weak lines may lie in the span of a feature that names no wavelength, and a band head at the
        # wavelength of a line is not that line: ZrO 4641 is at the Bowen blend.
        own = any(
            lo <= of.at("vacuum") <= hi and (exact or of.major) and (measured != "line" or isinstance(of, lines.Line))
            for lo, hi, exact, measured in places
        )
        return {
            "name": of.name,
            "wavelength": wavelength,
            "medium": of.medium,
            "kind": kind,
            "major": major,
            "task": own,
        }

    # Molecular band heads are shown by default only if the task is about them.
    entries = [
        *(entry(line, line.wavelength, line.kind, line.major) for line in lines.lines()),
        *(entry(band, band.head, "absorption", False) for band in lines.bands()),
    ]
    return _LINES.validate_python(entries)


def _places(task: Task) -> Sequence[tuple[float, float, bool, str]]:
    """Return the wavelength ranges of a task's features in vacuum Å: around named lines (True), else the whole span
    (False); with the kind of the feature.
    """
    places = []
    for feature in (f.in_medium("vacuum") for f in task.features if f.kind != "slope"):
        named = [(w - SAME_LINE, w + SAME_LINE, True, feature.kind) for w in feature.wavelengths]
        places += named or [(*feature.span, False, feature.kind)]
    return places
