"""The bench as a task of Inspect, with a model of Inspect's own that answers from a list."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from agent.plot import pixels_sha256
from agent.simulate import files
from agent.spectrum import read
from agent.tool import TOOL_NAME, TOOL_SCHEMA, call
from reviewer.exchange.pictures import PictureFiles
from training.bench.outcomes import OutcomesError
from training.bench.table import row

inspect_ai = pytest.importorskip("inspect_ai")
CALLS: list[dict[str, Any]] = [
    {"wavelength_range": [6400, 6700.0], "label": "Hα"},
    {"wavelength_range": "everything"},
    {"wavelength_range": [1, 2]},
]
"""Calls of the one conversation: a good one, and two that the tool answers with an error in its own words."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The log of four spectra, each with the same calls and the answer YES."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from training.bench.inspect_task import spec_o3

    folder = tmp_path_factory.mktemp("inspect")
    orders = files.orders(["cv", "cv", "fgk", "fgk"], ["LAMOST"], (30.0, 40.0), seed=5)
    list(files.write(folder / "sky", orders, ["cv"]))
    turns = [ModelOutput.for_tool_call("mockllm", TOOL_NAME, arguments, content="I look.") for arguments in CALLS]
    turns.append(ModelOutput.from_content("mockllm", "Broad emission. <answer>\\boxed{YES} broad Hα</answer>"))
    for turn in turns:  # its own count of tokens would fetch a vocabulary
        turn.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    model = get_model("mockllm/model", custom_outputs=turns * 4)
    task = spec_o3(data=str(folder / "sky"), classes="cv")
    (result,) = inspect_ai.eval(
        task, model=model, log_dir=str(folder / "logs"), display="none", max_samples=1, log_format="eval"
    )
    assert result.status == "success", result.error
    return result


def test_the_model_gets_the_published_tool_and_its_answers_word_for_word(log, tmp_path):
    from inspect_ai.log import read_eval_log

    # The result in memory has its pictures apart.
    sample = read_eval_log(log.location, resolve_attachments=True).samples[0]
    spectrum = read(next(Path(log.eval.task_args["data"]).glob(f"{sample.id.split()[1]}*")))
    expected = [call(spectrum, arguments) for arguments in CALLS]
    results = [message for message in sample.messages if message.role == "tool"]
    assert [message.text for message in results] == [each.text for each in expected]
    (picture,) = [
        part.image
        for at, message in enumerate(sample.messages)
        if message.role == "user" and sample.messages[at - 1].role == "tool"
        for part in message.content
        if part.type == "image"
    ]
    (tmp_path / "picture.png").write_bytes(b64decode(picture.partition(",")[2]))
    assert PictureFiles(tmp_path).sha256("picture.png") == pixels_sha256(expected[0].image)
    offered = next(event for event in sample.events if event.event == "model").tools
    assert [tool.name for tool in offered] == [TOOL_NAME]
    assert offered[0].description == TOOL_SCHEMA["function"]["description"]


def test_its_log_is_a_row_of_the_table_with_the_scores_of_the_log(log):
    made = row(Path(log.location))
    assert (made.name, made.scores.n) == ("mockllm/model", 4)
    assert sorted((outcome.label, outcome.predicted, outcome.calls, outcome.errors) for outcome in made.outcomes) == [
        ("NO", "YES", 3, 2),
        ("NO", "YES", 3, 2),
        ("YES", "YES", 3, 2),
        ("YES", "YES", 3, 2),
    ]
    in_log = {name: value.value for score in log.results.scores for name, value in score.metrics.items()}
    assert in_log["f1"] == pytest.approx(made.scores.f1.value) == pytest.approx(2 / 3)


def test_a_file_that_is_no_log_is_refused(tmp_path):
    (tmp_path / "other.eval").write_bytes(b"PK\3\4 broken")
    with pytest.raises(OutcomesError, match="no log of Inspect"):
        row(tmp_path / "other.eval")
