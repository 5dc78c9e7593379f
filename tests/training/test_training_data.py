"""Training data: exports, published rows, JSON lines; and their data card."""

import json
import os
import pickle
import random
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.tool import TOOL_BLOCK, TOOL_SCHEMA
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Zoom
from tests.agent.trajectory.test_trajectory import published_row
from tests.support.drawn_traces import PROMPT, a_spectrum, a_trace
from tests.support.strategies import json_values, plain_words
from tests.support.training_data import (
    an_export,
    lamost_name,
    own_lines,
    own_row,
    published_folder,
    published_set,
    specvi_file,
    specvi_row,
)
from training.data import DataError, Dropped, card, examples, questions
from training.data.damage import KINDS, damage
from training.data.records import Example, Question
from training.data.rows import rows
from training.grpo.learning import prepare as prepare_questions
from training.grpo.settings import GrpoSettings
from training.settings import ModelSettings
from training.sft import SftSettings, prepare


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return an_export(tmp_path_factory.mktemp("approved"))


@pytest.fixture
def export_copy(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "one"))


def manifest_changed(folder: Path, **changes: Any) -> Path:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")
    return folder


def refused(*paths: Path, **options: Any) -> str:
    with pytest.raises(DataError) as wrong:
        examples(paths, **options)
    assert "\n" not in str(wrong.value)
    return str(wrong.value)


def shown(example: Example) -> list[str]:
    return [pixels_sha256(picture) for picture in example.pictures()]


# Exports


def test_the_examples_of_an_export_have_the_pictures_that_the_model_saw(exported: Path) -> None:
    first, second = examples([exported])
    assert (first.source, second.source) == ("one-0.fits", "one-1.fits")
    assert [example.trajectory.answer.verdict for example in (first, second) if example.trajectory.answer] == [
        "YES",
        "NO",
    ]
    assert shown(first) == list(first.trajectory.pictures)
    assert first.survey == "LAMOST"


def test_approved_trajectories_become_questions_with_their_answer_as_label(exported: Path) -> None:
    found = questions([exported])
    assert [(q.source, q.label, q.task.prompt) for q in found] == [
        ("one-0.fits", "YES", PROMPT),
        ("one-1.fits", "NO", PROMPT),
    ]
    assert found[0].spectrum() == a_spectrum("one-0.fits")


@pytest.mark.parametrize("name", ["trajectories.jsonl", "train.jsonl", "images/cv_1_0.png"])
def test_a_changed_file_of_an_export_is_detected(export_copy: Path, name: str) -> None:
    with (export_copy / name).open("ab") as file:
        file.write(b" ")
    assert f"{name}: found other bytes" in refused(export_copy)


def test_a_missing_picture_of_an_export_is_named(export_copy: Path) -> None:
    (export_copy / "images/cv_2_1.png").unlink()
    assert "images/cv_2_1.png: No such file" in refused(export_copy)


def test_an_empty_export_is_refused(export_copy: Path) -> None:
    assert "found an empty export" in refused(manifest_changed(export_copy, items=[]))


def test_an_export_without_its_manifest_is_refused_as_incomplete(export_copy: Path) -> None:
    (export_copy / "manifest.json").unlink()
    assert "found no manifest.json: this export is not complete" in refused(export_copy)


def test_an_export_of_another_renderer_is_refused(export_copy: Path) -> None:
    assert "renderer: found 'other/2'" in refused(manifest_changed(export_copy, renderer="other/2"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "spec-o3/export/9"}'])
def test_an_invalid_manifest_is_refused(export_copy: Path, text: str) -> None:
    (export_copy / "manifest.json").write_text(text)
    assert "manifest.json" in refused(export_copy)


# Tool schemas


def other_tool() -> dict[str, Any]:
    schema = json.loads(json.dumps(TOOL_SCHEMA))
    schema["function"]["parameters"]["properties"]["label"]["type"] = "integer"
    return schema


def with_tool(schema: dict[str, Any]) -> dict[str, Any]:
    row = published_row()
    system = row["conversations"][0]["value"].replace(json.dumps(TOOL_SCHEMA), json.dumps(schema))
    row["conversations"][0]["value"] = system
    return row


def test_another_tool_schema_is_refused(export_copy: Path) -> None:
    assert "manifest.json: tool: found the schema" in refused(manifest_changed(export_copy, tool=other_tool()))


def test_a_mixture_of_tool_schemas_is_refused_with_the_place_of_each(exported: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(exported, tmp_path / "other"))
    message = refused(exported, manifest_changed(other, tool=other_tool()))
    assert message.startswith("mixture of tool schemas: ")
    assert str(exported) in message
    assert str(other) in message


def test_a_mixture_within_one_published_file_is_refused(tmp_path: Path) -> None:
    published_folder(tmp_path / "set", [published_row(), with_tool(other_tool())])
    message = refused(tmp_path / "set")
    assert message.startswith("mixture of tool schemas: ")
    assert "row 2" in message


def test_a_tool_with_another_description_is_a_fault_and_no_mixture(tmp_path: Path) -> None:
    schema = json.loads(json.dumps(TOOL_SCHEMA))
    schema["function"]["description"] = "Zooms."
    published_folder(tmp_path / "set", [published_row(), with_tool(schema)])
    plain, reworded = examples([tmp_path / "set"])
    assert not any("tool" in fault for fault in plain.trajectory.faults)
    assert any("in other words" in fault for fault in reworded.trajectory.faults)


def test_a_system_turn_without_a_tool_is_accepted(tmp_path: Path) -> None:
    row = published_row()
    row["conversations"][0]["value"] = row["conversations"][0]["value"].removesuffix(TOOL_BLOCK)
    published_folder(tmp_path / "set", [row])
    assert len(examples([tmp_path / "set"])) == 1


# The published cold-start set


def test_published_rows_are_read_with_repairs_and_their_own_pictures(tmp_path: Path) -> None:
    published_folder(tmp_path / "set", [published_row()])
    (example,) = examples([tmp_path / "set" / "train_sharegpt.json"])
    assert (example.source, example.survey) == ("spec-55886-GAC_sp02-178.fits", "LAMOST")
    assert example.trajectory.steps[0] == Think("s1", "Look at Hα.")
    assert [picture.getpixel((0, 0)) for picture in example.pictures()] == [(0, 0, 0, 255), (1, 0, 0, 255)]


def test_a_missing_picture_of_a_published_row_is_named(tmp_path: Path) -> None:
    published_folder(tmp_path / "set", [published_row()])
    (tmp_path / "set/images/lf_cv_0_1.png").unlink()
    assert "row 1: images: found no picture 'images/lf_cv_0_1.png'" in refused(tmp_path / "set")


def test_a_picture_outside_the_folder_is_refused(tmp_path: Path) -> None:
    published_folder(tmp_path / "set", [published_row(images=["images/lf_cv_0_0.png", "images/lf_cv_0_1.png"])])
    Image.new("RGBA", (4, 4)).save(tmp_path / "secret.png")
    path = tmp_path / "set/train_sharegpt.json"
    path.write_text(path.read_text().replace("images/lf_cv_0_1.png", "../secret.png"))
    assert "expected a path inside" in refused(tmp_path / "set")


def test_a_damaged_picture_is_named_when_it_is_read(tmp_path: Path) -> None:
    published_folder(tmp_path / "set", [published_row()])
    (tmp_path / "set/images/lf_cv_0_1.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    (example,) = examples([tmp_path / "set"])
    with pytest.raises(DataError, match=r"lf_cv_0_1\.png: found no picture"):
        example.pictures()


def test_an_unknown_task_is_named(tmp_path: Path) -> None:
    published_folder(tmp_path / "set", [published_row(), published_row(task="comet")])
    assert "row 2: task: found 'comet', expected one of " in refused(tmp_path / "set")


def test_published_rows_without_spectra_give_no_questions(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="name the folder in which the spectrum"):
        questions([published_set(tmp_path / "set", [1])])


# The project's JSON lines


def test_a_row_with_its_spectrum_needs_no_other_file_and_its_pictures_are_drawn_again(tmp_path: Path) -> None:
    spectrum = a_spectrum()
    (example,) = examples([own_lines(tmp_path / "t.jsonl", (a_trace(spectrum), spectrum))])
    assert example.trajectory == a_trace(spectrum)
    assert shown(example) == list(example.trajectory.pictures)


def test_a_row_without_its_spectrum_finds_it_in_a_folder(tmp_path: Path) -> None:
    spectrum = as_file(tmp_path / "spectra" / "a.csv")
    path = own_lines(tmp_path / "t.jsonl", (a_trace(spectrum), None))
    assert "row 1: found neither spectrum_data nor" in refused(path)
    (example,) = examples([path], spectra=tmp_path / "spectra")
    assert shown(example) == list(example.trajectory.pictures)


def test_a_published_row_becomes_a_question_if_its_spectrum_is_found(tmp_path: Path) -> None:
    folder = published_set(tmp_path / "set", [1])
    made = as_file(tmp_path / "spectra" / lamost_name(1).removesuffix(".gz"))
    (question,) = questions([folder], spectra=tmp_path / "spectra")
    assert (question.label, question.source) == ("YES", lamost_name(1).removesuffix(".gz"))
    assert (question.spectrum().flux == made.flux).all()


def test_a_spectrum_that_is_not_in_the_folder_is_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "spectra").mkdir()
    path = own_lines(tmp_path / "t.jsonl", (a_trace(a_spectrum()), None))
    assert "found no spectrum 'a.fits'" in refused(path, spectra=tmp_path / "spectra")
    assert "found no folder" in refused(path, spectra=tmp_path / "nowhere")


def as_file(path: Path) -> Spectrum:
    from agent.spectrum import read

    path.parent.mkdir()
    made = a_spectrum()
    lines = (f"{w!r},{f!r},0.2" for w, f in zip(made.wavelength.tolist(), made.flux.tolist(), strict=True))
    path.write_text("wavelength,flux,error\n" + "\n".join(lines))
    return read(path)


def test_pictures_with_other_pixels_than_the_model_saw_are_refused(tmp_path: Path) -> None:
    spectrum = a_spectrum()
    trace = a_trace(spectrum, overview="ab" * 32)
    (example,) = examples([own_lines(tmp_path / "t.jsonl", (trace, spectrum))])
    with pytest.raises(DataError, match="drawn with different pixels here, expected those of abab"):
        example.pictures()


def test_pictures_that_came_with_a_row_are_read_and_checked(tmp_path: Path) -> None:
    spectrum = a_spectrum()
    picture = Image.new("RGBA", (20, 10), "red")
    picture.save(tmp_path / "red.png")
    trace = a_trace(spectrum, overview=pixels_sha256(picture))
    pictures = {pixels_sha256(picture): "red.png"}
    (example,) = examples([own_lines(tmp_path / "t.jsonl", (trace, spectrum), pictures=pictures)])
    assert shown(example) == list(trace.pictures)
    Image.new("RGBA", (20, 10), "blue").save(tmp_path / "red.png")
    with pytest.raises(DataError, match=r"red\.png: found other pixels"):
        example.pictures()


def test_another_spectrum_than_the_trajectory_was_made_with_is_refused(tmp_path: Path) -> None:
    path = own_lines(tmp_path / "t.jsonl", (a_trace(a_spectrum()), a_spectrum("b.fits")))
    (example,) = examples([path])
    with pytest.raises(DataError, match=r"spectrum_data: found .* expected"):
        example.pictures()


def test_a_file_changed_after_reading_is_detected(tmp_path: Path) -> None:
    spectrum = a_spectrum()
    path = own_lines(tmp_path / "t.jsonl", (a_trace(spectrum), spectrum))
    (example,) = examples([path])
    path.write_text("{}\n")
    with pytest.raises(DataError, match=r"t\.jsonl:1"):
        example.pictures()


def test_only_labelled_trajectories_become_questions_one_per_spectrum(tmp_path: Path) -> None:
    first, second = a_spectrum("a.fits"), a_spectrum("b.fits")
    labelled = a_trace(first, label="NO")
    path = own_lines(tmp_path / "t.jsonl", (labelled, first), (labelled, first), (a_trace(second), second))
    dropped: list[Dropped] = []
    (question,) = questions([path], dropped=dropped)
    assert (question.source, question.label, question.task.key) == ("a.fits", "NO", "cv")
    assert question.spectrum() == first
    assert sorted(left_out.reason for left_out in dropped) == [
        "another trajectory of the same spectrum and task",
        "no label",
    ]


def test_two_labels_of_one_spectrum_are_refused(tmp_path: Path) -> None:
    spectrum = a_spectrum()
    rows = (a_trace(spectrum, label="NO"), spectrum), (a_trace(spectrum, label="YES"), spectrum)
    with pytest.raises(DataError, match=r"t\.jsonl:2: label: found YES for a\.fits, which .*:1 calls NO"):
        questions([own_lines(tmp_path / "t.jsonl", *rows)])


def unanswered(trace: Trajectory) -> Trajectory:
    return trace.with_steps(trace.steps[:-1])


def undecided(trace: Trajectory) -> Trajectory:
    return trace.with_steps((*trace.steps[:-1], Answer("s6", None, "cannot say")))


def thoughtless(trace: Trajectory) -> Trajectory:
    return trace.with_steps(tuple(step for step in trace.steps if not isinstance(step, Think)))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (unanswered, "the last step is not an answer"),
        (undecided, "neither YES nor NO"),
        (thoughtless, "turn 1 has no think text"),
    ],
)
def test_trajectories_unfit_for_training_are_left_out_with_the_reason(tmp_path, spoil, reason):
    spectrum = a_spectrum()
    path = own_lines(tmp_path / "t.jsonl", (a_trace(spectrum), spectrum), (spoil(a_trace(spectrum)), spectrum))
    dropped: list[Dropped] = []
    assert len(examples([path], dropped=dropped)) == 1
    assert dropped[0].key.endswith("t.jsonl:2")
    assert reason in dropped[0].reason
    only = own_lines(tmp_path / "only.jsonl", (spoil(a_trace(spectrum)), spectrum))
    assert "left out 1" in refused(only)


# Damaged files


def places(value: Any, there: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths in a JSON value at which a value can be replaced."""
    if there:
        yield there
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*there, key))


@pytest.fixture(scope="module")
def rows_and_folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], Path]:
    folder = published_folder(tmp_path_factory.mktemp("wrong") / "set", [published_row()])
    spectrum = a_spectrum()
    return [own_row(a_trace(spectrum, label="YES"), spectrum), published_row()], folder


@given(st.data(), st.integers(0, 1), st.sampled_from(["\ud800", "\0", "x" * 5000, True, -1, 1e308]) | json_values)
def test_any_damage_in_a_row_is_reported_in_one_line(rows_and_folder, data, which, wrong):
    (*_, folder), row = rows_and_folder, json.loads(json.dumps(rows_and_folder[0][which]))
    *keys, last = data.draw(st.sampled_from(list(places(row))))
    inside = row
    for key in keys:
        inside = inside[key]
    inside[last] = wrong
    path = folder / "row.jsonl"
    path.write_text(json.dumps(row))
    messages = []
    for read in (examples, questions):
        try:
            for record in read([path]):
                record.pictures() if isinstance(record, Example) else record.spectrum()
        except DataError as error:
            messages.append(str(error).encode())
    assert all(len(line.splitlines()) == 1 for line in messages)


@given(st.lists(st.dictionaries(plain_words, json_values, max_size=3)), st.integers(1, 40), st.sampled_from([None, 1]))
def test_a_list_reads_back_for_any_chunk_size(values: list[dict[str, Any]], chunk: int, indent: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.trajectory.json_rows.CHUNK", chunk)
        path = Path(folder, "list.json")
        path.write_text(json.dumps(values, indent=indent, ensure_ascii=False), encoding="utf-8")
        assert [row.values for row in rows(path)] == values


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found no trajectory"),
        (b"[]", "found no trajectory"),
        (b"\xff\xfe\x00", "no UTF-8"),
        (b'{"schema": ', "row 1: found no JSON"),
        (b'{"schema": "spec-o3/trajectory/9"}', "row 1: schema: found 'spec-o3/trajectory/9'"),
        (b"3\n", "row 1: found int"),
        (b'[{"conversations": []}', "row 1: conversations: found []"),
        (b'[{"a": 1} {"a": 2}]', "row 1: schema"),
        (b"[" * 100_000, "found no JSON"),
    ],
)
def test_garbage_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    assert message in refused(path)


@pytest.mark.parametrize("share", [0.2, 0.6, 0.99])
def test_a_truncated_list_is_reported_with_its_last_row(tmp_path: Path, share: float) -> None:
    folder = published_folder(tmp_path / "set", [published_row() for _ in range(5)])
    path = folder / "train_sharegpt.json"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert f"after row {int(5 * share)}: found" in refused(folder)


def test_missing_and_repeated_data_are_named(tmp_path: Path) -> None:
    assert "nowhere: found no such file or folder" in refused(tmp_path / "nowhere")
    assert "found no manifest.json, trajectories.jsonl or train_sharegpt.json" in refused(tmp_path)
    assert "nothing named: found no trajectory" in refused()
    with pytest.raises(DataError, match="nowhere: found no such file or folder"):
        questions([tmp_path / "nowhere"])
    path = own_lines(tmp_path / "t.jsonl", (a_trace(a_spectrum(), label="NO"), a_spectrum()))
    assert "found twice" in refused(path, path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the user can read every file")
def test_a_file_without_read_permission_is_named(tmp_path: Path) -> None:
    path = own_lines(tmp_path / "t.jsonl", (a_trace(a_spectrum()), a_spectrum()))
    path.chmod(0)
    assert "Permission denied" in refused(path)


def test_records_can_be_pickled(exported: Path, tmp_path: Path) -> None:
    spectrum = a_spectrum()
    path = own_lines(tmp_path / "t.jsonl", (a_trace(spectrum), spectrum))
    for example in examples([exported, path]):
        assert shown(pickle.loads(pickle.dumps(example))) == list(example.trajectory.pictures)


def test_a_thousand_rows_keep_no_spectrum(tmp_path: Path) -> None:
    """The size of an example does not grow with the spectrum in its row."""
    small, large = a_spectrum("a.fits"), replace(a_spectrum("b.fits"), meta={"note": "x" * 100_000})
    trace = a_trace(small)
    path = own_lines(tmp_path / "t.jsonl", (trace, small), (replace(trace, spectrum_name="b.fits"), large))
    plain, heavy = (len(pickle.dumps(example)) for example in examples([path]))
    assert abs(heavy - plain) < 100


def example(number: int, trajectory: Trajectory, **more: float | str) -> Example:
    return Example(f"row {number}", f"{number // 2}.fits", trajectory, list, **more)  # type: ignore[arg-type]


def some_examples() -> list[Example]:
    damaged_once = a_trace(a_spectrum(), label="YES", faults=("conversations[2]: 3 damaged characters repaired",))
    model = Drafter("model", "m")
    other = a_trace(a_spectrum(), "NO", label="YES", simulated=True, drafter=model)
    damaged_twice = replace(
        damaged_once,
        faults=("conversations[9]: 12 damaged characters repaired", "U+0003 could not be repaired, in 'a 3'"),
    )
    unlabelled = a_trace(a_spectrum(), "NO", task="wd")
    return [
        example(0, damaged_once, survey="LAMOST", snr=10.0),
        example(1, other, survey="simulated LAMOST", snr=20.0),
        example(2, damaged_twice),
        example(3, unlabelled),
    ]


def test_the_card_counts_rows_classes_and_surveys() -> None:
    found = card(some_examples())
    assert (found.kind, found.rows, found.sources, found.simulated) == ("examples", 4, 2, 1)
    assert found.classes == {"cv": {"YES": 3}, "wd": {"NO": 1}}
    assert found.surveys == {"LAMOST": 1, "not known": 2, "simulated LAMOST": 1}
    assert found.snr is not None
    assert (found.snr.known, found.snr.mean, found.snr.quantiles[3]) == (2, 15.0, 15.0)


def test_the_card_counts_windows_calls_and_faults() -> None:
    looks = card(some_examples()).trajectories
    assert looks is not None
    assert looks.windows == {"cv": (("6500-6600", 3),), "wd": (("6500-6600", 1),)}
    assert (looks.calls, looks.turns, looks.refused_calls) == ({2: 4}, {3: 4}, 4)
    assert looks.drafters == {"baseline": 3, "model": 1}
    assert looks.against_label == 1
    assert looks.faults == {"n damaged characters repaired": 2, "a character could not be repaired": 1}


def test_tokens_are_counted_if_a_counter_is_given() -> None:
    assert card(some_examples()).tokens is None
    tokens = card(some_examples(), lambda example: 100 * len(example.key) + int(example.key[-1]), limit=501).tokens
    assert tokens is not None
    assert (tokens.spread.quantiles[0], tokens.spread.quantiles[-1], tokens.too_long) == (500.0, 503.0, 2)


LOST, CONTROL, RECODED = KINDS


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("broad H\ufffd at 6563 Å", (LOST,)),
        ("H\x03 in emission", (CONTROL,)),
        ("6563 Ã… wide", (RECODED,)),
        ("6563 Ã\x85 wide", (CONTROL, RECODED)),
        ("4861 â„«, HÎ²", (RECODED,)),
        ("itâ€™s 10 Â± 2 锟斤拷", (RECODED,)),
        ("4000 Å–5000 Å ± 3 Å², “Hβ”—λ 4861…\t→ C₂ naïve é, Ångström’s\r\n谱线", ()),
    ],
)
def test_damaged_text_is_found_wherever_the_model_reads_it(text: str, kinds: tuple[str, ...]) -> None:
    trace = a_trace(a_spectrum())
    first, *others = trace.steps
    zoom = next(step for step in trace.steps if isinstance(step, Zoom))
    for damaged in (
        replace(trace, prompt=text),
        trace.with_steps([replace(first, text=text), *others]),
        trace.with_steps([replace(step, observation=text) if step is zoom else step for step in trace.steps]),
        trace.with_steps(
            [
                replace(step, arguments={**zoom.arguments, "label": text}) if step is zoom else step
                for step in trace.steps
            ]
        ),
        trace.with_steps(
            [replace(step, explanation=text) if isinstance(step, Answer) else step for step in trace.steps]
        ),
    ):
        assert damage(example(0, damaged)) == kinds
    asked = Question("key", "source", load()["cv"].with_prompt(text), "YES", "", None, False, a_spectrum)
    assert damage(asked) == kinds
    # What the model does not read does not count.
    assert damage(example(0, replace(trace, spectrum_name="\ufffd.fits"))) == ()


def test_damaged_rows_are_counted_and_can_be_left_out(tmp_path: Path) -> None:
    """A row of the published set that cannot be repaired, a repaired one, and a lone surrogate."""
    lost = published_row()
    lost["conversations"][2]["value"] = lost["conversations"][2]["value"].replace("Look", "Look \x02\ud83d")
    published_folder(tmp_path / "set", [lost, published_row(source_name="spec-55886-GAC_sp02-179.fits.gz")])
    settings = SftSettings(ModelSettings("base"), str(tmp_path / "run"), (str(tmp_path / "set"),))
    found = prepare(settings, None).card
    assert (found.damaged_rows, found.damaged) == (1, {LOST: 1})
    assert "2 examples of 2 spectra; 1 with damaged text; nothing left out." in found.text()
    assert f"| {LOST} | 1 |" in found.markdown()
    left = prepare(replace(settings, skip_damaged=True), None)
    assert [example.source for example in left.examples] == ["spec-55886-GAC_sp02-179.fits"]
    assert [(row.reason, row.rows) for row in left.card.dropped] == [(f"damaged text: {LOST}", 1)]
    assert left.card.damaged_rows == 0
    published_folder(tmp_path / "other", [lost])
    with pytest.raises(DataError, match="skip_damaged: found damaged text in every row"):
        prepare(replace(settings, data=(str(tmp_path / "other"),), skip_damaged=True), None)


def test_damaged_questions_can_be_left_out(tmp_path: Path) -> None:
    first, second = a_spectrum("1.fits"), a_spectrum("2.fits")
    damaged = a_trace(second, prompt=f"{PROMPT} Ã…", task="wd", label="NO")
    path = own_lines(tmp_path / "questions.jsonl", (a_trace(first, label="YES"), first), (damaged, second))
    settings = GrpoSettings(ModelSettings("base"), "run", (str(path),))
    assert prepare_questions(settings).card.damaged == {RECODED: 1}
    left = prepare_questions(replace(settings, skip_damaged=True))
    assert [question.task.key for question in left.questions] == ["cv"]
    assert left.card.dropped[0].reason == f"damaged text: {RECODED}"


def test_dropped_rows_are_counted_by_reason() -> None:
    left_out = [Dropped(f"row {n}", "no label") for n in (5, 3, 4, 1)] + [Dropped("row 9", "two answers")]
    reasons = card(some_examples(), dropped=left_out).dropped
    assert [(reason.reason, reason.rows, reason.named) for reason in reasons] == [
        ("no label", 4, ("row 1", "row 3", "row 4")),
        ("two answers", 1, ("row 9",)),
    ]


def test_the_order_of_rows_does_not_matter() -> None:
    records, left_out = some_examples(), [Dropped(f"row {n}", f"reason {n % 2}") for n in range(7)]
    found = card(records, dropped=left_out)
    random.Random(1).shuffle(records)
    random.Random(1).shuffle(left_out)
    assert card(records, dropped=left_out) == found


def test_the_card_has_three_formats() -> None:
    found = card(some_examples(), lambda _: 7, 5, [Dropped("row 9", "found a | b")])
    text = found.text()
    assert text.startswith("4 examples of 2 spectra; 1 simulated; 1 answer against their label; 4 calls that ")
    assert "4 longer than 5 tokens; 1 left out." in text
    assert "  cv    6500-6600 (3)" in text
    assert "| cv | 3 | 0 |" in found.markdown()
    assert "found a \\| b" in found.markdown()
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["trajectories"]["calls"] == {"2": 4}
    assert plain["dropped"] == [{"reason": "found a | b", "rows": 1, "named": ["row 9"]}]


def test_every_line_of_a_markdown_table_has_its_columns() -> None:
    lines = card(some_examples(), lambda _: 7, dropped=[Dropped("a|b", "c\nd|e")]).markdown().splitlines()
    for before, line in pairwise(lines):
        if before.startswith("|") and line.startswith("|"):
            assert before.replace("\\|", "").count("|") == line.replace("\\|", "").count("|")


def test_a_card_of_questions_has_no_trajectories(tmp_path: Path) -> None:
    loaded = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(n) for n in range(5)])])
    found = card(loaded)
    assert (found.kind, found.trajectories, found.tokens, found.snr) == ("questions", None, None, None)
    assert found.classes == {"cv": {"NO": 3, "YES": 2}}
    assert found.text().startswith("5 questions of 5 spectra; nothing left out.")
    assert "cv" in found.markdown()


def test_an_empty_card_can_be_printed() -> None:
    found = card([])
    assert found.text() == "0 questions of 0 spectra; nothing left out."
    assert json.dumps(found.to_json())


@pytest.mark.parametrize("window", [[6500.4, 6599.6], [6500, 6600.2]])
def test_windows_are_counted_to_the_angstrom(window: list[float]) -> None:
    trace = a_trace(a_spectrum())
    steps = tuple(
        replace(step, arguments={"wavelength_range": window}) if isinstance(step, Zoom) else step
        for step in trace.steps
    )
    looks = card([example(0, trace.with_steps(steps))]).trajectories
    assert looks is not None
    assert looks.windows == {"cv": (("6500-6600", 1),)}
