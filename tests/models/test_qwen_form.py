"""Qwen3.5 in its own form, with a tiny real model: trained so by SFT, then in this process, in GRPO and behind vLLM."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agent.conversation import Conversation, Piece
from agent.loop import Ended, inspect
from agent.policies.local.chat_template import TEMPLATES, form_in
from agent.policies.local.policy import Local
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3, messages
from agent.tasks import load as load_tasks
from agent.tool import TOOL_SCHEMA
from agent.trajectory.forms import QWEN3_5
from tests.models.support.learned_set import asked, written
from tests.models.support.learned_traces import inspected, shown
from tests.models.support.real_server import VllmServer, served
from tests.models.support.rollouts import DRAFTER, Generator, generation, runs
from tests.models.support.successors import LEARNED
from training.data import examples, questions
from training.grpo.rollout import Limits, run_rollouts
from training.model import load, processor, save
from training.render import IMAGE, Rendered, Renderer
from training.reward import score
from training.settings import Lora, ModelSettings
from training.sft import SftSettings
from training.sft import train as train_sft

pytestmark = pytest.mark.usefixtures("imported")

TRACE, TASK = inspected(LEARNED), load_tasks()[LEARNED]
TURNS = list(TRACE.trajectory.turns())


STEPS = 30


@pytest.fixture(scope="module")
def base(successors: dict[str, Path]) -> Path:
    return successors["qwen3_5"]


@pytest.fixture(scope="module")
def model(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The base writes the learned trace in the form of Spec-o3; here it learns that of Qwen3.5."""
    folder = tmp_path_factory.mktemp("own")
    data = written(folder / "set").parent
    settings = ModelSettings(str(base), dtype="float32", dialect="qwen3.5")
    chosen = SftSettings(settings, str(folder / "run"), (str(data),), batch_size=1, max_steps=STEPS, learning_rate=2e-3)
    return train_sft(chosen, [row for row in examples([data]) if row.trajectory.task == LEARNED]).model


@pytest.fixture(scope="module")
def rendered(model: Path) -> Rendered:
    """The learned trace as training reads it."""
    reads = processor(ModelSettings(str(model)))
    return Renderer(reads).example(TRACE.trajectory, TRACE.pictures)


def ends(rendered: Rendered) -> list[int]:
    """Return the number of tokens before each turn of the assistant."""
    before = (False, *rendered.spoken)
    return [at for at, (last, mine) in enumerate(zip(before, rendered.spoken, strict=False)) if mine and not last]


class Sent(SpecO3):
    """The served policy; it keeps the conversations."""

    def __init__(self, server: VllmServer) -> None:
        super().__init__(Endpoint(server.url), stream=False, form=QWEN3_5)
        self.conversations: list[Conversation] = []

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        self.conversations.append(conversation)
        yield from super().turn(conversation)


def test_the_trained_folder_keeps_the_form_and_later_runs_take_it_from_there(model: Path) -> None:
    assert form_in(model) is QWEN3_5
    assert Renderer(processor(ModelSettings(str(model)))).form is QWEN3_5


def test_the_assistants_tokens_are_its_turns_without_what_the_template_opens(rendered: Rendered, model: Path) -> None:
    encode = processor(ModelSettings(str(model))).tokenizer.encode
    texts = [QWEN3_5.turn(turn).removeprefix("<think>\n") + "<|im_end|>" for turn in TURNS]
    assert len(texts) > 3
    assert runs(rendered.ids, rendered.spoken) == [encode(text, add_special_tokens=False) for text in texts]


def test_the_local_policy_repeats_the_learned_trace(model: Path) -> None:
    *_, end = inspect(shown(LEARNED), TASK, Local(str(model)))
    assert isinstance(end, Ended)
    assert (end.reason, end.trajectory.faults) == ("answered", ())
    assert len(end.trajectory.zooms) == len(TRACE.trajectory.zooms)
    assert end.trajectory.drafter.settings["dialect"] == "qwen3.5"


def test_a_rollout_has_the_tokens_of_its_trace_and_the_reward(model: Path, tmp_path: Path) -> None:
    loaded = load(ModelSettings(str(model), dtype="float32"))
    given = questions([asked(tmp_path / "questions.jsonl", [LEARNED])])
    writer, renderer = Generator(generation(loaded)), Renderer(loaded.processor)
    (rollout,) = run_rollouts(given, renderer, writer, Limits(turn=200, response=3000), DRAFTER).rollouts
    whole = rollout.prompt + rollout.completion
    assert len(rollout.turns) == len(TURNS)
    expected = renderer.example(rollout.trajectory, whole.images)
    assert (whole.ids, whole.spoken) == (expected.ids, expected.spoken)
    assert score("\n".join(rollout.turns), "YES", 0.2).score == 1.0


@pytest.mark.parametrize("template", ["ours", "published", "published, with tools and calls of the request"])
def test_the_prompt_of_each_turn_is_what_was_trained(
    template: str, base: Path, model: Path, rendered: Rendered
) -> None:
    """The stock template writes well-formed turns so too, whether the calls are text or the API's ``tool_calls``."""
    from transformers import AutoProcessor

    reads = AutoProcessor.from_pretrained(model)
    published = (base / "chat_template.jinja").read_text(encoding="utf-8")
    assert reads.chat_template == TEMPLATES["qwen3.5"] != published
    text = TEMPLATES["qwen3.5"] if template == "ours" else published
    options: dict[str, Any] = {"tools": [TOOL_SCHEMA]} if "tools" in template else {}
    for number, length in enumerate(ends(rendered)):
        chat, shown_so_far = _chat(number, as_calls=bool(options)), 1 + number
        written_text = reads.apply_chat_template(chat, chat_template=text, add_generation_prompt=True, **options)
        pictures = [picture.convert("RGB") for picture in TRACE.pictures[:shown_so_far]]
        assert list(reads(text=[written_text], images=pictures)["input_ids"][0]) == list(rendered.ids[:length])


def _chat(turns: int, as_calls: bool) -> list[dict[str, Any]]:
    """Return the messages before turn ``turns`` (from 0), as the client sends them or with the API's calls."""
    chat = TRACE.messages[: 2 + 2 * turns]
    for message, turn in zip(chat[2::2], TURNS, strict=False):
        message["content"] = [{"type": "text", "text": QWEN3_5.turn(turn)}]
        if as_calls:
            thought, zoom = turn
            message |= {"content": "", "reasoning_content": thought.text}
            message["tool_calls"] = [{"type": "function", "function": {"name": "", "arguments": dict(zoom.arguments)}}]
            message["tool_calls"][0]["function"]["name"] = TOOL_SCHEMA["function"]["name"]
    system = "You are a helpful assistant."
    chat[0]["content"] = [{"type": "text", "text": system if as_calls else QWEN3_5.system(system, with_tool=True)}]
    return chat


def test_vllm_reads_what_is_trained_turn_by_turn(model: Path, tmp_path: Path) -> None:
    if find_spec("vllm") is None:
        pytest.skip("no vllm in this Python: run make test-models")
    renderer = Renderer(processor(ModelSettings(str(model))))
    image = renderer.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    with served(model, tmp_path / "vllm.log") as server:
        policy = Sent(server)
        *_, end = inspect(shown(LEARNED), TASK, policy)
        assert isinstance(end, Ended)
        assert (end.reason, end.trajectory.faults) == ("answered", ())
        last = policy.conversations[-1]
        pictures = [last.overview, *(exchange.observation.image for exchange in last.exchanges)]
        trained = renderer.example(end.trajectory, pictures)
        assert len(policy.conversations) == len(TURNS)
        for conversation, length in zip(policy.conversations, ends(trained), strict=True):
            read = server.post("/tokenize", {"messages": messages(conversation, QWEN3_5)})["tokens"]
            assert _one_per_picture(read, image) == _one_per_picture(trained.ids[:length], image)


def _one_per_picture(ids: Any, image: int) -> list[int]:
    return [token for last, token in zip((None, *ids), ids, strict=False) if not token == last == image]


def test_an_adapter_carries_its_form(base: Path, tmp_path: Path) -> None:
    """Its base has the published template."""
    settings = ModelSettings(str(base), dialect="qwen3.5", method="lora", lora=Lora(rank=4, alpha=8))
    save(load(settings), tmp_path / "model")
    assert Renderer(processor(ModelSettings(str(tmp_path / "model")))).form is QWEN3_5
    assert Local(str(base), str(tmp_path / "model")).drafter.settings["dialect"] == "qwen3.5"
