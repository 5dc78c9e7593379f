"""Building the benchmark, and the questions read from it or from survey files with labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from agent.cli.command import CannotRun
from agent.simulate import simulate
from agent.simulate.files import LABELS, for_task, orders
from agent.simulate.files import write as write_spectra
from agent.spectrum import Spectrum, SpectrumError, read
from agent.spectrum.readers import own
from agent.tasks import load
from tests.support.cli import parsed
from training.bench.build import Built, Entry, Part, Recipe, WeakClassifier, build
from training.cli import bench_build
from training.data import DataError, Dropped, questions
from training.data import survey_files as survey_files_module

TASK = load()["cv"]


class ByName:
    """A weak classifier that uses only the name: ``hard-...`` is 0.9, ``mute-...`` None, others 0.1."""

    def __init__(self, aside: int = 0) -> None:
        self.aside = aside
        self.learned: list[str] = []

    def learn(self, positives: Sequence[Spectrum], candidates: Iterator[tuple[Entry, Spectrum]]) -> None:
        for _, (entry, _spectrum) in zip(range(self.aside), candidates, strict=False):
            self.learned.append(entry.source)

    def p(self, entries: Sequence[Entry], spectra: Sequence[Spectrum]) -> list[float | None]:
        return [
            None if entry.source.startswith("mute") else 0.9 if entry.source.startswith("hard") else 0.1
            for entry in entries
        ]

    def description(self) -> dict[str, object]:
        return {"kind": "predictions", "file": "names", "sha256": "", "lines": 0}


def entry(name: str, snr: float = 20.0, flux: float | None = None) -> Entry:
    level = flux if flux is not None else float(abs(hash(name)) % 10**9)

    def spectrum() -> Spectrum:
        if name.startswith("broken"):
            raise SpectrumError(name, "nothing", "a spectrum")
        grid = np.linspace(4000.0, 7000.0, 12)
        return Spectrum(grid, np.full(12, level), np.ones(12), name=name, snr={"median": snr})

    return Entry(name, name, spectrum)


def entries(kind: str, number: int) -> list[Entry]:
    return [entry(f"{kind}-{n}", flux=float(sum(kind.encode()) * 10_000 + n)) for n in range(number)]


def made(
    positives: int = 10,
    candidates: Sequence[Entry] | None = None,
    weak: WeakClassifier | None = None,
    placed: dict[str, Part] | None = None,
    **recipe: Any,
) -> Built:
    pool = [*entries("hard", 40), *entries("easy", 100)] if candidates is None else candidates
    return build(Recipe("cv", **recipe), entries("yes", positives), pool, weak or ByName(), placed)


def sources(built: Built, part: Part) -> set[str]:
    return {chosen.entry.source for chosen in built.part(part)}


def test_the_published_proportions() -> None:
    built = made(positives=10)
    for part, yes, no in (("train", 6, 6), ("test", 4, 20)):
        rows = built.part(part)  # type: ignore[arg-type]
        assert [sum(chosen.label == label for chosen in rows) for label in ("YES", "NO")] == [yes, no]
    assert not sources(built, "train") & sources(built, "test")
    assert all(chosen.negative == "hard" and chosen.p == 0.9 for chosen in built.test if chosen.label == "NO")
    assert all(chosen.negative is None for chosen in built.test if chosen.label == "YES")


def test_only_candidates_above_the_bar_are_kept_and_the_rate_is_reported() -> None:
    built = made(positives=10, test_ratio=(1, 8))
    assert (built.accepted, built.short) == (38, 0)
    assert built.acceptance == 38 / built.scored
    # The order of a part does not reveal the labels.
    assert [chosen.label for chosen in built.test] != sorted(chosen.label for chosen in built.test)


def test_one_seed_gives_one_benchmark_for_any_order_of_the_files() -> None:
    pool = [*entries("hard", 40), *entries("easy", 100)]
    first, again, other_seed = made(candidates=pool), made(candidates=pool[::-1]), made(candidates=pool, seed=1)
    assert [t.entry for t in first.test] == [t.entry for t in again.test]
    assert sources(first, "test") != sources(other_seed, "test")


def test_too_few_hard_negatives_are_counted_and_filled_only_with_fill() -> None:
    pool = [*entries("hard", 5), *entries("easy", 40)]
    short = made(candidates=pool)
    assert short.exhausted
    assert (short.short, short.missing("train"), short.missing("test")) == (21, 6, 15)
    filled = made(candidates=pool, fill=True)
    assert filled.short == 0
    random = [chosen for part in (filled.train, filled.test) for chosen in part if chosen.negative == "random"]
    assert len(random) == 21
    assert all(chosen.entry.source.startswith("easy") and chosen.p == 0.1 for chosen in random)


def test_the_training_spectra_of_the_weak_classifier_are_in_neither_part() -> None:
    weak = ByName(aside=30)
    built = made(weak=weak)
    assert len(weak.learned) == 30
    assert not set(weak.learned) & (sources(built, "train") | sources(built, "test"))


def test_candidates_that_cannot_be_used_are_left_out_with_the_reason() -> None:
    pool = [
        *entries("hard", 26),
        entry("yes-3"),
        entry("hard-weak-signal", snr=4.0),
        entry("broken-1"),
        entry("mute-1"),
        entry("hard-renamed", flux=float(sum(b"hard") * 10_000 + 7)),
    ]
    built = made(candidates=pool, test_ratio=(1, 6))  # more than exist: all are examined
    assert built.left_out == {
        "the same source again": 1,
        "S/N below 10": 1,
        "cannot be read": 1,
        "no prediction for it": 1,
        "the same numbers under another name": 1,
    }
    assert built.examples["S/N below 10"] == ["hard-weak-signal"]
    assert built.missing("train") + built.missing("test") == 4


def test_a_source_stays_in_its_part_of_another_task() -> None:
    placed: dict[str, Part] = {f"hard-{n}": "train" for n in range(30)} | {"yes-0": "test", "yes-1": "train"}
    built = made(placed=placed, test_ratio=(1, 2))
    assert not {name for name, part in placed.items() if part == "train"} & sources(built, "test")
    assert "yes-0" in sources(built, "test")
    assert "yes-1" in sources(built, "train")


def test_too_few_positives_are_refused_with_the_reason() -> None:
    with pytest.raises(DataError, match=r"cv: found 0 positives to use of 3 \(3: S/N below 10\)"):
        build(Recipe("cv"), [entry(f"faint-{n}", snr=1.0) for n in range(3)], [], ByName())


# The command, over simulated spectra and a file of predictions.


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten cataclysmic variables and thirty look-alikes of two surveys, labelled."""
    folder = tmp_path_factory.mktemp("archive")
    requested = orders(for_task("cv", 40, (1, 3)), ["LAMOST", "DESI"], (12, 30), seed=7)
    requested = [replace(order, redshift=0.001) for order in requested]
    assert len(list(write_spectra(folder / "spectra", requested, ["cv"]))) == 40
    return folder


def predicted(folder: Path, p: Callable[[Spectrum], float]) -> Path:
    lines = []
    for path in sorted((folder / "spectra").glob("*.fits")):
        spectrum = read(path)
        lines.append(json.dumps({"source": path.name, "task": "cv", "probability": p(spectrum)}))
    (folder / "weak.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "weak.jsonl"


def command(*arguments: object) -> int:
    return bench_build.run(parsed(bench_build.Options, *arguments))


def options(archive: Path, output: Path) -> list[object]:
    spectra = archive / "spectra"
    return [spectra, "--labels", spectra / LABELS, "--task", "cv", "--out", output]


def built_in(archive: Path, output: Path, *more: object) -> dict[str, Any]:
    weak = predicted(archive, lambda spectrum: 0.95 if spectrum.meta["kind"] != "wd" else 0.2)
    arguments = [*options(archive, output), "--weak", weak, "--test-ratio", "1:3", *more]
    assert command(*arguments) == 0
    record: dict[str, Any] = json.loads((output / "build_cv.json").read_text())
    return record


def test_the_written_files_have_the_published_schema(archive: Path, tmp_path: Path) -> None:
    built_in(archive, tmp_path)
    rows = pq.read_table(tmp_path / "data" / "test_cv.parquet").to_pylist()
    assert [sum(row["reward_model"]["ground_truth"] == label for row in rows) for label in ("YES", "NO")] == [4, 12]
    row = rows[0]
    assert set(row) == {"images", "data_source", "prompt", "reward_model", "agent_name", "extra_info"}
    assert (row["data_source"], row["agent_name"], row["reward_model"]["type"]) == ("cv", "tool_agent", "rule")
    assert row["images"][0]["bytes"].startswith(b"\x89PNG")
    system, user = row["prompt"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"] == f"<image>\n{TASK.prompt}"
    shown = row["extra_info"]["tools_kwargs"]["spectral_visualization_tool"]["create_kwargs"]
    assert set(shown) == {"flux", "wavelength", "redshift"}
    assert len(shown["flux"]) == len(shown["wavelength"]) > 3000
    assert len({other["extra_info"]["index"] for other in rows}) == len(rows)


def test_the_questions_for_training_are_those_of_the_built_benchmark(archive: Path, tmp_path: Path) -> None:
    record = built_in(archive, tmp_path)
    for part in ("train", "test"):
        found = questions([tmp_path], part=part)  # type: ignore[arg-type]
        assert sorted(question.source for question in found) == record["sources"][part]
        assert all(
            question.simulated and question.survey.startswith("simulated ") and question.snr for question in found
        )
        assert all(question.task.prompt == TASK.prompt for question in found)
        for question in found[:3]:
            spectrum = question.spectrum()
            assert spectrum.sha256 == read(archive / "spectra" / question.source).sha256
            assert (question.label == "YES") == (spectrum.meta["kind"] == "cv")


def test_the_card_describes_how_the_benchmark_was_made(archive: Path, tmp_path: Path) -> None:
    record = built_in(archive, tmp_path, "--seed", 3)
    assert record["recipe"]["seed"] == 3
    assert record["parts"]["test"] | {"surveys": None} == {
        "YES": 4,
        "NO": 12,
        "hard": 12,
        "random": 0,
        "missing": 0,
        "simulated": 16,
        "surveys": None,
    }
    assert record["weak_classifier"]["file"] == "weak.jsonl"
    assert 0 < record["candidates"]["acceptance"] <= 1
    card = (tmp_path / "card_cv.md").read_text()
    assert "Simulated spectra are among these" in card
    assert f"{record['candidates']['accepted']} of {record['candidates']['scored']} scored" in card


def test_too_few_hard_negatives_give_status_1_and_no_files(archive, tmp_path, capsys):
    weak = predicted(archive, lambda spectrum: 0.95 if spectrum.meta["kind"] == "tts" else 0.2)
    assert command(*options(archive, tmp_path), "--weak", weak) == 1
    printed = capsys.readouterr().out
    assert "of 26 hard negatives" in printed
    assert "lower --keep, or let --fill" in printed
    assert not list(tmp_path.iterdir())
    assert command(*options(archive, tmp_path / "none"), "--weak", weak, "--fill", "--test-ratio", "1:9") == 1
    filled = capsys.readouterr().out
    assert "of 42 negatives, " in filled
    assert "found 30 of" in filled
    assert "let --fill" not in filled
    assert not (tmp_path / "none").exists()
    assert command(*options(archive, tmp_path), "--weak", weak, "--fill") == 0
    random = json.loads((tmp_path / "build_cv.json").read_text())["parts"]
    assert random["train"]["random"] + random["test"]["random"] == 26 - accepted_in(printed)


def test_without_torch_fill_takes_random_negatives_and_the_card_says_so(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(bench_build, "find_spec", lambda name: None)
    with pytest.raises(CannotRun, match="or take random negatives, marked, with --fill"):
        command(*options(archive, tmp_path))
    assert command(*options(archive, tmp_path), "--fill", "--test-ratio", "1:3") == 0
    parts = json.loads((tmp_path / "build_cv.json").read_text())["parts"]
    assert [parts[part]["random"] for part in ("train", "test")] == [6, 12]
    assert [parts[part]["hard"] for part in ("train", "test")] == [0, 0]
    assert "none, because torch is not installed" in (tmp_path / "card_cv.md").read_text()


def test_a_folder_that_cannot_be_written_is_refused_at_once(archive, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotRun, match="file: found no folder that can be written to"):
        command(*options(archive, tmp_path / "file" / "out"), "--fill")


def accepted_in(printed: str) -> int:
    return int(printed.split("found ")[1].split(" of")[0])


def test_an_archive_without_labels_gives_negatives(archive: Path, tmp_path: Path) -> None:
    more = tmp_path / "archive"
    more.mkdir()
    for seed in range(30):
        spectrum = simulate("be", "SDSS", 20.0, 1000 + seed)
        own.write(spectrum, more / spectrum.name)
    weak = tmp_path / "weak.jsonl"
    lines = [{"source": path.name, "probability": 0.9} for path in more.iterdir()]
    weak.write_text("".join(json.dumps(line) + "\n" for line in lines))
    output = tmp_path / "out"
    assert command(*options(archive, output), "--weak", weak, "--candidates", more) == 0
    record = json.loads((output / "build_cv.json").read_text())
    negatives = [name for name in record["sources"]["test"] if "-cv-" not in name]
    assert len(negatives) == 20
    assert all("-be-" in name for name in negatives)
    assert record["left_out"]["no prediction for it"] > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"--task": "xx"}, "--task: found 'xx', expected one of"),
        ({"--labels": "none.csv"}, "none.csv"),
        ({"--weak": "none.jsonl"}, "none.jsonl: No such file"),
    ],
)
def test_bad_options_are_reported_in_one_line(archive, tmp_path, change, words):
    arguments = [*options(archive, tmp_path), "--weak", predicted(archive, lambda _: 0.9)]
    for name, value in change.items():
        arguments[arguments.index(name) + 1] = value
    with pytest.raises(CannotRun) as refused:
        command(*arguments)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"source": "a.fits", "probability": 1.2}', "probability: found 1.2, expected a number from 0 to 1"),
        ('{"probability": 0.2}', "source: found None"),
        ('{"source": "a.fits", "task": "wd", "probability": 0.2}', "no prediction for the task cv"),
    ],
)
def test_invalid_predictions_are_refused(archive: Path, tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "weak.jsonl").write_text(line + "\n")
    with pytest.raises(CannotRun) as refused:
        command(*options(archive, tmp_path / "out"), "--weak", tmp_path / "weak.jsonl")
    assert words in str(refused.value)


def test_a_second_benchmark_of_one_task_is_refused_in_one_folder(archive: Path, tmp_path: Path) -> None:
    built_in(archive, tmp_path)
    with pytest.raises(CannotRun, match=r"build_cv\.json: found a benchmark of this task"):
        command(*options(archive, tmp_path), "--weak", archive / "weak.jsonl")


@pytest.fixture
def spectra(tmp_path: Path) -> Path:
    folder = tmp_path / "spectra"
    folder.mkdir()
    for number in range(4):
        lines = "\n".join(f"{4000 + 5 * n},{number + 1}.0,0.1" for n in range(40))
        (folder / f"{number}.csv").write_text(f"wavelength,flux,error\n{lines}\n")
    return folder


def table(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n")
    return path


def test_labelled_files_become_questions_and_the_others_are_left_out(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES", "1.csv,NO", "9.csv,NO")
    dropped: list[Dropped] = []
    found = questions([spectra], None, labels, task="cv", dropped=dropped)
    assert [(q.source, q.label, q.task.key) for q in found] == [("0.csv", "YES", "cv"), ("1.csv", "NO", "cv")]
    assert [q.key for q in found] == ["spectra/0.csv", "spectra/1.csv"]
    assert found[1].spectrum().flux[0] == 2.0
    assert [(left_out.key, left_out.reason) for left_out in dropped] == [
        ("spectra/2.csv", "no label in truth.csv"),
        ("spectra/3.csv", "no label in truth.csv"),
        ("9.csv", "in truth.csv but not among the spectra"),
    ]


def test_no_spectrum_is_read_until_it_is_needed(spectra: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def recorded_read(path: Path, target: str) -> Spectrum:
        read.append(path.name)
        return survey_files_module._file(path).read(target)  # type: ignore[return-value]

    monkeypatch.setattr(survey_files_module, "_read", recorded_read)
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES", "1.csv,NO")
    found = questions([spectra], None, labels, task="cv")
    assert (found[0].survey, found[0].snr, read) == ("", None, [])
    known = found[0].known(found[0].spectrum())
    assert (known.survey, known.snr, read) == ("unknown", pytest.approx(10.0), ["0.csv"])


def test_a_table_with_tasks_gives_a_question_for_each(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label,task", "0.csv,YES,cv", "0.csv,NO,carbon", "1.csv,1,A")
    found = questions([spectra], None, labels)
    assert [(q.source, q.task.key, q.label) for q in found] == [
        ("0.csv", "cv", "YES"),
        ("0.csv", "cc", "NO"),
        ("1.csv", "a", "YES"),
    ]
    assert [q.source for q in questions([spectra], None, labels, task="a")] == ["1.csv"]


def test_a_table_may_give_survey_and_snr(spectra: Path, tmp_path: Path) -> None:
    rows = ("file,label,survey,snr", "0.csv,YES,simulated DESI,12.5", "1.csv,NO,,")
    first, second = questions([spectra], None, table(tmp_path / "truth.csv", *rows), task="cv")
    assert (first.survey, first.snr, first.simulated) == ("simulated DESI", 12.5, True)
    assert (second.survey, second.snr, second.simulated) == ("", None, False)
    with pytest.raises(DataError, match=r"truth\.csv: row 2: snr: found 'high', expected a number"):
        questions([spectra], None, table(tmp_path / "truth.csv", "file,label,snr", "0.csv,YES,high"), task="cv")


def test_a_target_that_is_not_in_the_file_is_left_out(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,target,label", "0.csv,,YES", "1.csv,39,NO")
    dropped: list[Dropped] = []
    assert [q.source for q in questions([spectra], None, labels, task="cv", dropped=dropped)] == ["0.csv"]
    assert Dropped("1.csv#39", "in truth.csv but not among the spectra") in dropped


def test_labels_need_a_known_task_and_files(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES")
    with pytest.raises(DataError, match=r"truth\.csv: found no column task, expected one, or one task named"):
        questions([spectra], None, labels)
    labels = table(tmp_path / "truth.csv", "file,label,task", "0.csv,YES,comet")
    with pytest.raises(DataError, match=r"truth\.csv: row 2: task: found 'comet'"):
        questions([spectra], None, labels)
    with pytest.raises(DataError, match="found no labels; name a table with columns file and label"):
        questions([spectra])


def test_a_folder_or_a_list_may_bring_its_own_labels(spectra: Path, tmp_path: Path) -> None:
    table(spectra / "labels.csv", "file,label,task", "3.csv,NO,wd")
    dropped: list[Dropped] = []
    (question,) = questions([spectra], dropped=dropped)
    assert (question.source, question.task.key) == ("3.csv", "wd")
    assert "labels.csv" not in {left_out.key for left_out in dropped}
    listed = table(tmp_path / "set.csv", "file,label,task", "spectra/2.csv,YES,b", "spectra/0.csv,NO,b")
    assert [(q.source, q.label) for q in questions([listed])] == [("2.csv", "YES"), ("0.csv", "NO")]


def test_keys_do_not_depend_on_the_current_folder(spectra, tmp_path, monkeypatch):
    table(spectra / "labels.csv", "file,label,task", "3.csv,NO,wd")
    here = [q.key for q in questions([spectra])]
    monkeypatch.chdir(tmp_path)
    assert [q.key for q in questions([Path("spectra")])] == here == ["3.csv"]


def test_files_of_several_targets_give_a_question_per_target(shared: Path, tmp_path: Path) -> None:
    folder = shared / "spectra"
    desi = folder / "desi/QSO/coadd-1-80693-thru20210204.fits"
    lamost = folder / "lamost/STAR_A0/spec-55939-GAC_061N46_V3_sp07-078.fits"
    from agent.spectrum.readers import opened

    with opened(desi) as targets:
        first, second = targets.names[:2]
    rows = [f"{desi.name},{target},NO,o" for target in (second, first)]
    labels = table(tmp_path / "truth.csv", "file,target,label,task", *rows, f"{lamost.name},,YES,a")
    found = questions([desi, lamost], None, labels)
    assert [q.source for q in found] == [f"{desi.name}#{second}", f"{desi.name}#{first}", lamost.name]
    known = [q.known(q.spectrum()) for q in found]
    assert [q.survey for q in known] == ["DESI", "DESI", "LAMOST"]
    assert all(q.snr is not None for q in known)
