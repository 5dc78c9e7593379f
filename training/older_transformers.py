"""Make a folder that transformers 5 has written readable by transformers 4.57 too, with the same logits.

transformers 5 writes JSON files that 4.57 refuses or, worse, reads with its own defaults. Both read the layout of the
published checkpoints, so that is written. Only JSON files change; weights and ``tokenizer.json`` are the same in both.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CONFIG, TOKENIZER, PROCESSOR = "config.json", "tokenizer_config.json", "processor_config.json"
PARTS = {"image_processor": "preprocessor_config.json", "video_processor": "video_preprocessor_config.json"}
"""Parts of the processor, and the file of its own in which transformers 4.57 searches for each."""


def make_readable(folder: Path) -> None:
    """Rewrite the JSON files of a saved model or adapter in the layout of the published checkpoints.

    :raises OSError: a file cannot be read or written
    """
    for name, rewrite in ((CONFIG, _config), (TOKENIZER, _tokenizer)):
        if (folder / name).is_file():
            values = _read(folder / name)
            rewrite(values)
            _write(folder / name, values)
    if (folder / PROCESSOR).is_file():
        processor = _read(folder / PROCESSOR)
        for part, name in PARTS.items():
            if part in processor:
                _write(folder / name, processor.pop(part) | {"processor_class": processor.get("processor_class")})
        _write(folder / PROCESSOR, processor)


def _config(values: dict[str, Any]) -> None:
    """Rename the precision and the rotary parameters; 4.57 would take its default base of 1,000,000 for any model."""
    if "dtype" in values:
        values["torch_dtype"] = values.pop("dtype")
    text = values.get("text_config", values)
    # 4.57 takes the output layer for a separate one, initialised at random, unless the text part says otherwise.
    text.setdefault("tie_word_embeddings", values.get("tie_word_embeddings", False))
    rotary = text.pop("rope_parameters", None)
    if rotary:
        text["rope_theta"] = rotary.pop("rope_theta")
        text["rope_scaling"] = rotary
    for part in ("text_config", "vision_config"):
        if "dtype" in values.get(part, {}):
            values[part]["torch_dtype"] = values[part].pop("dtype")


def _tokenizer(values: dict[str, Any]) -> None:
    """Give the list of special tokens its older name; under the new one, 4.57 expects a mapping."""
    if isinstance(values.get("extra_special_tokens"), list):
        values["additional_special_tokens"] = values.pop("extra_special_tokens")


def _read(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return values


def _write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
