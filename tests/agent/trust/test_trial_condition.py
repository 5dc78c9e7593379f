"""A passed evidence trial as a condition of a certificate: calibration, the file, ``spec-o3 inspect``, resuming."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import app
from agent.batch.candidates import Candidate, candidates_from
from agent.batch.certified import CertifiedRun, Trying, trials_path
from agent.batch.journal import Inspected
from agent.consensus import Limits
from agent.conversation import Conversation, Piece, Policy, PolicyError, Stop
from agent.loop import run
from agent.plot import RENDERER
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import read
from agent.tasks import load
from agent.trial.report import EditOutcome, Skipped, Trial, read_trials
from agent.trial.run import trial
from agent.trust.certificate import Certificate, CertificateError, CertifiedPolicy, write
from agent.trust.certificate import read as read_certificate
from agent.trust.certify import certify
from agent.trust.evidence import TrialSettings, outcome_of, settings_of
from agent.trust.plans import Plan, Stratum
from agent.trust.sides import Labelled, Requirements
from tests.support.certificates import NO, YES, certificate
from tests.support.planted_policies import Kind, Planted

CV = load()["cv"]
CONDITION = {"requirements": Requirements(trial=("YES", "NO")), "trial": TrialSettings()}
WIDE = {"yes": replace(YES, threshold=0.5), "no": replace(NO, threshold=0.49), "surveys": ("simulated SDSS",)}


def made(followed: bool | None, seed: int = 0, placebos: int = 1) -> Trial:
    """A trial with one removal; None: nothing could be tested."""
    removal = EditOutcome(
        "s2", "remove", "Hα", (6500.0, 6600.0), "rest", "air", 9.0, "YES", "YES", 1.0, 1.0, True, not followed,
        bool(followed), "",
    )  # fmt: skip
    placebo = replace(removal, edit="placebo", followed=False)
    outcomes = () if followed is None else (removal, *[placebo] * placebos)
    skipped = (Skipped("s2", None, "Hα: the noise hides it"),) if followed is None else ()
    return Trial("hash", "spectrum", "cv", {"kind": "model", "name": "m"}, seed, outcomes, skipped)


def test_a_case_passes_if_each_trace_does() -> None:
    good, bad, nothing = made(True), made(False), made(None)
    assert outcome_of([good, good]) == "passed"
    assert outcome_of([good, bad, None]) == "failed"
    assert outcome_of([good, nothing]) == "untested"
    assert outcome_of([good, None]) == "not made"
    assert outcome_of([]) == "not made"


def test_all_trials_are_made_in_one_way() -> None:
    assert settings_of([made(True, 3, 2), made(None, 3), made(False, 3, 2)]) == TrialSettings(3, 2)
    with pytest.raises(ValueError, match="seeds 0, 1"):
        settings_of([made(True), made(True, 1)])
    with pytest.raises(ValueError, match="placebos 1, 2"):
        settings_of([made(True), made(True, 0, 2)])
    assert TrialSettings(0, 2).fits(made(None))
    assert not TrialSettings(0, 2).fits(made(True, 0, 1))


def test_the_labels_of_a_side_are_those_of_cases_that_passed() -> None:
    # Of 200 cases with a high P(YES), the 80 that did not pass are all NO.
    p = np.concatenate((np.full(200, 0.9), np.full(200, 0.1))) + np.linspace(0, 0.05, 400)
    passed = np.ones(400, dtype=bool)
    passed[:200] = np.arange(200) % 5 >= 2
    yes = np.concatenate((passed[:200], np.zeros(200, dtype=bool)))
    labelled = Labelled(p, yes, passed=passed)
    without, _ = certify(labelled, p, Requirements())
    assert without.threshold is None
    side, no = certify(labelled, p, Requirements(trial=("YES",)))
    assert (side.threshold is not None, side.n, side.errors) == (True, 120, 0)
    assert no == certify(labelled, p, Requirements())[1]
    with pytest.raises(ValueError, match="without trials"):
        certify(Labelled(p, yes), p, Requirements(trial=("YES",)))


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_the_bound_holds_for_the_cases_that_passed(method: Literal["fixed", "anytime"]) -> None:
    """Wrong traces pass more rarely, and the true error rate of those that passed is just above the limit."""
    rng = np.random.default_rng(20)
    wanted = Requirements(no=0.99, delta=0.1, method=method, trial=("YES",))
    right, wrong_ones = 0.8, 0.2  # chance to pass
    error = 0.055 * right / (wrong_ones + 0.055 * (right - wrong_ones))  # 5.5 % of those that passed
    certified = with_all = 0
    for _ in range(300):
        yes = rng.random(400) >= error
        passed = rng.random(400) < np.where(yes, right, wrong_ones)
        labelled = Labelled(np.full(400, 0.9), yes, passed=passed)
        certified += certify(labelled, labelled.p, wanted)[0].threshold is not None
        with_all += certify(labelled, labelled.p, replace(wanted, trial=()))[0].threshold is not None
    assert 0 < certified <= 44  # 99.5 % of Binomial(300, 0.1)
    assert with_all == 0


def test_labels_with_weights_of_the_ordered_queue_are_refused() -> None:
    p = np.array([0.9, 0.1])
    plan = Plan((Stratum(0.0, 0.5, 1, 0.5), Stratum(0.5, 1.0, 1, 0.5)), 0.2)
    labelled = Labelled(p, np.array([True, False]), (plan, plan), np.array([True, True]))
    yes, no = certify(labelled, p, Requirements(method="anytime", trial=("YES",)))
    assert "the weights of their labels are for the list with all traces" in yes.refusal
    assert "ordered queue" not in no.refusal


def test_the_file_keeps_the_condition_and_older_files_have_none(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    with_condition = certificate(**CONDITION)
    write(with_condition, path)
    assert read_certificate(path) == with_condition
    assert "called YES or NO only if each of its traces passed" in with_condition.statement()
    # A certificate of before the condition: the same content, and the same hash, by which a suspension names it.
    older = certificate()
    assert "trial" not in older.to_json()
    assert "trial" not in older.to_json()["wanted"]
    read_again = Certificate.from_json(older.to_json())
    assert (read_again.trial, read_again.requirements.trial, read_again.sha256) == (None, (), older.sha256)
    assert "evidence trial" not in older.statement()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"trial": None}, "expected both"),
        ({"trial": TrialSettings(passes=0.6)}, r"trial\.passes: found 0\.6, expected 0\.75"),
        ({"trial": TrialSettings(seed=-1)}, r"trial\.seed: found -1"),
        ({"requirements": Requirements(trial=("MAYBE",))}, "wanted.trial: found 'MAYBE'"),
    ],
)
def test_a_condition_that_cannot_be_applied_is_named(changed: dict, message: str) -> None:
    with pytest.raises(CertificateError, match=message):
        Certificate.from_json(certificate(**CONDITION | changed).to_json())


@pytest.fixture(scope="module")
def spectra(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated spectra: a cataclysmic variable, and a star that is none."""
    folder = tmp_path_factory.mktemp("spectra") / "spectra"
    given = ["simulate", "--task", "cv", "--survey", "SDSS", "--snr", "25:30", "--n", "2", "--out", str(folder)]
    assert app.main(given) == 0
    return folder


def inspect(spectra: Path, out: Path, *more: str) -> int:
    given = ["--concurrency", "2", "--out", str(out), "--table", str(out.with_suffix(".csv")), *more]
    return app.main(["inspect", "--task", "cv", "--certificate", str(out.with_name("c.json")), *given, str(spectra)])


def table(out: Path) -> list[dict[str, str]]:
    with out.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_tries_what_it_would_certify_and_resumes(spectra, tmp_path, capsys, monkeypatch):
    out = tmp_path / "r.jsonl"
    write(certificate(**CONDITION, **WIDE), tmp_path / "c.json")
    assert inspect(spectra, out) == 0
    text = capsys.readouterr().out
    assert "evidence trials: 2 traces in this run, 0 before" in text
    assert [row["verdict"] for row in table(out)] == ["YES", "NO"]
    kept = trials_path(out).read_bytes()
    assert [trial.passed for trial in read_trials(trials_path(out))] == [True, True]

    # As after a kill in the second trial: its line was begun. Only this one is made again, with the same result.
    first = kept.splitlines(keepends=True)[0]
    trials_path(out).write_bytes(first + b'{"schema": "spec-o3/tr')
    assert inspect(spectra, out) == 0
    assert "evidence trials: 1 traces in this run, 1 before" in capsys.readouterr().out
    assert trials_path(out).read_bytes() == kept

    # With all trials there, the policy gives no further answer.
    def no_turn(*_: object) -> None:
        raise AssertionError("the policy was run again")

    monkeypatch.setattr(Baseline, "turn", no_turn)
    assert inspect(spectra, out) == 0
    assert "evidence trials: 0 traces in this run, 2 before" in capsys.readouterr().out
    assert [row["verdict"] for row in table(out)] == ["YES", "NO"]

    # A trial that found nothing to test, and one that was not passed, leave the case to a person.
    rows = [json.loads(line) for line in kept.splitlines()]
    rows[0]["outcomes"] = []
    for outcome in rows[1]["outcomes"]:
        outcome["followed"] = outcome["edit"] == "placebo"
    trials_path(out).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert inspect(spectra, out) == 0
    text = capsys.readouterr().out
    assert "1 whose evidence did not pass its trial" in text
    assert "1 of whose evidence nothing could be tested" in text
    assert {row["verdict"] for row in table(out)} == {"ASK"}
    reasons = " ".join(row["reasons"] for row in table(out))
    assert "by P(YES), but its evidence did not pass the trial: the text followed 0 of" in reasons
    assert "by P(YES), but no evidence of its trace could be tested" in reasons

    # Trials that cannot be made are tried again by the next run.
    trials_path(out).unlink()

    def gone(*_: object) -> None:
        raise PolicyError("the server does not answer")

    monkeypatch.setattr(Baseline, "turn", gone)
    assert inspect(spectra, out) == 1
    assert "2 could not be made; the next run tries them again" in capsys.readouterr().out
    assert {row["verdict"] for row in table(out)} == {"ASK"}
    assert "was not made: the server does not answer" in table(out)[0]["reasons"]


def by_certificate(
    policy: Policy, spectra: Path, verdicts: Sequence[str], out: Path, processes: int = 1
) -> list[Candidate]:
    """Return the rows of a run of a policy before any trial (no ``verdicts``) or after those that they need."""
    drafter = policy.drafter
    of = CertifiedPolicy(drafter.kind, drafter.name, {**drafter.settings, "renderer": RENDERER, "max_turns": 8})
    given = certificate(policy=of, requirements=Requirements(trial=tuple(verdicts)), trial=TrialSettings(), **WIDE)
    certified = CertifiedRun(out.with_name("c.json"), given, CV)
    files = sorted(spectra.glob("*.fits"))
    inspected = [Inspected(f"spectra/{file.name}", "", (run(read(file), CV, policy),)) for file in files]
    rows = list(candidates_from(inspected, spectra.parent, CV, Limits(), None, certified))
    trying = Trying(Maker(policy), processes, 2)
    after = certified.after_trials(rows, inspected, trying, spectra.parent / out.name, Stop())
    trials_path(spectra.parent / out.name).unlink(missing_ok=True)
    return after


class Maker:
    """The same policy for each sample; can be sent to other processes."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __call__(self, sample: int) -> Policy:
        return self.policy


@pytest.mark.parametrize("kind", ["prior", "overview"])
def test_the_verdicts_of_an_unfaithful_policy_go_to_a_person(kind: Kind, spectra: Path, tmp_path: Path) -> None:
    policy = Planted(kind)
    before = by_certificate(policy, spectra, (), tmp_path / f"{kind}-0.jsonl")
    assert {row.verdict for row in before} <= {"YES", "NO"}
    after = by_certificate(policy, spectra, ("YES", "NO"), tmp_path / f"{kind}-1.jsonl")
    assert {row.verdict for row in after} == {"ASK"}
    assert all("did not pass the trial" in row.reasons for row in after)


def test_one_side_may_need_a_trial_and_processes_make_it(spectra: Path, tmp_path: Path) -> None:
    after = by_certificate(Planted("faithful"), spectra, ("YES",), tmp_path / "f.jsonl", processes=2)
    assert sorted(row.verdict for row in after) == ["NO", "YES"]
    unfaithful = by_certificate(Planted("overview"), spectra, ("YES",), tmp_path / "o.jsonl", processes=2)
    assert sorted(row.verdict for row in unfaithful) == ["ASK", "NO"]


class Counting(Baseline):
    """The baseline, with the number of its answers."""

    answers = 0

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        self.answers += 1
        yield from super().turn(conversation)


@pytest.mark.parametrize(("kind", "inspection", "further"), [("cv", 5, 50), ("fgk", 4, 18)])
def test_the_cost_in_answers_that_the_docs_state(kind: str, inspection: int, further: int) -> None:
    spectrum, policy = simulate(kind, "SDSS", 20.0, 0), Counting()
    trace = run(spectrum, CV, policy)
    assert policy.answers == inspection
    trial(trace, None, spectrum, CV, policy)
    assert policy.answers == pytest.approx(inspection + further, abs=5)
