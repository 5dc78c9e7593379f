"""What is stored is English, whoever's language the program speaks; what is shown is in the language of the context."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

from agent.batch.run import Job, Plan, inspect_one
from agent.conversation import PolicyError, Stop
from agent.hints import hints, thought_on
from agent.hints.claims import claims_of, compare
from agent.hints.evidence import evidence
from agent.language import Message, deferred, deferredn, joined, localized, speaking, tr
from agent.loop import run
from agent.measure import rest
from agent.policies.baseline.rule import Baseline
from agent.settings_file import Problem
from agent.simulate import simulate
from agent.spectrum import SpectrumError
from agent.tasks import load

TASKS = load()
CV = simulate("cv", "LAMOST", 25, 2)


class Broken:
    """A policy whose server is gone."""

    drafter = Baseline().drafter

    def turn(self, conversation):
        yield ""
        raise PolicyError(deferred("found no policy {key!r:.60}, expected one of {known}", key="x", known="y"))


class NotRead:
    def spectrum(self):
        return SpectrumError("a.fits", tr("more data than fits into memory"), deferred("a spectrum"))


class Here:
    def spectrum(self):
        return CV


def test_a_draft_is_the_same_in_every_language():
    english = run(CV, TASKS["cv"], Baseline())
    with speaking("zh"):
        chinese = run(CV, TASKS["cv"], Baseline())
        stored = json.dumps(chinese.to_json(), ensure_ascii=False)
    assert stored == json.dumps(english.to_json(), ensure_ascii=False)


@pytest.mark.parametrize(
    ("reading", "detail"),
    [
        (Here(), "found no policy 'x', expected one of y"),
        (NotRead(), "a.fits: found more data than fits into memory; expected a spectrum"),
    ],
)
def test_why_an_inspection_failed_is_stored_in_english(reading, detail):
    plan = Plan(TASKS["cv"], lambda sample: Broken(), retries=0)
    with speaking("zh"):
        outcome = inspect_one(Job("a", Path("a")), reading, plan, Broken(), Stop())
    assert str(outcome.detail) == detail


def test_an_error_is_shown_in_the_language_in_which_it_is_read():
    error = PolicyError(deferred("found no policy {key!r:.60}, expected one of {known}", key="x", known="y"))
    assert str(error) == "found no policy 'x', expected one of y"
    problem = Problem("servers.toml", "url", deferred("nothing"), deferred("a value"))
    with speaking("zh"):
        assert str(error) == "没有策略 'x'，应为 y 之一"
        assert str(problem) == "servers.toml：url：现为 无，应为 一个值"
    assert str(problem) == "servers.toml: url: found nothing, expected a value"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_hints_are_english_until_they_are_shown():
    trace = run(CV, TASKS["cv"], Baseline())
    zoom = trace.zooms[0]
    english = hints(CV, zoom, TASKS["cv"], thought_on(trace, zoom), True)
    with speaking("zh"):
        again = hints(CV, zoom, TASKS["cv"], thought_on(trace, zoom), True)
        shown = localized([hint.text for hint in again])
    assert english == again
    # A hint of names and numbers alone is the same.
    assert sum(any("\u4e00" <= letter <= "\u9fff" for letter in text) for text in shown) > len(shown) / 2, shown
    assert [tr(hint.text) for hint in english] == [hint.text for hint in english]


def test_claims_are_read_and_compared_alike_in_every_language():
    text = "Hα is in emission. There is no He II 4686 emission."
    data = evidence(rest(CV))
    english = [compare(claim, data) for claim in claims_of(text)]
    assert english
    with speaking("zh"):
        chinese = [compare(claim, evidence(rest(CV))) for claim in claims_of(text)]
    assert english == chinese


def test_a_deferred_message_is_a_text_that_can_be_translated_later():
    reason = deferred("no data in {window}", window="1–2 Å")
    text = joined((deferred("{name} not measured: {reason}", name="Hα", reason=reason), "EW 3 Å"), ", ")
    for one in (text, copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert one == "Hα not measured: no data in 1–2 Å, EW 3 Å"
        assert json.dumps(one) == json.dumps(str(one))
        with speaking("zh"):
            assert tr(one) == "Hα 未测量：1–2 Å 中没有数据，EW 3 Å"
            assert localized({"a": [one, 1]}) == {"a": ["Hα 未测量：1–2 Å 中没有数据，EW 3 Å", 1]}
    assert (deferredn("{n} sample", "{n} samples", 1), deferredn("{n} sample", "{n} samples", 2)) == (
        "1 sample",
        "2 samples",
    )
    with speaking("zh"):
        assert tr(deferredn("{n} sample", "{n} samples", 2, n="2 000")) == "2 000 个样本"
    label = deferred("no data in {window}")
    assert isinstance(label, Message)
    assert tr(label, window="3–4 Å") == "no data in 3–4 Å"
