"""The folder of a nano model, in Hugging Face's format: its files, their settings, and the weights.

Also ``abstain.json``, a file of this program: the tasks of the model, and those in which its answer does not count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from agent.conversation import PolicyError
from agent.language import deferred
from agent.settings_file import Flag, Mismatch, Problem, Text, Whole, validate

Array = NDArray[np.float32]

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
GENERATION, ABSTAIN = "generation_config.json", "abstain.json"
PICTURES = ("preprocessor_config.json", "processor_config.json")
"""Settings of the pictures: a file of their own, or the table "image_processor" of the second one, which is what
transformers 5 writes."""
PACKAGES = ("tokenizers", "safetensors")
PACKAGED = Path(__file__).with_name("weights")
"""The weights that come with the program, if there are any."""

Positive = Annotated[int, Field(strict=True, gt=0, description="a whole number above 0")]


class _Settings(BaseModel):
    """Settings of which only the fields that matter here are read."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Rotary(_Settings):
    """Rotary positions. ``mrope_section``: how many frequencies go to time, height and width."""

    rope_type: Literal["default", "mrope"] = "default"
    rope_theta: Annotated[float, Field(gt=0, description="a number above 0")]
    mrope_section: tuple[Positive, Positive, Positive]


class VisionRotary(_Settings):
    """Rotary positions of the vision tower: the same frequencies for height and width."""

    rope_type: Literal["axial", "default"] = "axial"
    rope_theta: Annotated[float, Field(gt=0, description="a number above 0")] = 10000.0


class Language(_Settings):
    """Sizes of the language model. A head is ``head`` wide."""

    vocab_size: Positive
    hidden_size: Positive
    intermediate_size: Positive
    num_hidden_layers: Positive
    num_attention_heads: Positive
    num_key_value_heads: Positive
    max_position_embeddings: Positive
    rms_norm_eps: Annotated[float, Field(gt=0, description="a number above 0")]
    hidden_act: Literal["silu"]
    rope_parameters: Rotary
    use_sliding_window: Literal[False] = False

    @model_validator(mode="before")
    @classmethod
    def _older(cls, given: Any) -> Any:
        """Read the layout of transformers 4 and of the published checkpoints too, in which training writes a model."""
        if (
            isinstance(given, Mapping)
            and "rope_parameters" not in given
            and isinstance(given.get("rope_scaling"), Mapping)
        ):
            rotary = dict(given["rope_scaling"])
            return {**given, "rope_parameters": rotary | {"rope_theta": given.get("rope_theta")}}
        return given

    @property
    def head(self) -> int:
        return self.hidden_size // self.num_attention_heads

    @model_validator(mode="after")
    def _check(self) -> Language:
        heads, keys = self.num_attention_heads, self.num_key_value_heads
        _divides("num_attention_heads", heads, "hidden_size", self.hidden_size)
        _divides("num_key_value_heads", keys, "num_attention_heads", heads)
        sections = sum(self.rope_parameters.mrope_section)
        if 2 * sections != self.head:
            expected = deferred("numbers with the sum {head:g}, half the width of a head", head=self.head / 2)
            raise Mismatch(deferred("the sum {sections}", sections=sections), expected, "rope_parameters.mrope_section")
        return self


class Vision(_Settings):
    """Sizes of the vision tower. ``window_size`` in pixels; ``fullatt_block_indexes`` are the layers in which each
    patch attends to the whole picture.
    """

    depth: Positive
    hidden_size: Positive
    intermediate_size: Positive
    num_heads: Positive
    out_hidden_size: Positive
    patch_size: Positive
    spatial_merge_size: Positive
    temporal_patch_size: Positive
    window_size: Positive
    in_channels: Literal[3] = 3
    hidden_act: Literal["silu"]
    fullatt_block_indexes: tuple[Whole, ...]
    rope_parameters: VisionRotary = VisionRotary()

    @property
    def head(self) -> int:
        return self.hidden_size // self.num_heads

    @model_validator(mode="after")
    def _check(self) -> Vision:
        _divides("num_heads", self.num_heads, "hidden_size", self.hidden_size)
        if self.head % 4:
            raise Mismatch(
                deferred("heads that are {head} wide", head=self.head), deferred("a width that 4 divides"), "num_heads"
            )
        _divides(
            "patch_size × spatial_merge_size",
            self.patch_size * self.spatial_merge_size,
            "window_size",
            self.window_size,
        )
        return self


class Config(_Settings):
    """``config.json``."""

    model_type: Literal["qwen2_5_vl"]
    text_config: Language
    vision_config: Vision
    image_token_id: Whole
    video_token_id: Whole
    tie_word_embeddings: bool = False

    @model_validator(mode="after")
    def _check(self) -> Config:
        size, expected = self.vision_config.out_hidden_size, self.text_config.hidden_size
        if size != expected:
            where = "vision_config.out_hidden_size"
            raise Mismatch(str(size), deferred("{expected}, the text_config.hidden_size", expected=expected), where)
        return self


class Pixels(_Settings):
    """``size``: the least and the most pixels of a picture as the model gets it."""

    shortest_edge: Positive
    longest_edge: Positive


Colours = tuple[float, float, float]


class Pictures(_Settings):
    """How a picture becomes numbers."""

    do_resize: Literal[True] = True
    do_rescale: Literal[True] = True
    do_normalize: Literal[True] = True
    resample: Literal[3] = 3
    rescale_factor: float = 1 / 255
    image_mean: Colours
    image_std: Colours
    patch_size: Positive = 14
    merge_size: Positive = 2
    temporal_patch_size: Positive = 2
    size: Pixels

    @field_validator("image_std")
    @classmethod
    def _check_std(cls, std: Colours) -> Colours:
        if min(std) <= 0:
            raise Mismatch(str(std), deferred("numbers above 0"))
        return std


class Generation(_Settings):
    """``generation_config.json``: the tokens that end a turn."""

    eos_token_id: Whole | tuple[Whole, ...]

    @property
    def ends(self) -> frozenset[int]:
        return frozenset([self.eos_token_id] if isinstance(self.eos_token_id, int) else self.eos_token_id)


class Abstain(BaseModel):
    """``abstain.json``: what these weights are for.

    :param version: of the weights, as it is stored with each trace
    :param tasks: the keys of the tasks that the model was trained on
    :param abstain: of these, the ones in which its answer does not count, each with the reason as one clause
    :param measure: it was trained with the ``measure`` tool too, and gets it
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Text
    tasks: Annotated[tuple[Text, ...], Field(min_length=1)]
    abstain: Mapping[Text, Text] = {}
    measure: Flag = False

    @model_validator(mode="after")
    def _check(self) -> Abstain:
        unknown = sorted(self.abstain.keys() - set(self.tasks))
        if unknown:
            raise Mismatch(
                f"{unknown[0]!r}", deferred("one of the tasks: {tasks}", tasks=", ".join(self.tasks)), "abstain"
            )
        return self


@dataclass(frozen=True)
class Folder:
    """The settings in a model's folder."""

    path: Path
    config: Config
    pictures: Pictures
    ends: frozenset[int]
    abstain: Abstain | None


def packaged() -> Path | None:
    """Return the folder of the weights that came with the program; None if none did."""
    return PACKAGED if (PACKAGED / WEIGHTS).is_file() else None


def problem(path: Path) -> str | None:
    """Return why there is no model to load at ``path``, as far as can be seen without reading; None: nothing."""
    if not path.is_dir():
        return deferred("{path}: found no such folder, expected the folder of a nano model", path=path)
    missing = [name for name in (CONFIG, WEIGHTS, TOKENIZER, GENERATION) if not (path / name).is_file()]
    if not missing and not any((path / name).is_file() for name in PICTURES):
        missing = [PICTURES[0]]
    if missing:
        return deferred(
            "{path}: found no {missing}; expected a Qwen2.5-VL model in Hugging Face's format",
            path=path,
            missing=", ".join(missing),
        )
    absent = [package for package in PACKAGES if find_spec(package) is None]
    if absent:
        return deferred(
            "a nano model needs {absent}: pip install {packages}",
            absent=" and ".join(absent),
            packages=" ".join(absent),
        )
    return None


def read(path: Path) -> Folder:
    """Read the settings.

    :raises PolicyError: a file is missing or not as expected
    """
    if (wrong := problem(path)) is not None:
        raise PolicyError(wrong)
    config = _checked(Config, path / CONFIG)
    pictures = _pictures(path)
    for name, here, of_vision in (
        ("patch_size", pictures.patch_size, config.vision_config.patch_size),
        ("merge_size", pictures.merge_size, config.vision_config.spatial_merge_size),
        ("temporal_patch_size", pictures.temporal_patch_size, config.vision_config.temporal_patch_size),
    ):
        if here != of_vision:
            expected = deferred("{there}, as in the vision_config of {config}", there=of_vision, config=CONFIG)
            raise PolicyError(Problem(str(path), deferred("{name} of the pictures", name=name), str(here), expected))
    return Folder(path, config, pictures, _checked(Generation, path / GENERATION).ends, abstain(path))


def abstain(path: Path) -> Abstain | None:
    """Read ``abstain.json``; None if there is none. :raises PolicyError: it is not as expected"""
    return _checked(Abstain, path / ABSTAIN) if (path / ABSTAIN).is_file() else None


def sha256(path: Path) -> str:
    """Return the SHA-256 of the weights, hex. :raises PolicyError: they cannot be read"""
    file = path / WEIGHTS
    try:
        state = file.stat()
        return _sha256(file, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise PolicyError(Problem(str(file), "file", str(error), deferred("a readable file"))) from None


@lru_cache(maxsize=8)
def _sha256(file: Path, _size: int, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


class Weights:
    """The arrays of ``model.safetensors`` in float32, each checked for its shape as it is taken."""

    def __init__(self, path: Path) -> None:
        """:raises PolicyError: the file cannot be read"""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        self._file = path / WEIGHTS
        try:
            self._arrays: dict[str, NDArray[Any]] = load_file(self._file)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
            raise PolicyError(
                Problem(str(self._file), "file", str(error), deferred("safetensors of float16 or float32"))
            ) from error

    def prefix(self, *known: str) -> str:
        """Return the one of these prefixes that the names of the arrays have; the last if they have none.

        Releases of transformers differ in it.
        """
        return next(
            (prefix for prefix in known if any(name.startswith(f"{prefix}.") for name in self._arrays)), known[-1]
        )

    def take(self, name: str, *shape: int) -> Array:
        """Return a copy of the array of that name. :raises PolicyError: it is missing, or of another shape or type"""
        array = self._arrays.get(name)
        if array is None:
            raise PolicyError(
                Problem(str(self._file), name, deferred("nothing"), deferred("an array of shape {shape}", shape=shape))
            )
        if array.shape != shape:
            raise PolicyError(
                Problem(
                    str(self._file),
                    name,
                    deferred("the shape {shape}", shape=array.shape),
                    deferred("{shape} as in {config}", shape=shape, config=CONFIG),
                )
            )
        if array.dtype not in (np.float16, np.float32):
            raise PolicyError(Problem(str(self._file), name, str(array.dtype), deferred("float16 or float32")))
        return array.astype(np.float32)


Model = TypeVar("Model", bound=BaseModel)


def _pictures(path: Path) -> Pictures:
    for name in PICTURES:
        file = path / name
        if file.is_file():
            data = _json(file)
            inner = data.get("image_processor") if isinstance(data, dict) else None
            return validate(Pictures, inner or data, str(file), PolicyError)
    raise AssertionError("problem() has found one of them")


def _checked(model: type[Model], file: Path) -> Model:
    return validate(model, _json(file), str(file), PolicyError)


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PolicyError(Problem(str(file), "file", str(error), deferred("a readable JSON file"))) from None


def _divides(small: str, divisor: int, large: str, number: int) -> None:
    if number % divisor:
        raise Mismatch(f"{divisor}", deferred("a divisor of {large} ({number})", large=large, number=number), small)
