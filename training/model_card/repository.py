"""A folder that the Hugging Face hub accepts as a repository of a model: checked, without anything of this machine.

Nothing is uploaded. Only known files are copied: no optimizer state, no checkpoint, no pickled file.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from agent.language import tr
from training.model_card.card import CERTIFICATE, README
from training.model_card.facts import ADAPTER, FACTS, CardError, is_hub_name
from training.model_card.licences import ON_THE_HUB
from training.run import LINEAGE, Run

KEPT = (
    *("config.json", "generation_config.json", ADAPTER, "*.safetensors", "*.safetensors.index.json"),
    *("tokenizer*.json", "tokenizer.model", "vocab.*", "merges.txt", "special_tokens_map.json", "added_tokens.json"),
    *("*.jinja", "chat_template.json", "*processor_config.json"),
    *(README, FACTS, CERTIFICATE, "LICENSE*", "abstain.json", "scores.json", "specialist.json"),
)
"""Patterns of the files that are copied."""
WEIGHTS = "*.safetensors"
LARGEST = 50 * 10**9
"""Bytes of a file that the hub accepts; transformers writes parts of 5 GB or 50 GB at most."""
LARGEST_IN_GIT = 10 * 2**20
"""Bytes of a file that is not in LFS."""
ATTRIBUTES = ".gitattributes"
_IN_LFS = (WEIGHTS, "tokenizer.json")
_NAMES_OF_PATHS = ("_name_or_path", "name_or_path")
_ABSOLUTE = re.compile(
    r"(?<![\w./:<-])(?:/(?:home|Users|root|mnt|media|tmp|work|scratch|data|workspace|opt|var|srv|gpfs|lustre|nfs)/"
    r"[\w.-]+|[A-Za-z]:\\+[\w.-]+|~/[\w.-]+)"
)
"""A path of a machine; not a part of a web address or of a mark-up."""


@dataclass(frozen=True)
class Prepared:
    """A repository folder: the names of the model's files that were left out, and its licence as the card has it."""

    left_out: tuple[str, ...]
    licence: str


def check_name(repository: str) -> None:
    """:raises CardError: the hub would refuse the name of a repository"""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repository)
    except HFValidationError as error:
        raise CardError(f"--repository: {error}") from error


def prepare(folder: Path, output: Path, base: str | None = None) -> Prepared:
    """Write the repository folder.

    :param folder: of a finished run, or of the model in it
    :param output: does not exist, or is empty
    :param base: the name on the hub of the base of an adapter, where the adapter only knows a folder
    :raises CardError: the run is unfinished, or the hub would refuse the folder, or it names a path of this machine
    :raises OSError: a file cannot be read or written
    """
    model = _model(folder)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise CardError(tr("--out {output}: found other files, expected a new or empty folder", output=output))
    kept, left_out = _sorted(model)
    part = output.with_name(f".{output.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        for file in kept:
            _copy(file, part / file.name, base)
        _complete(part)
        _write_attributes(part)
        metadata = _check_card(part / README)
        _check_files(part, (model, folder))
        if output.exists():
            output.rmdir()
        part.rename(output)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Prepared(tuple(file.name for file in left_out), str(metadata["license"]))


def _model(folder: Path) -> Path:
    """Return the folder of the weights. :raises CardError: there are none"""
    if (folder / LINEAGE).is_file():
        run = Run(folder)
        if not run.finished:
            checkpoint = run.checkpoint()
            at = tr("; its last checkpoint is {name}", name=checkpoint.name) if checkpoint else ""
            raise CardError(
                tr(
                    "{folder}: found an unfinished training run, without {name}/{at}: the same command continues it",
                    folder=folder,
                    name=run.model.name,
                    at=at,
                )
            )
        folder = run.model
    if not any(folder.glob(WEIGHTS)):
        raise CardError(
            tr(
                "{folder}: found no weights ({weights}), expected a finished run or the model of one",
                folder=folder,
                weights=WEIGHTS,
            )
        )
    if not (folder / README).is_file():
        raise CardError(
            tr("{folder}: found no {readme}: make it with `spec-o3 model card {folder}`", folder=folder, readme=README)
        )
    return folder


def _sorted(model: Path) -> tuple[list[Path], list[Path]]:
    """Return the files to copy, and the files and folders to leave out."""
    kept: list[Path] = []
    left_out: list[Path] = []
    for path in sorted(model.iterdir()):
        known = path.is_file() and any(fnmatch(path.name, pattern) for pattern in KEPT)
        (kept if known else left_out).append(path)
    return kept, left_out


def _copy(file: Path, to: Path, base: str | None) -> None:
    """Copy a file; settings without the paths that libraries leave in them."""
    if file.suffix != ".json" or file.stat().st_size > LARGEST_IN_GIT:
        shutil.copyfile(file, to)
        return
    try:
        values = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise CardError(
            tr("{file}: found no JSON ({error}), expected a file of a model", file=file, error=error)
        ) from error
    if not isinstance(values, dict):
        shutil.copyfile(file, to)
        return
    changed = _without_paths(values)
    if file.name == ADAPTER:
        changed["base_model_name_or_path"] = _base(file, str(values.get("base_model_name_or_path")), base)
    if changed == values:
        shutil.copyfile(file, to)
    else:
        to.write_text(json.dumps(changed, ensure_ascii=False, indent=2) + "\n", "utf-8")


def _without_paths(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_paths(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if not (key in _NAMES_OF_PATHS and isinstance(value, str) and not is_hub_name(value))
    }


def _base(file: Path, base: str, given: str | None) -> str:
    """Return the name on the hub of an adapter's base. :raises CardError: it is a folder, and no name is given"""
    if given is not None:
        return given
    if not is_hub_name(base):
        raise CardError(
            tr(
                "{file}: base_model_name_or_path: found the folder {found!r:.200}, which nobody else "
                "has; expected a name on the hub: give it with --base ORGANISATION/NAME, or merge the "
                "adapter (setting merge: true)",
                file=file,
                found=base,
            )
        )
    return base


def _complete(part: Path) -> None:
    """:raises CardError: settings or a part of the weights are missing"""
    if not any((part / name).is_file() for name in ("config.json", ADAPTER, "specialist.json")):
        raise CardError(
            tr(
                "{name}: found neither config.json nor {adapter}, expected one of them with the weights",
                name=part.name,
                adapter=ADAPTER,
            )
        )
    for index in part.glob("*.safetensors.index.json"):
        named = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
        if missing := sorted(name for name in named if not (part / name).is_file()):
            raise CardError(
                tr(
                    "{name}: found no {missing} ({n_missing} of {n_wanted} files are missing)",
                    name=index.name,
                    missing=missing[0],
                    n_missing=len(missing),
                    n_wanted=len(named),
                )
            )


def _write_attributes(part: Path) -> None:
    lines = [f"{pattern} filter=lfs diff=lfs merge=lfs -text\n" for pattern in _IN_LFS]
    (part / ATTRIBUTES).write_text("".join(lines), "utf-8")


def _check_card(readme: Path) -> dict[str, Any]:
    """Return the metadata.

    :raises CardError: the hub's own reader refuses the card, or it lacks what a published model needs
    """
    import yaml
    from huggingface_hub import ModelCard
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        card = ModelCard.load(readme, ignore_metadata_errors=False)
        data: dict[str, Any] = card.data.to_dict()
        bases = data.get("base_model") or []
        for base in [bases] if isinstance(bases, str) else bases:
            validate_repo_id(base)
    except (ValueError, HFValidationError, yaml.YAMLError) as error:
        raise CardError(
            tr("{readme}: the hub's reader of cards refuses it: {error}", readme=README, error=error)
        ) from error
    for name in ("license", "tags"):
        if not data.get(name):
            raise CardError(
                tr(
                    "{readme}: {name}: found nothing, expected a value; renew it with `spec-o3 model card`",
                    readme=README,
                    name=name,
                )
            )
    if data["license"] not in ON_THE_HUB:
        raise CardError(
            tr(
                "{readme}: license: found {data!r:.60}, expected one that the hub has a name for, or "
                "`other` with license_name",
                readme=README,
                data=data["license"],
            )
        )
    if data["license"] == "other" and not data.get("license_name"):
        raise CardError(
            tr("{readme}: license_name: found nothing, expected the name of a licence that is `other`", readme=README)
        )
    return data


def _check_files(part: Path, own: Sequence[Path]) -> None:
    """:raises CardError: a file is too large, or names a path of this machine"""
    for file in sorted(part.iterdir()):
        size = file.stat().st_size
        if size > LARGEST:
            raise CardError(
                tr(
                    "{name}: found {size:,} bytes, expected at most {largest:,}: save smaller parts",
                    name=file.name,
                    size=size,
                    largest=LARGEST,
                )
            )
        in_lfs = any(fnmatch(file.name, pattern) for pattern in _IN_LFS)
        if size > LARGEST_IN_GIT and not in_lfs:
            raise CardError(
                tr(
                    "{name}: found {size:,} bytes, expected at most {largest_in_git:,} outside LFS",
                    name=file.name,
                    size=size,
                    largest_in_git=LARGEST_IN_GIT,
                )
            )
        if path := next(_paths(file, own), None):
            raise CardError(
                tr(
                    "{name}: found {found!r:.120}, a path of this machine; expected none: correct it in the source",
                    name=file.name,
                    found=path,
                )
            )


def _paths(file: Path, own: Sequence[Path]) -> Iterator[str]:
    """Yield the paths of this machine in a file; of weights in their header, which has names and remarks."""
    text = _header(file) if fnmatch(file.name, WEIGHTS) else file.read_text("utf-8", errors="replace")
    here = {str(path.resolve()) for path in (Path.home(), Path.cwd(), *own)}
    yield from sorted(path for path in here if len(path) > 1 and path in text)
    # The vocabulary of a tokenizer has beginnings of paths as words.
    if not fnmatch(file.name, "tokenizer.json") and file.name not in ("vocab.json", "merges.txt"):
        yield from (match[0] for match in _ABSOLUTE.finditer(text))


def _header(file: Path) -> str:
    """Return the header of a safetensors file: its length in eight bytes, then JSON."""
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        if not 0 < size <= file.stat().st_size - 8:
            raise CardError(tr("{name}: found no header of safetensors, expected weights in that form", name=file.name))
        return stream.read(size).decode("utf-8", "replace")
