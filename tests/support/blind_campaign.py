"""A campaign with traces of two drafters of the same spectra, for blind sessions."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Think
from reviewer.blind.plan import Plan
from reviewer.drafting import demo
from reviewer.store import BlindSession, Draft, Store
from reviewer.store.blind.values import BlindWork
from tests.support.campaign import a_spectrum, a_trajectory, people

GPT, SPEC = "gpt-5", "Spec-o3-7B"
SCORERS = ("RE", "AU", "VO")
_keys = (f"blind-{n}" for n in count())


def key() -> str:
    return next(_keys)


def trace(source: str, number: int, task: str = "cv", **other: object) -> Trajectory:
    spectrum = a_spectrum(f"spec-55859-F5902_sp01-{number:03d}.fits")
    settings = {"temperature": 0.7, "endpoint": "http://gpu.example/v1"}
    think = f"Hα looks broad, seen {len(source)} times in spectrum {number}."
    values = {
        "task": task,
        "drafter": Drafter("model", source, settings),
        "label": "YES" if number % 2 else "NO",
        "overview": "cd" * 32,
    }
    return a_trajectory(spectrum, think, **(values | other))


def two_drafters(store: Store, spectra: int = 6, task: str = "cv") -> list[int]:
    """Add both drafters' traces of each spectrum; return the items' numbers."""
    drafts = [
        Draft(trace(source, number, task), a_spectrum(f"spec-55859-F5902_sp01-{number:03d}.fits"))
        for number in range(spectra)
        for source in (GPT, SPEC)
    ]
    return [added.item_id for added in store.items.add_all(drafts)]


def a_store(path: Path, spectra: int = 6, **other: object) -> Store:
    store = Store.open(path, **other)
    people(store)
    store.accounts.add_person("ED", "Dr ED", ["reviewer", "auditor"])
    two_drafters(store, spectra)
    return store


def drawn(store: Store, **plan: object) -> BlindSession:
    return store.blind.sessions.create("CO", Plan(**({"name": "gpt against ours", "scorers": SCORERS} | plan)), key())


def opened(store: Store, **plan: object) -> BlindSession:
    return store.blind.sessions.open("CO", drawn(store, **plan).id, key())


def tokens(store: Store, person: str, kind: str = "scores") -> list[str]:
    return [work.token for work in store.blind.scoring.assignments(person) if work.kind == kind]


def answer_before(store: Store, person: str, token: str) -> str:
    """Answer every place before this one, so that it may be opened; return the token."""
    for work in store.blind.scoring.assignments(person):
        if work.token == token:
            return token
        if not work.answered:
            answer_one(store, person, work)
    raise AssertionError("no such token")


def answer_one(store: Store, person: str, work: BlindWork) -> None:
    """Give an ordinary answer."""
    given = {"person": person, "token": work.token, "key": key()}
    if work.kind == "pair":
        store.blind.scoring.prefer(preference="equal", **given)
    else:
        store.blind.scoring.score(coherence=3, consistency=3, **given)


ZETA, OMEGA = "zeta-vision-9000", "Omega Survey Reader"
SETTINGS = {"endpoint": "http://zq-endpoint.example/v1", "temperature": 0.7}
SESSION_SCORERS = ("SA", "SB", "SC")
PASSWORD = "correct horse battery"
TELLING = "As a language model called GPT-5 I would look again. "


def two_sources(spectra: int = 4, telling: str = "") -> list[Draft]:
    """Two traces per simulated spectrum, with names, ids, positions and classes that must not leak.

    The second drafter's texts differ from the first's; its first trace begins with ``telling``.
    """
    drafts = []
    for number, (spectrum, trajectory) in enumerate(islice(demo.demo_items(), spectra)):
        seen = _named(spectrum, number)
        base = replace(trajectory, spectrum_name=seen.name, spectrum_sha256=seen.sha256, label="YES", simulated=False)
        drafts += [
            Draft(by(ZETA, base), seen, batch="november"),
            Draft(by(OMEGA, _in_other_words(base, telling if number == 0 else "")), seen, batch="november"),
        ]
    return drafts


def _named(spectrum: Spectrum, number: int) -> Spectrum:
    return replace(
        spectrum,
        name=f"zq-observed-{number:03d}.fits",
        survey="LAMOST",
        ids={"obsid": f"77889900{number}", "gaia": f"4455667788990{number}"},
        ra=123.456789 + number,
        dec=-12.345678,
        catalogue_class="ZQ-CLASS",
        meta={"date_obs": "2031-07-13", "zq_header": "zq-observer", "not_used": "column zq_column"},
    )


def by(source: str, trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, drafter=Drafter("model", source, SETTINGS))


def _in_other_words(trajectory: Trajectory, telling: str) -> Trajectory:
    steps = [
        replace(step, text=f"{telling if at == 0 else ''}Seen from here: {step.text}")
        if isinstance(step, Think)
        else step
        for at, step in enumerate(trajectory.steps)
    ]
    return trajectory.with_steps(tuple(steps))


def team(db: Path, drafts: list[Draft]) -> Path:
    """A database with these items, three scorers and a coordinator, each with a password."""
    store = Store.open(db)
    try:
        for initials in SESSION_SCORERS:
            store.accounts.add_person(initials, f"Scorer {initials}", ["reviewer", "auditor"], password=PASSWORD)
        store.accounts.add_person("CO", "Cora", ["coordinator"], password=PASSWORD)
        store.items.add_all(drafts)
    finally:
        store.close()
    return db


def chunks_of(png: bytes) -> list[bytes]:
    """The names of the parts of a PNG file, in order."""
    names, at = [], 8
    while at < len(png):
        names.append(png[at + 4 : at + 8])
        at += 12 + int.from_bytes(png[at : at + 4], "big")
    return names


def picture_by(author: str) -> tuple[Image.Image, bytes]:
    """A picture, and its file with an author in the metadata."""
    image, metadata, file = Image.new("RGBA", (40, 30), "red"), PngInfo(), io.BytesIO()
    metadata.add_text("Author", author)
    image.save(file, "PNG", pnginfo=metadata)
    return image, file.getvalue()
