"""Certificates: the file, what it covers, its verdicts, its suspension, and ``spec-o3 inspect --certificate``."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table
from hypothesis import given
from hypothesis import strategies as st

import app
from agent.trust.certificate import Certificate, CertificateError, CertifiedPolicy, read, write
from agent.trust.features import Features
from agent.trust.score import RAW, ScoreModel, Term, logistic
from agent.trust.sides import Requirements
from agent.trust.suspension import Suspension, add_scores, shift_path, suspend, suspension, suspension_path
from tests.support.certificates import YES, certificate

WITHOUT_YES = replace(YES, threshold=None, upper=None, missing=12, refusal="12 more labels")


def features(p: float) -> Features:
    return Features(answer=float(np.log(p / (1 - p))))


def test_a_certificate_is_read_as_it_was_written(tmp_path: Path) -> None:
    fitted = ScoreModel("logistic", -0.1, (Term("answer", 0.3, 1.7, 2.2), Term("log_snr", 1, 0.5, 0.1, -0.3)))
    more = {"score": fitted, "medium": "air", "yes": WITHOUT_YES, "calibration_yes": (True, False) * 100}
    for made in (certificate(), certificate(**more)):
        write(made, tmp_path / "c.json")
        assert read(tmp_path / "c.json") == made


def test_objects_are_recorded_and_files_from_before_keep_their_hash(tmp_path: Path) -> None:
    before = certificate()
    assert set(before.to_json()["labels"]) == {"source", "n", "yes", "without"}
    made = replace(before, labels=replace(before.labels, objects=60, unknown=2))
    write(made, tmp_path / "c.json")
    assert read(tmp_path / "c.json") == made
    assert "179 labels of 60 objects: those of one object" in made.statement()
    assert "objects" not in before.statement()


def test_a_lower_threshold_by_hand_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write(certificate(), path)
    path.write_text(path.read_text().replace('"threshold": 0.8', '"threshold": 0.5'))
    with pytest.raises(
        CertificateError, match=r"c\.json: sha256: found .*, expected .*: the file was changed after it was written"
    ):
        read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "found no JSON"), ("[]", "schema: found 'list'"), ('{"schema": "spec-o3/trial/1"}', "expected 'spec-o3/c")],
)
def test_another_file_is_refused_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(CertificateError, match=message) as caught:
        read(path)
    assert "other.json" in str(caught.value)


def test_a_field_of_another_type_is_named() -> None:
    import agent.trust.certificate as module

    content = {key: value for key, value in certificate().to_json().items() if key != "sha256"}
    for field, value in (("samples", 1.5), ("calibration", [2.0]), ("yes", {"verdict": "NO"}), ("medium", "oil")):
        changed = content | {field: value}
        with pytest.raises(CertificateError, match=field):
            Certificate.from_json(changed | {"sha256": module._sha256(changed)})


def covers(given: Certificate, **changed: object) -> str:
    asked = {"task": given.task, "prompt_sha256": given.prompt_sha256, "policy": given.policy, "samples": given.samples}
    return given.refusal(**asked | changed)


def test_the_run_of_the_certificate_is_covered_whatever_its_seed_and_server() -> None:
    given = certificate(policy=CertifiedPolicy("model", "m", {"temperature": 0.7, "seed": 1, "prompt_sha256": "a"}))
    assert covers(given) == ""
    assert covers(given, policy=CertifiedPolicy("model", "m", {"temperature": 0.7, "seed": 5})) == ""
    assert CertifiedPolicy("model", "m", {"weights_sha256": "ab"}).model_hash == "ab"
    assert CertifiedPolicy("model", "m", {"server": "vllm"}).model_hash == "not known"
    assert CertifiedPolicy("baseline", "b", {"scorecards_sha256": "12ab"}).model_hash == "12ab"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"task": "wd"}, "task was 'cv', is 'wd'"),
        ({"prompt_sha256": "0" * 64}, "prompt_sha256 was"),
        ({"samples": 5}, "samples was 1, is 5"),
        ({"medium": "air"}, "medium was not given, is 'air'"),
        ({"policy": CertifiedPolicy("model", "m", {"weights_sha256": "b"})}, "settings.weights_sha256 was 'a', is 'b'"),
        ({"policy": CertifiedPolicy("model", "n", {"weights_sha256": "a"})}, "policy.name was 'm', is 'n'"),
    ],
)
def test_a_refusal_names_what_differs(changed: dict, named: str) -> None:
    given = certificate(policy=CertifiedPolicy("model", "m", {"weights_sha256": "a"}))
    assert named in covers(given, **changed)


@given(st.floats(0.001, 0.999))
def test_a_verdict_follows_from_the_thresholds(p: float) -> None:
    found = certificate().judge(features(p), "", 20.0, ())
    given = RAW.p_yes(features(p))
    assert found.p_yes == given
    assert found.verdict == ("YES" if given >= 0.8 else "NO" if given <= 0.2 else "ASK")
    assert (found.reason == "") == (found.verdict != "ASK")


def test_a_side_that_is_not_certified_gives_no_verdict() -> None:
    given = certificate(yes=WITHOUT_YES)
    found = given.judge(features(0.99), "", 20.0, ())
    assert (found.verdict, found.cause, found.reason) == (
        "ASK",
        "not certified",
        "P(YES) is 0.990, and YES is not certified.",
    )
    assert given.judge(features(0.3), "", 20.0, ()).cause == "between the thresholds"
    assert given.judge(features(0.1), "", 20.0, ()).verdict == "NO"


@pytest.mark.parametrize(
    ("survey", "snr", "reasons", "cause", "words"),
    [
        ("LAMOST", 20.0, (), "survey", "the survey is LAMOST; the certificate covers DESI, SDSS"),
        ("DESI", 2.9, (), "S/N", "S/N 2.9 per pixel; the certificate covers 3.0 to 90.0"),
        ("DESI", 91.0, (), "S/N", "S/N 91.0"),
        ("DESI", None, (), "S/N", "S/N undefined"),
        ("DESI", 20.0, ("Hα: no data.",), "data", "Hα: no data."),
    ],
)
def test_what_is_not_covered_goes_to_a_person(survey, snr, reasons, cause, words):
    given = certificate(surveys=("DESI", "SDSS"), snr=(3.0, 90.0))
    found = given.judge(features(0.99), survey, snr, reasons)
    assert (found.verdict, found.cause) == ("ASK", cause)
    assert words in found.reason
    assert given.judge(features(0.99), "DESI", 3.0, ()).verdict == "YES"


def test_a_case_without_an_answer_has_no_probability() -> None:
    found = certificate().judge(Features(), "", 20.0, ())
    assert (found.verdict, found.p_yes) == ("ASK", None)


def test_the_statement_is_of_the_certified_sides_only() -> None:
    both = certificate().statement()
    assert both.startswith(
        "Of the cases called YES at most 5 % are NO, stated with 95 % confidence. Of the cases called NO"
    )
    assert "called YES" not in certificate(yes=WITHOUT_YES).statement()
    assert (
        "Of the YES objects at most 5 % are called NO"
        in certificate(requirements=Requirements(no_risk="missed")).statement()
    )


def scores(seed: int, n: int, power: float = 1.0) -> dict[str, float]:
    values = np.random.default_rng(seed).random(n) ** power
    return {hashlib.sha256(f"{seed} {at}".encode()).hexdigest(): float(p) for at, p in enumerate(values)}


def test_other_scores_suspend_a_certificate_and_scores_like_the_calibration_do_not(tmp_path: Path) -> None:
    path, given = tmp_path / "c.json", certificate()
    write(given, path)
    assert add_scores(path, given, scores(1, 300), "2026-02-01") is None
    assert suspension(path) is None
    found = add_scores(path, given, scores(2, 300, 4.0), "2026-02-02")
    assert found is not None
    assert found == suspension(path)
    assert (found.by, found.certificate, found.at) == ("scores", given.sha256, "2026-02-02")


def test_a_spectrum_counts_once(tmp_path: Path) -> None:
    path, given = tmp_path / "c.json", certificate()
    write(given, path)
    # One spectrum again and again would look like a shift.
    for _ in range(100):
        assert add_scores(path, given, {"ab": 0.5}, "now") is None
    state = json.loads(shift_path(path).read_text())
    assert state["seen"] == ["ab"]


def test_a_list_that_is_sorted_by_probability_is_no_shift(tmp_path: Path) -> None:
    path, given = tmp_path / "c.json", certificate()
    write(given, path)
    values = sorted(scores(3, 300).values())
    assert add_scores(path, given, dict(zip(scores(3, 300), values, strict=True)), "now") is None
    other = tmp_path / "d.json"
    write(given, other)
    found = [add_scores(other, given, {spectrum: p}, "now") for spectrum, p in zip(scores(3, 300), values, strict=True)]
    assert any(found)


def test_scores_are_not_compared_with_cases_that_the_queue_chose(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    chosen = {"sampling": "logged", "calibration": tuple(scores(1, 200).values()), "calibration_yes": (True,) * 200}
    for made in (certificate(**chosen), certificate(**chosen | {"calibration_yes": None})):
        write(made, path)
        found = add_scores(path, made, scores(2, 300, 4.0), "now")
        assert (found is None) == (made.calibration_yes is not None)


def test_a_suspension_of_another_certificate_has_no_effect(tmp_path: Path) -> None:
    path, given = tmp_path / "c.json", certificate()
    write(given, path)
    suspend(path, Suspension("0" * 64, "case 3", "scores", "so", "now"))
    assert suspension(path) is None
    suspend(path, Suspension(given.sha256, "case 3", "scores", "so", "now"))
    assert suspension(path) is not None


def test_a_damaged_suspension_is_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write(certificate(), path)
    suspension_path(path).write_text("{")
    with pytest.raises(CertificateError, match=r"c\.json\.suspended\.json"):
        suspension(path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two stars with broad emission and one without, and ``c.json``."""
    monkeypatch.chdir(tmp_path)
    wavelength = np.linspace(3800.0, 9000.0, 900)
    rng = np.random.default_rng(0)
    for name, height in (("a", 80.0), ("b", 60.0), ("flat", 0.0)):
        lines = sum(height * np.exp(-0.5 * ((wavelength - at) / 12.0) ** 2) for at in (6564.6, 4862.7, 4341.7))
        flux = 100.0 + lines + rng.normal(0, 5.0, 900)
        Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(900, 0.04)}).write(f"{name}.csv")
    write(RUN, Path("c.json"))
    return tmp_path


RUN = certificate(yes=replace(YES, threshold=0.55))


def inspect(*arguments: str) -> int:
    names = ["a.csv", "b.csv", "flat.csv"]
    workers = ["--concurrency", "2", "--out", "r.jsonl"]
    return app.main(["inspect", "--task", "cv", *workers, *arguments, *names])


def rows(path: str = "t.csv") -> dict[str, dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def test_the_table_has_the_verdicts_of_the_certificate(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect("--certificate", "c.json", "--table", "t.csv", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    found = rows()
    for row in found.values():
        p = float(row["p_yes"])
        assert p == pytest.approx(logistic(float(row["score"])), abs=1e-3)
        assert row["verdict"] == ("YES" if p >= 0.55 else "NO" if p <= 0.2 else "ASK")
    assert found["a.csv"]["verdict"] == "YES"
    stated = summary["certificate"]
    assert stated["statement"] == RUN.statement()
    assert (stated["yes"]["threshold"], stated["no"]["limit"], stated["suspended"]) == (0.55, 0.05, None)
    assert sum(stated["asked"].values()) == summary["ask"]
    assert len(json.loads(Path("c.json.shift.json").read_text())["seen"]) == 3


def test_without_a_certificate_the_table_has_no_probability(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect("--table", "t.csv", "--json") == 0
    assert "certificate" not in json.loads(capsys.readouterr().out)
    assert "p_yes" not in rows()["a.csv"]


def test_a_spectrum_outside_the_survey_and_sn_is_left_to_a_person(here, capsys):
    write(certificate(snr=(500.0, 900.0)), Path("c.json"))
    assert inspect("--certificate", "c.json", "--table", "t.csv") == 0
    assert {row["verdict"] for row in rows().values()} == {"ASK"}
    assert "the certificate covers 500.0 to 900.0" in rows()["a.csv"]["reasons"]
    assert "left to a person by the certificate: 3 with another S/N" in capsys.readouterr().out
    # What is not covered says nothing about a shift.
    assert json.loads(Path("c.json.shift.json").read_text())["seen"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-turns", "3"], "policy.settings.max_turns was 8, is 3"),
        (["--medium", "air"], "medium was not given, is 'air'"),
        (["--min-snr", "1"], "--min-snr has no effect with --certificate"),
    ],
)
def test_a_run_that_is_not_covered_is_refused(here, capsys, arguments, message):
    assert inspect("--certificate", "c.json", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not Path("r.jsonl").exists()


def test_a_suspended_certificate_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suspend(Path("c.json"), Suspension(RUN.sha256, "new case 12", "scores", "The scores differ.", "now"))
    assert inspect("--certificate", "c.json") == 2
    assert "c.json: the certificate is suspended since new case 12" in capsys.readouterr().err


def test_a_run_that_raises_the_alarm_gives_no_verdict(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # So many other scores were counted before this run that the alarm is raised; only its file is missing.
    assert add_scores(Path("c.json"), RUN, scores(5, 300, 4.0), "before") is not None
    suspension_path(Path("c.json")).unlink()
    assert inspect("--certificate", "c.json", "--table", "t.csv") == 1
    assert "THE CERTIFICATE IS SUSPENDED" in capsys.readouterr().out
    assert {row["verdict"] for row in rows().values()} == {"ASK"}
    assert "The certificate is suspended: P(YES) of the" in rows()["a.csv"]["reasons"]
    assert inspect("--certificate", "c.json") == 2
