"""What people decided goes back into the log that a trace came from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.foreign import read
from reviewer.exchange.exports import ExportError, export
from reviewer.exchange.foreign import Logs, request_of_logs
from reviewer.exchange.imports import continue_import, one_import, start_or_resume
from reviewer.exchange.logs_out import REVIEW, layout_of_logs
from reviewer.exchange.verdicts_home import SCORE, write_verdicts
from reviewer.store import Store
from tests.agent.foreign import logs_atif, logs_inspect
from tests.agent.foreign.turns import an_example
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved, decide


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with a_store(tmp_path / "annotations.db") as store:
        yield store


def imported(store: Store, *logs: Path) -> None:
    request = request_of_logs(store, Logs(logs), "logs")
    with one_import(store.path):
        continue_import(store, start_or_resume(store, request).id)


@pytest.fixture
def log(store: Store, tmp_path: Path) -> Path:
    """A log of Inspect with two samples: the first was imported and rejected by AA, the second is new."""
    pytest.importorskip("inspect_ai")
    samples = [logs_inspect.sample_of(*an_example(number)) for number in (1, 2)]
    store.spectra.add(an_example(1)[1])
    (tmp_path / "logs").mkdir()
    path = logs_inspect.log_of(samples[:1], tmp_path / "logs" / "vetting.eval")
    imported(store, path)
    decide(store, "AA", 1, "reject", reason="hallucinated", comment="No Hα there.")
    return logs_inspect.log_of(samples, path)


def test_votes_return_as_edited_scores_with_author_and_reason(store: Store, log: Path, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    before = log.read_bytes()
    written = write_verdicts(store, log, tmp_path / "back.eval")
    assert (written.items, written.unmatched) == ((1,), ("vetting.eval: s2.fits, epoch 1",))
    first, second = read_eval_log(str(tmp_path / "back.eval")).samples
    score = first.scores[SCORE]
    (decision, state) = [edit for edit in score.history if edit.provenance is not None]
    assert (decision.value, decision.provenance.author, decision.provenance.reason) == (
        "reject",
        "AA",
        "hallucinated",
    )
    assert (state.value, score.value) == ("rejected", "rejected")
    assert SCORE not in (second.scores or {})
    assert log.read_bytes() == before
    assert len(list(read(tmp_path / "back.eval"))) == 2


def test_votes_return_in_the_extra_data_of_atif(store: Store, tmp_path: Path) -> None:
    trajectory, spectrum = an_example(1)
    store.spectra.add(spectrum)
    path = logs_atif.examples(trajectory, spectrum, tmp_path)
    imported(store, path)
    decide(store, "BB", 1, "keep")
    write_verdicts(store, path, tmp_path / "back.json")
    before, after = (json.loads(file.read_text(encoding="utf-8")) for file in (path, tmp_path / "back.json"))
    review = after["extra"].pop(REVIEW)
    assert [(d["person"], d["verb"]) for d in review["decisions"]] == [("BB", "keep")]
    assert {**after, "extra": None} == {**before, "extra": None}


@pytest.mark.parametrize("form", ["atif", "inspect"])
def test_an_export_of_ours_gets_the_reviews_of_another_database(store: Store, tmp_path: Path, form: str) -> None:
    spectrum = a_spectrum("a.fits")
    add_approved(store, (a_trace(spectrum), spectrum))
    folder = export(store, "out", folder=tmp_path, layout=layout_of_logs(form)).folder
    (file,) = (path for path in folder.iterdir() if path.is_file() and path.name != "manifest.json")
    assert write_verdicts(store, file, tmp_path / f"back{file.suffix}").items == (1,)


def test_what_a_person_scores_blind_stays_hidden(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spectrum = a_spectrum("a.fits")
    add_approved(store, (a_trace(spectrum), spectrum))
    exported = export(store, "out", folder=tmp_path, layout=layout_of_logs("atif"))
    file = next(exported.folder.glob("cv_*.json"))
    monkeypatch.setattr(type(store.blind.scoring), "hidden_items", lambda self, person: frozenset({1}))
    written = write_verdicts(store, file, tmp_path / "back.json", "AA")
    assert (written.items, written.blind) == ((), 1)


def test_nothing_is_replaced_and_other_formats_are_refused(store: Store, tmp_path: Path) -> None:
    trajectory, spectrum = an_example(1)
    path = logs_atif.examples(trajectory, spectrum, tmp_path)
    shutil.copy(path, tmp_path / "taken.json")
    with pytest.raises(ExportError, match="the file exists"):
        write_verdicts(store, path, tmp_path / "taken.json")
    (tmp_path / "other.json").write_text("[1, 2]")
    with pytest.raises(ExportError, match="Inspect and ATIF only"):
        write_verdicts(store, tmp_path / "other.json", tmp_path / "new.json")
    assert not (tmp_path / "new.json").exists()
