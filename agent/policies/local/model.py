"""A model in this process with transformers: which weights, loading them, and writing one turn token by token.

torch and transformers are imported when a model is loaded. All runs on one thread, because torch's random state and
GPU memory are shared by the process. Each turn reads the whole conversation again: no cache between turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from PIL import Image

from agent.conversation import ConversationTooLong, Piece, PolicyError, Remark, Score, Usage
from agent.language import deferred
from agent.policies import Sampling
from agent.policies.local.chat_template import form_in, form_of, use_dialect
from agent.policies.spec_o3 import Message
from agent.policies.yes_no import AnswerOdds, has_verdict
from agent.trajectory.forms import Form

INSTALL = "pip install 'spec-o3[local]'"
NEEDED = ("torch", "torchvision", "transformers")


@dataclass(frozen=True)
class Weights:
    """Which model to load, and how.

    :param model: a folder, or the name of a repository on the Hugging Face Hub
    :param adapter: the same of a PEFT adapter that is put on it
    :param device: as torch names it; "auto": the GPU if there is one
    :param dtype: "bfloat16", "float16", "float32"; "auto": as stored on a GPU, float32 on the CPU
    """

    model: str
    adapter: str | None = None
    device: str = "auto"
    dtype: str = "auto"

    @property
    def name(self) -> str:
        """Name without parent folders, which do not belong in a trace."""
        return " + ".join(_name(folder) for folder in (self.model, self.adapter) if folder)

    def problem(self) -> str | None:
        """Return why it cannot be loaded, as far as can be seen without loading it; None if nothing is wrong."""
        wrong = _not_there(self.model, "config.json", "a model")
        if wrong is None and self.adapter:
            wrong = _not_there(self.adapter, "adapter_config.json", deferred("a PEFT adapter"))
        missing = [package for package in NEEDED if find_spec(package) is None]
        if wrong is None and missing:
            wrong = deferred(
                "a model in this process needs {missing}: {install}", missing=" and ".join(missing), install=INSTALL
            )
        if wrong is None and self.adapter and find_spec("peft") is None:
            wrong = deferred("an adapter needs peft: pip install peft")
        return wrong


def versions() -> dict[str, str]:
    """Return the versions of the libraries that determine a model's output."""
    installed = {}
    for package in ("torch", "transformers", "peft"):
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def source(given: str) -> str:
    """Return what the libraries accept: a folder's path, or a name on the Hub."""
    folder = Path(given).expanduser()
    return str(folder) if folder.exists() else given


def _not_there(given: str, file: str, what: str) -> str | None:
    """Return why ``given`` is neither a folder with ``file`` nor a name on the Hub; None if it may be one."""
    folder = Path(given).expanduser()
    if not folder.exists():
        owner, slash, name = given.partition("/")
        if owner.strip(".~") and slash and name and "/" not in name and "\\" not in given:
            return None
        return deferred(
            "{given}: no such folder; expected {what}: a folder, or a name as Maxwell-Jia/spec-o3-3b",
            given=given,
            what=what,
        )
    if (folder / file).is_file():
        return None
    if (folder / "adapter_config.json").is_file():
        return deferred(
            "{given} holds an adapter, not a model: give it with --adapter, and its model with --model", given=given
        )
    return deferred("{given} is not {what}: found no {file} in it", given=given, what=what, file=file)


def _name(given: str) -> str:
    folder = Path(given).expanduser()
    return folder.resolve().name if folder.exists() else given


Put = Callable[[Piece], None]


class TurnStopped(Exception):
    """The turn was stopped."""


def _never() -> bool:
    return False


@dataclass
class Loaded:
    """A model with its processor. A stop is checked before each layer, because reading a long conversation without
    a GPU takes minutes.
    """

    model: Any
    processor: Any
    device: str
    dtype: str
    ends: frozenset[int]
    context: int
    revision: str | None
    _halted: Callable[[], bool] = field(default=_never)

    @classmethod
    def load(cls, weights: Weights) -> Loaded:
        """
        :raises PolicyError: what is missing or wrong, and what to do about it
        """
        if problem := weights.problem():
            raise PolicyError(problem)
        import torch

        try:
            return cls._load(weights)
        except torch.OutOfMemoryError:
            raise _out_of_memory(weights.name) from None
        # The libraries raise any type of error for a file that is missing, incomplete or of another kind.
        except Exception as error:
            raise PolicyError(
                deferred("{name} cannot be loaded: {error}", name=weights.name, error=_first_line(error))
            ) from error

    @classmethod
    def _load(cls, weights: Weights) -> Loaded:
        import torch
        from transformers import AutoModelForImageTextToText, AutoProcessor, GenerationConfig

        device = weights.device
        if device == "auto":
            mps = torch.backends.mps.is_available()
            device = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
        dtype = weights.dtype
        if dtype == "auto" and device == "cpu":
            dtype = "float32"
        where = source(weights.model)
        model = AutoModelForImageTextToText.from_pretrained(where, dtype=dtype)
        stored = model.generation_config
        ends = stored.eos_token_id if isinstance(stored.eos_token_id, list) else [stored.eos_token_id]
        # Qwen2.5-VL's own defaults (a repetition penalty of 1.05) were not used in the training of Spec-o3.
        model.generation_config = GenerationConfig(eos_token_id=ends, pad_token_id=stored.pad_token_id)
        config = model.config
        if weights.adapter:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, source(weights.adapter))
        processor = AutoProcessor.from_pretrained(where)
        use_dialect(processor, form_in(weights.adapter))
        loaded = cls(
            model=model.to(device).eval(),
            processor=processor,
            device=device,
            dtype=str(model.dtype).removeprefix("torch."),
            ends=frozenset(end for end in ends if end is not None),
            context=config.get_text_config().max_position_embeddings,
            revision=getattr(config, "_commit_hash", None),
        )
        loaded._ask_before_each_layer()
        return loaded

    def _ask_before_each_layer(self) -> None:
        import torch

        def check_stop(*_: object) -> None:
            if self._halted():
                raise TurnStopped

        for module in self.model.modules():
            if isinstance(module, torch.nn.ModuleList):
                for layer in module:
                    layer.register_forward_pre_hook(check_stop)

    @cached_property
    def form(self) -> Form:
        """The form in which it was trained."""
        return form_of(self.processor)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each single token, in the order of their numbers."""
        tokenizer = self.processor.tokenizer
        return tuple(tokenizer.decode([number], clean_up_tokenization_spaces=False) for number in range(len(tokenizer)))

    def write(
        self,
        messages: Sequence[Message],
        images: Sequence[Image.Image],
        sampling: Sampling,
        put: Put,
        halted: Callable[[], bool],
    ) -> None:
        """One turn, put piece by piece; with ``sampling.logprobs`` also the score of an answer.

        :raises TurnStopped: ``halted`` returned true
        :raises PolicyError: it does not fit, or the device failed
        """
        self._halted = halted
        try:
            self._write(messages, images, sampling, put)
        finally:
            self._halted = _never

    def _write(self, messages: Sequence[Message], images: Sequence[Image.Image], sampling: Sampling, put: Put) -> None:
        import torch

        text = self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        # The pictures are opaque: RGB loses nothing.
        pictures = [image.convert("RGB") for image in images]
        inputs = self.processor(text=[text], images=pictures, return_tensors="pt").to(self.device)
        read = int(inputs["input_ids"].shape[1])
        space = self.context - read
        if space < 1:
            raise ConversationTooLong(
                deferred(
                    "the conversation has {read} tokens and the model holds {context}: allow fewer turns",
                    read=read,
                    context=self.context,
                )
            )
        if sampling.seed is None:
            torch.seed()
        else:
            torch.manual_seed(sampling.seed)
        odds = AnswerOdds(lambda: self.texts) if sampling.logprobs else None
        limit = min(sampling.max_tokens, space)
        try:
            with self._last_logits() as last:
                writer = _Writer(self.processor.tokenizer, self.ends, put, odds, last)
                self.model.generate(**inputs, **_chosen(sampling), max_new_tokens=limit, streamer=writer)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            raise _out_of_memory(deferred("this conversation")) from None
        except RuntimeError as error:
            raise PolicyError(
                deferred("the model failed on {device}: {error}", device=self.device, error=_first_line(error))
            ) from error
        if not writer.ended and writer.written >= limit:
            put(Remark(f"cut at its limit of {limit} tokens"))
        if odds is not None and has_verdict(writer.text) and (score := odds.of_answer(writer.text)) is not None:
            put(Score(score))
        put(Usage(requests=1, prompt=read, completion=writer.written))

    @contextmanager
    def _last_logits(self) -> Iterator[Callable[[], Any]]:
        """Yield a function that returns the logits (vocabulary,) of the last forward pass, before any sampling."""
        last: list[Any] = [None]

        def keep(_: Any, __: Any, logits: Any) -> None:
            last[0] = logits

        hook = self.model.get_output_embeddings().register_forward_hook(keep)
        try:
            yield lambda: last[0][0, -1, : len(self.texts)].float().cpu().numpy()
        finally:
            hook.remove()


class _Writer:
    """Streamer for ``generate``: turns token ids into text. Incomplete characters are held back; only end-of-turn
    tokens are left out.

    :param odds: gets each token, with the logits that ``last`` returns
    """

    def __init__(
        self,
        tokenizer: Any,
        ends: frozenset[int],
        put: Callable[[str], None],
        odds: AnswerOdds | None = None,
        last: Callable[[], Any] = lambda: None,
    ) -> None:
        self.ended = False
        self.written = 0
        self.text = ""
        self._odds = odds
        self._last = last
        self._tokenizer = tokenizer
        self._ends = ends
        self._put = put
        self._prompt = True
        self._held: list[int] = []

    def put(self, ids: Any) -> None:
        if self._prompt:
            # The first streamed value is the prompt.
            self._prompt = False
            return
        for token in ids.flatten().tolist():
            self.written += 1
            self.ended |= token in self._ends
            if token not in self._ends:
                before = self.text + self._text()
                self._held.append(token)
                if self._odds is not None:
                    self._odds.add(before, self.text + self._text(), self._last)
        text = self._text()
        if not text.endswith("\ufffd"):
            self._emit(text)

    def end(self) -> None:
        self._emit(self._text())

    def _text(self) -> str:
        return str(self._tokenizer.decode(self._held, clean_up_tokenization_spaces=False))

    def _emit(self, text: str) -> None:
        self._held = []
        self.text += text
        if text:
            self._put(text)


def _chosen(sampling: Sampling) -> dict[str, Any]:
    """Return the sampling as arguments of ``generate``, with the model's own defaults switched off."""
    if sampling.temperature == 0:
        return {"do_sample": False, "repetition_penalty": 1.0}
    return {
        "do_sample": True,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": 0,
        "repetition_penalty": 1.0,
    }


def _out_of_memory(what: str) -> PolicyError:
    return PolicyError(
        deferred(
            "the GPU has too little memory free for {what}: stop what else uses it, choose a smaller "
            "model or --device cpu, or allow fewer turns",
            what=what,
        )
    )


def _first_line(error: BaseException) -> str:
    lines: Iterator[str] = (line.strip() for line in str(error).splitlines())
    return f"{next(filter(None, lines), type(error).__name__):.300}"
