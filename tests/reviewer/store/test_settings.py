"""Permissions of people, withheld items and spectra in the store."""

from __future__ import annotations

import inspect
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agent.spectrum import Exposure, Spectrum, SpectrumError, read, read_all
from reviewer.blind.plan import Plan
from reviewer.blind.results import Judgement, JudgeScore
from reviewer.rules.workflow import Rules
from reviewer.store import (
    WITHHELD,
    Draft,
    ImportRequest,
    NotAllowed,
    NotFound,
    ScoreRow,
    Selection,
    SignInRefused,
    Store,
    TrialRow,
)
from reviewer.store.blind.scoring import refuse_withheld
from reviewer.store.spectra import pack, pack_mask, unpack, unpack_mask
from reviewer.store.team.actions import Assign, SetBatch
from tests.support.blind_campaign import SCORERS, a_store, drawn, key, opened
from tests.support.campaign import Desk, a_spectrum, a_trajectory, edited
from tests.support.store_parts import public_methods

Attempt = Callable[[Store], Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "annotations.db"
    a_store(path).close()
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copy(made, tmp_path / "annotations.db")
    with Store.open(tmp_path / "annotations.db") as store:
        yield store


def version(store: Store, item: int) -> int:
    return store.items.get(item).version.id


def content_hash(store: Store, item: int) -> str:
    return store.items.get(item).version.content_hash


def changed(store: Store, item: int) -> Any:
    return edited(store.items.get(item).version.trajectory, "Seen again.")


def refusal(attempt: Callable[..., Any], *arguments: object) -> Exception | None:
    """Return the exception with which the store refuses an attempt; None if it does not."""
    try:
        attempt(*arguments)
    except (NotAllowed, SignInRefused) as refused:
        return refused
    return None


def everything_on(item: int, person: str, token: str) -> dict[str, Attempt]:
    return {
        "lease": lambda s: s.leases.take(person, item),
        "save": lambda s: Desk(s).save(person, item, changed(s, item), lease_token=token),
        "decide": lambda s: Desk(s).decide(person, item, "submit", lease_token=token),
        "undo": lambda s: s.reviews.undo(person=person, item_id=item, key=key()),
        "mark": lambda s: Desk(s).mark(person, item),
        "verdict": lambda s: s.marks.commit_verdict(
            person=person, item_id=item, version_id=version(s, item), verdict="YES"
        ),
        "comment": lambda s: s.comments.add(person=person, item_id=item, text="A sky line?", key=key()),
    }


@pytest.mark.parametrize("what", everything_on(0, "", ""))
def test_scorers_cannot_work_on_items_that_they_score_blind(store: Store, what: str) -> None:
    desk = Desk(store)
    desk.decide("ED", 5, "keep")
    token = store.leases.take("RE", 5).token
    session = opened(store, items=(6, 7), each=3)
    # Item 5 is the other trace of the spectrum of item 6.
    before = store.items.get(5).standing
    with pytest.raises(NotAllowed, match=WITHHELD):
        everything_on(5, "RE", token)[what](store)
    assert store.items.get(5).standing == before
    # What was being saved is kept for its writer.
    kept = store.leases.autosaved("RE", 5)
    assert (kept is not None) == (what == "save")
    store.blind.sessions.close("CO", session.id, key())
    if what not in ("undo", "decide"):
        everything_on(5, "RE", token)[what](store)
    # After the session is closed, its items are no longer withheld.
    assert store.leases.take("RE", 5).person == "RE"


def test_an_item_is_withheld_exactly_if_it_is_in_the_list_of_hidden_items(store: Store) -> None:
    opened(store, items=(1, 4, 5), each=2, scorers=("RE", "AU"))
    drawn(store, items=(7, 8), each=2, scorers=("VO", "AU"), mode="both")
    store.blind.sessions.close("CO", drawn(store, items=(11, 12), each=3).id, key())
    for person in (*SCORERS, "CO", "ED"):
        hidden = store.blind.scoring.hidden_items(person)
        for item in range(1, 13):
            with store.database.read() as db:
                try:
                    refuse_withheld(db, person, item)
                except NotAllowed:
                    assert item in hidden
                else:
                    assert item not in hidden


def judgement(store: Store) -> Judgement:
    return Judgement("judge", (version(store, 1),), JudgeScore(1, 1), "", {})


COORDINATORS: dict[str, Callable[[Store, str], Any]] = {
    "accounts.add_person": lambda s, by: s.accounts.add_person("NE", "New", ["reviewer"], by=by),
    "accounts.set_roles": lambda s, by: s.accounts.set_roles(by, "AX", ["coordinator"]),
    "accounts.set_password": lambda s, by: s.accounts.set_password(by, "AX", "a long password"),
    "accounts.change": lambda s, by: s.accounts.change(by, "AX", "Another Name"),
    "accounts.deactivate": lambda s, by: s.accounts.deactivate(by, "AX"),
    "accounts.require_coordinator": lambda s, by: s.accounts.require_coordinator(by),
    "accounts.reactivate": lambda s, by: s.accounts.reactivate(by, "AX"),
    "settings.set_rules": lambda s, by: s.settings.set_rules(by, Rules(solo=True)),
    "settings.set": lambda s, by: s.settings.set(by, "name", 1),
    "blind.sessions.create": lambda s, by: s.blind.sessions.create(by, Plan("x", SCORERS), "draw"),
    "blind.sessions.open": lambda s, by: s.blind.sessions.open(by, 2, "open"),
    "blind.sessions.close": lambda s, by: s.blind.sessions.close(by, 1, "close"),
    "blind.sessions.all": lambda s, by: s.blind.sessions.all(by),
    "blind.sessions.get": lambda s, by: s.blind.sessions.get(by, 1),
    "blind.sessions.candidates": lambda s, by: s.blind.sessions.candidates(by, Plan("x", SCORERS)),
    "blind.sessions.progress": lambda s, by: s.blind.sessions.progress(by, 1),
    "blind.sessions.leaks": lambda s, by: s.blind.sessions.leaks(by, 1),
    "blind.sessions.why_withheld": lambda s, by: s.blind.sessions.why_withheld(by, s.blind.sessions.get(None, 1)),
    "blind.checks.traces": lambda s, by: s.blind.checks.traces(by, 1),
    "blind.checks.history": lambda s, by: s.blind.checks.history(by, 1),
    "blind.judging.questions": lambda s, by: s.blind.judging.questions(by, 1),
    "blind.judging.record": lambda s, by: s.blind.judging.record(by=by, session_id=1, judgement=judgement(s), key="j"),
    "blind.judging.recorded_keys": lambda s, by: s.blind.judging.recorded_keys(by, 1, "judge"),
    "blind.judging.settings": lambda s, by: s.blind.judging.settings(by, 1, "judge"),
    "blind.results.of_session": lambda s, by: s.blind.results.of_session(by, 1),
    "blind.results.report_material": lambda s, by: s.blind.results.report_material(by, 1),
    "trust.record_scores": lambda s, by: s.trust.record_scores(by, "cv", {}, [ScoreRow(11, 0.5, {})]),
    "trust.record_trials": lambda s, by: s.trust.record_trials(by, [TrialRow(content_hash(s, 11), True, {})]),
    "withdrawals.withdraw": lambda s, by: s.withdrawals.withdraw(by, Selection(first=11)),
    "withdrawals.restore": lambda s, by: s.withdrawals.restore(by, Selection(first=11)),
    "webhooks.add": lambda s, by: s.webhooks.add(by, "https://example.org/hook", ["approved"]),
    "webhooks.start": lambda s, by: s.webhooks.start(by, 1),
    "webhooks.delete": lambda s, by: s.webhooks.delete(by, 1),
    "webhooks.listed": lambda s, by: s.webhooks.listed(by),
    "webhooks.deliveries": lambda s, by: s.webhooks.deliveries(by, 1),
    "webhooks.target": lambda s, by: s.webhooks.target(by, 1),
    "logins.set": lambda s, by: s.logins.set(by, "RE", "re@example.org"),
    "bulk.preview": lambda s, by: s.bulk.preview(by, [11], SetBatch("other")),
    "bulk.apply": lambda s, by: s.bulk.apply(by, [11], Assign(("RE",)), "token", "bulk"),
}

# They take ``by`` and are open to every active person: the page restricts who adds drafts; a preview changes nothing.
FOR_ALL = {
    *("items.add", "items.add_all", "items.add_part", "withdrawals.preview", "imports.create", "imports.resume"),
    # Everybody can undo their own rejections and revoke their own tokens.
    *("bulk.undo", "tokens.revoke", "imported_comments.add"),
}


def test_every_method_that_takes_by_is_listed_here(store: Store) -> None:
    taking = {name for name, method in public_methods(store).items() if "by" in inspect.signature(method).parameters}
    assert taking - FOR_ALL <= set(COORDINATORS)


def test_only_an_active_coordinator_can(store: Store) -> None:
    store.accounts.add_person("GO", "Has gone", ["coordinator"])
    store.accounts.deactivate("CO", "GO")
    opened(store, items=(1, 2), each=3)
    drawn(store, items=(3, 4), each=3)
    end = store.log.head()
    for (name, attempt), by in product(COORDINATORS.items(), ("RE", "AU", "GO")):
        assert "Only a coordinator can do this" in str(refusal(attempt, store, by)), (name, by)
    assert store.log.head() == end


def test_the_rubric_is_for_those_who_score_by_it(store: Store) -> None:
    session = opened(store, items=(1, 2), each=3)
    assert store.blind.scoring.rubric("RE", session.id) == session.rubric
    with pytest.raises(Exception, match="You do not score in session"):
        store.blind.scoring.rubric("ED", session.id)
    store.blind.sessions.close("CO", session.id, key())
    with pytest.raises(Exception, match="You do not score in session"):
        store.blind.scoring.rubric("RE", session.id)


LEFT: dict[str, Attempt] = {
    **everything_on(2, "RE", "none"),
    "autosave": lambda s: s.leases.autosave(person="RE", item_id=2, base_version_id=version(s, 2), body={"text": "x"}),
    "discard_autosave": lambda s: s.leases.discard_autosave(person="RE", item_id=2, base_version_id=version(s, 2)),
    "record_export": lambda s: s.settings.record_export("RE", "x", {}),
    "add_items": lambda s: s.items.add_all([Draft(a_trajectory(think="New."))], by="RE"),
    "imported_comments": lambda s: s.imported_comments.add([], by="RE"),
    "create_import": lambda s: s.imports.create(ImportRequest(Path("rows.jsonl"), 1, 1), by="RE"),
    "resume_import": lambda s: s.imports.resume(1, by="RE"),
    "own password": lambda s: s.accounts.set_password("RE", "RE", "a longer password"),
    "set_rules": lambda s: s.settings.set_rules("RE", Rules(solo=True)),
    "score_blind": lambda s: s.blind.scoring.score(
        person="RE", token=s.blind.scoring.assignments("RE")[0].token, coherence=1, consistency=1, key="k"
    ),
    "sign_in": lambda s: s.accounts.sign_in("RE", "a long password"),
}


def test_an_inactive_person_can_do_nothing(store: Store) -> None:
    store.accounts.set_password(None, "RE", "a long password")
    opened(store, items=(11, 12), each=3)
    store.accounts.deactivate("CO", "RE")
    end = store.log.head()
    assert [name for name, attempt in LEFT.items() if refusal(attempt, store) is None] == []
    assert [entry.what for entry in store.log.entries(after=end.number)] == ["sign-in refused"]


def test_a_sign_in_is_refused_if_the_account_changes_during_the_check(store, monkeypatch) -> None:
    from reviewer.store import accounts

    store.accounts.set_password(None, "RE", "a long password")
    right = accounts.password_matches

    def meanwhile(password: str, kept: str | None) -> bool:
        store.accounts.deactivate("CO", "RE")
        return right(password, kept)

    monkeypatch.setattr(accounts, "password_matches", meanwhile)
    with pytest.raises(SignInRefused, match="changed a moment ago"):
        store.accounts.sign_in("RE", "a long password")


@pytest.fixture
def empty_store(tmp_path):
    with Store.open(tmp_path / "annotations.db") as empty_store:
        yield empty_store


def test_a_spectrum_is_read_equal_with_all_its_metadata(empty_store):
    spectrum = a_spectrum(
        mask=np.arange(300) % 7 == 0,
        medium="air",
        frame="rest",
        flux_unit="1e-17 erg/s/cm2/Å",
        ra=12.5,
        dec=-3.25,
        redshift=-0.00012,
        catalogue_class="STAR",
        meta={"plate": 266, "quality": None, "seeing": 1.5, "coadd": True, "who": "Å"},
        errors="estimated",
    )
    again = empty_store.spectra.get(empty_store.spectra.add(spectrum))
    assert again == spectrum
    assert again.sha256 == spectrum.sha256
    assert again.flux.tobytes() == spectrum.flux.tobytes()


def test_the_pipeline_model_and_the_exposures_are_kept_bit_for_bit(empty_store):
    plain = a_spectrum()
    parts = [
        Exposure(name, np.linspace(4000, 5000, size) ** 1.01, np.sin(np.arange(size)), np.arange(size) % 3)
        for name, size in (("b1", 90), ("r1", 110))
    ]
    spectrum = replace(plain, model=np.cos(np.arange(300)), exposures=tuple(parts))
    again = empty_store.spectra.get(empty_store.spectra.add(spectrum))
    assert again == plain
    assert again.model.tobytes() == spectrum.model.tobytes()
    assert [exposure.name for exposure in again.exposures] == ["b1", "r1"]
    for kept, given_one in zip(again.exposures, parts, strict=True):
        for what in ("wavelength", "flux", "ivar"):
            assert getattr(kept, what).tobytes() == getattr(given_one, what).tobytes()


def test_a_spectrum_is_stored_once_and_its_grid_is_shared(empty_store):
    first, second = a_spectrum("a.fits"), a_spectrum("bb.fits")
    for spectrum in (first, second, first):
        empty_store.spectra.add(spectrum)
    reader = sqlite3.connect(empty_store.path)
    assert reader.execute("SELECT count(*) FROM spectra").fetchone() == (2,)
    assert reader.execute("SELECT count(*) FROM grids").fetchone() == (1,)
    reader.close()
    assert empty_store.spectra.exists(first.sha256)
    assert not empty_store.spectra.exists("0" * 64)


def test_a_spectrum_that_does_not_exist_is_named(empty_store):
    with pytest.raises(NotFound, match="No spectrum 000000000000"):
        empty_store.spectra.get("0" * 64)


@settings(deadline=None)
@given(arrays.arrays(np.float64, st.integers(1, 60), elements=st.floats(allow_nan=True)))
def test_any_floats_are_read_bit_for_bit(array):
    assert unpack(*pack(array)).tobytes() == array.tobytes()


@settings(deadline=None)
@given(arrays.arrays(np.float32, st.integers(1, 60), elements=st.floats(width=32, allow_nan=False)))
def test_single_precision_is_kept_in_single_precision(array):
    width, blob = pack(array.astype(np.float64))
    assert width == "<f4"
    assert len(zlib.decompress(blob)) == 4 * array.size


def test_a_number_that_needs_double_precision_keeps_it():
    for value in (0.1, 1e300, 2.0**-1060):
        width, blob = pack(np.array([1.0, value]))
        assert (width, unpack(width, blob).tolist()) == ("<f8", [1.0, value])


@given(arrays.arrays(bool, st.integers(1, 60)))
def test_a_mask_is_read_as_written(mask):
    assert unpack_mask(pack_mask(mask), mask.size).tolist() == mask.tolist()


@pytest.mark.parametrize("survey", ["lamost", "sdss", "desi", "miles"])
def test_spectra_of_survey_files_are_read_equal(empty_store, shared, survey):
    files = sorted(p for p in (shared / "spectra" / survey).rglob("*") if p.is_file())
    spectra: list[Spectrum] = []
    for path in files[:12]:
        try:
            spectra.append(read(path))
        except SpectrumError:
            continue
    spectra = spectra or list(read_all(files[0]))[:3]
    assert spectra
    for spectrum in spectra:
        again = empty_store.spectra.get(empty_store.spectra.add(spectrum))
        assert again == spectrum
        assert again.sha256 == spectrum.sha256
