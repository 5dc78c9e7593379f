"""The README of an export, run as it stands with the real TRL: which tokens its loss covers."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reviewer.exchange.exports import export
from tests.models.support.learned_traces import INSPECTED, shown
from tests.models.support.learned_traces import inspected as uncached_inspected
from tests.support.drawn_traces import a_store, add_approved
from training.data import examples
from training.model import part_of, processor
from training.render import UNSPOKEN, Renderer, for_learning
from training.settings import ModelSettings

inspected = cache(uncached_inspected)
MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"
"""The model that the README names; inside the export, a folder of that name is opened in its place."""


@pytest.fixture
def exported(tmp_path: Path, random_model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An export of the learned traces, with a tiny model under the name that the README uses; the working folder."""
    from trl.chat_template_utils import qwen2_5_vl_chat_template

    with a_store(tmp_path / "annotations.db") as store:
        add_approved(store, *((inspected(key).trajectory, shown(key)) for key in INSPECTED))
        folder = export(store, "one").folder
    shutil.copytree(random_model, folder / MODEL)
    (folder / MODEL / "chat_template.jinja").write_text(qwen2_5_vl_chat_template, encoding="utf-8")
    monkeypatch.chdir(folder)
    # TRL computes in bfloat16 by default, and transformers checks only GPUs for it; this CPU can too.
    monkeypatch.setattr("transformers.training_args.is_torch_bf16_gpu_available", lambda: True)
    return folder


@pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning")
def test_the_snippet_puts_the_loss_on_assistant_text_only(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch
    from safetensors.torch import load_file

    readme = (exported / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    trainer = names["trainer"]
    assert trainer.state.global_step == 5, "one update per epoch of three traces"
    before, after = (load_file(exported / name / "model.safetensors") for name in (MODEL, "trained"))
    changed = {part_of(name) for name in before if not torch.equal(before[name], after[name])}
    assert changed == {None}, "the language model learned, and nothing else"

    reads = processor(ModelSettings(str(exported / MODEL)))
    newline = reads.tokenizer.encode("\n")
    learned = examples([exported])
    assert len(learned) == len(INSPECTED)
    rendered = [Renderer(reads).example(one.trajectory, one.pictures()) for one in learned]
    for row, one in zip(trainer.train_dataset, rendered, strict=True):
        theirs, ours = trainer.data_collator([row]), for_learning([one], reads)
        # TRL's text ends with one line feed more.
        assert theirs["input_ids"][0].tolist() == [*one.ids, *newline]
        assert torch.equal(theirs["pixel_values"], ours["pixel_values"])
        labels, expected = theirs["labels"][0].tolist(), [*ours["labels"][0].tolist(), UNSPOKEN]
        more = [at for at, (label, ours_label) in enumerate(zip(labels, expected, strict=True)) if label != ours_label]
        # What differs is the line feed after each <|im_end|>, which TRL and the published training learn too.
        ends = [
            at for at, (now, then) in enumerate(zip(one.spoken, (*one.spoken[1:], False), strict=True)) if now > then
        ]
        assert more == [end + 1 for end in ends]
        assert [labels[at] for at in more] == newline * len(more)


def test_without_the_option_the_loss_covers_everything(exported: Path) -> None:
    """The warning of the README is true: TRL's default learns the prompt and the tool's answers too."""
    from datasets import Image, List, load_dataset
    from trl import SFTConfig, SFTTrainer

    rows = load_dataset("json", data_files="train.jsonl", split="train").cast_column("images", List(Image()))
    trainer = SFTTrainer(MODEL, SFTConfig("trained", max_length=None, report_to="none"), train_dataset=rows)
    assert (trainer.data_collator([rows[0]])["labels"] != UNSPOKEN).all()
    assert SFTConfig("trained").max_length == 1024
