"""The nano model in numpy against transformers: pictures, numbers, and the greedy text of whole inspections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agent import tool
from agent.conversation import Conversation, Exchange
from agent.loop import Ended, Event, Text, inspect
from agent.policies import Sampling
from agent.policies.local.policy import Local
from agent.policies.nano.language import Cache
from agent.policies.nano.model import NanoModel
from agent.policies.nano.pictures import resized, smart_size
from agent.policies.nano.policy import Nano
from agent.policies.nano.tokens import script
from agent.policies.spec_o3 import messages
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import TOOL_BLOCK
from training.miniature.model import Size, model_for, processor_for, shrunk
from training.nano.spectra import tasks

TASKS = tasks()
KINDS = ("cv", "cc", "wd", "dm", "sd", "ss", "a", "gm")
SIZES = {
    "small": Size(),
    "wide": Size(
        width=256, layers=4, keys=2, inner=320, sight_width=96, sight_layers=3, whole=(0, 2), picture=(40, 100)
    ),
    "paper": Size(width=96, keys=1, sight_width=64, sight_layers=2, whole=(), picture=(20, 60), paper=True),
}
TOLERANCE = 1e-4


def made(folder: Path, size: Size, tied: bool = True, half: bool = False) -> Path:
    """Write a model with random weights, large enough for its greedy text to depend on everything."""
    import torch

    torch.manual_seed(len(str(size)))
    processor = processor_for([TOOL_BLOCK, *(task.prompt for task in TASKS.values())], size)
    processor.tokenizer.add_tokens(["So it is a cataclysmic variable.", "Hα is in broad emission."])
    model = model_for(processor.tokenizer, size)
    if not tied:
        model.config.tie_word_embeddings = False
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight) * 0.02)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or "ln_q" in name:
                parameter.normal_(1.0, 0.1)
            elif name.endswith("bias"):
                parameter.normal_(0.0, 0.1)
            else:
                times = 3.0 if ".q_proj" in name or ".k_proj" in name else 6.0 if "merger.mlp.2" in name else 1.5
                parameter.normal_(0.0, times / parameter[0].numel() ** 0.5)
    (model.half() if half else model).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders by name."""
    base = tmp_path_factory.mktemp("nano")
    found = {name: made(base / name, size) for name, size in SIZES.items()}
    found["untied"] = made(base / "untied", SIZES["small"], tied=False)
    found["half"] = made(base / "half", SIZES["small"], half=True)
    return found


NAMES = (*SIZES, "untied", "half")


class Reference:
    """The same model with transformers."""

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        self.processor = AutoProcessor.from_pretrained(folder)

    def inputs(self, conversation: Conversation):
        text = self.processor.apply_chat_template(messages(conversation), tokenize=False, add_generation_prompt=True)
        pictures = [image.convert("RGB") for image in pictures_of(conversation)]
        return self.processor(text=[text], images=pictures, return_tensors="pt")

    def greedy(self, conversation: Conversation, tokens: int, never: Sequence[int]) -> list[int]:
        from transformers import GenerationConfig

        stored = self.model.generation_config.eos_token_id
        self.model.generation_config = GenerationConfig(eos_token_id=stored, pad_token_id=0)
        inputs = self.inputs(conversation)
        ids = self.model.generate(**inputs, do_sample=False, max_new_tokens=tokens, suppress_tokens=list(never))
        return ids[0, inputs["input_ids"].shape[1] :].tolist()


def pictures_of(conversation: Conversation) -> list[Image.Image]:
    seen = [exchange.observation for exchange in conversation.exchanges]
    return [conversation.overview, *(one.image for one in seen if one and one.image)]


def begun(number: int) -> Conversation:
    """The beginning of an inspection; each number has another class, survey, noise and question."""
    kind, task = KINDS[number % len(KINDS)], list(TASKS.values())[number % 5]
    spectrum = simulate(kind, ("LAMOST", "SDSS", "DESI")[number % 3], 8.0 + 5 * (number % 6), seed=number)
    return Conversation(spectrum, task, tool.overview(spectrum), 8)


def continued(conversation: Conversation, text: str, number: int) -> Conversation:
    """The conversation after a turn with this text and a zoom; each third zoom has an error as its answer."""
    low = 3900 + 370 * (number % 11)
    window = [low, low + 60 + 170 * (number % 5)] if number % 3 != 2 else [9, 1]
    seen = tool.call(conversation.spectrum, {"label": f"window {number}", "wavelength_range": window})
    exchanges = (*conversation.exchanges, Exchange(text, seen))
    return replace(conversation, exchanges=exchanges, turns_left=conversation.turns_left - 1)


# ---- pictures


def test_a_resize_gives_the_bytes_of_torchvision():
    """Overviews, windows, and noise of many sizes, larger and smaller."""
    import torch
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms.v2 import functional

    rng = np.random.default_rng(0)
    images = [image for number in range(6) for image in pictures_of(continued(begun(number), "", number))]
    arrays = [np.asarray(image.convert("RGB")) for image in images]
    arrays += [rng.integers(0, 256, (*rng.integers(30, 700, 2), 3), dtype=np.uint8) for _ in range(20)]
    for number, pixels in enumerate(arrays):
        height, width = (28 * int(rng.integers(1, 20)) for _ in range(2))
        tensor = torch.from_numpy(pixels.copy()).permute(2, 0, 1)
        theirs = functional.resize(tensor, [height, width], InterpolationMode.BICUBIC, antialias=True)
        assert (resized(pixels, height, width) == theirs.permute(1, 2, 0).numpy()).all(), number


def test_sizes_are_those_of_transformers():
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

    for height, width in product(range(14, 1200, 37), range(14, 1200, 41)):
        limits = 28, (8 + height % 50) * 784, (60 + width % 90) * 784
        assert smart_size(height, width, *limits) == smart_resize(height, width, *limits)


@pytest.mark.parametrize("name", SIZES)
def test_patches_are_those_of_transformers_without_torch(models, name):
    """Exactly, for pictures that are reduced as in training; the two equal frames of each patch are one here."""
    from transformers import Qwen2VLImageProcessorPil

    model, size = NanoModel.load(models[name]), SIZES[name]
    settings = model.folder.pictures
    edges = {"shortest_edge": settings.size.shortest_edge, "longest_edge": settings.size.longest_edge}
    theirs = Qwen2VLImageProcessorPil(size=edges, image_mean=settings.image_mean, image_std=settings.image_std)
    for number in range(3):
        for image in pictures_of(continued(begun(number), "", number)):
            expected = theirs([shrunk(image, size)], return_tensors="np")
            found = model.preprocessor.patches(image)
            assert [1, found.grid.rows, found.grid.columns] == expected["image_grid_thw"][0].tolist()
            frames = expected["pixel_values"].reshape(len(found.values), 3, 2, 14 * 14)
            assert (found.values.reshape(len(found.values), 3, 14 * 14) == frames[:, :, 0]).all()
            assert (frames[:, :, 0] == frames[:, :, 1]).all()


# ---- numbers


@pytest.mark.parametrize("name", NAMES)
def test_tokens_and_logits_are_those_of_transformers(models, name):
    import torch

    model, reference = NanoModel.load(models[name]), Reference(models[name])
    for number in range(2):
        conversation = begun(number)
        for turn in range(3):
            inputs = reference.inputs(conversation)
            given = model.input(script(conversation))
            assert given.ids.tolist() == inputs["input_ids"][0].tolist()
            with torch.no_grad():
                expected = reference.model(**inputs).logits[0].numpy()
            states = model.states(given, Cache(model.folder.config.text_config))
            found = model.language.logits(states)
            assert np.abs(found - expected).max() < TOLERANCE * np.abs(expected).max()
            conversation = continued(
                conversation, f"<think>Turn {turn}: Hα, 光谱. So it is a cataclysmic variable.</think>", number + turn
            )


@pytest.mark.parametrize("name", NAMES)
def test_greedy_tokens_of_whole_inspections_are_those_of_transformers(models, name):
    """Each turn continues from what both have written; the cache of the turns before is used."""
    model, reference = NanoModel.load(models[name]), Reference(models[name])
    texts = []
    for number in range(4):
        conversation = begun(number)
        for turn in range(3):
            pieces = list(model.write(script(conversation), Sampling(max_tokens=24)))
            text = "".join(piece for piece in pieces if isinstance(piece, str))
            ids = reference.greedy(conversation, 24, model.vocabulary.never)
            ended = ids[-1] in model.vocabulary.ends
            assert text == reference.processor.tokenizer.decode(ids[:-1] if ended else ids), (number, turn)
            texts.append(text)
            conversation = continued(conversation, text, number + turn)
    # The text depends on what is seen.
    assert len(set(texts)) > 6


def turns_of(events: Sequence[Event]) -> list[str]:
    pieces = [event for event in events if isinstance(event, Text)]
    return ["".join(p.text for p in pieces if p.turn == n) for n in range(1, pieces[-1].turn + 1)]


def test_inspections_of_a_trained_model_are_those_of_transformers(tiny_model):
    """Complete inspections in the loop, with tool calls and an answer: 32 spectra, most unlike the learned ones."""
    # This model has learned the prompt with the reasons, which other nano models do not read.
    learned = {key: task.with_prompt(task.prompt, "ours") for key, task in load().items()}
    local, nano = Local(str(tiny_model)), Nano(tiny_model)
    zooms = scored = 0
    for number in range(32):
        kind, task = KINDS[number % len(KINDS)], learned[("cv", "cc", "wd")[number % 3]]
        spectrum = simulate(kind, ("LAMOST", "SDSS")[number % 2], 10.0 + number, seed=number)
        sampling = Sampling(max_tokens=200)
        local.sampling = nano.sampling = sampling
        theirs, ours = (list(inspect(spectrum, task, policy, 6)) for policy in (local, nano))
        assert turns_of(ours) == turns_of(theirs), number
        end = ours[-1]
        assert isinstance(end, Ended)
        assert end.reason == theirs[-1].reason
        zooms += len(end.trajectory.zooms)
        answer = end.trajectory.answer
        scored += answer is not None and answer.score is not None and (answer.score > 0) == (answer.verdict == "YES")
    assert zooms > 60
    assert scored > 24
