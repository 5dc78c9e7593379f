"""``spec-o3 model``: the model card of a finished run, and a folder of it for the Hugging Face hub."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentTypeError
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent.cli.command import DONE, CannotRun, print_result
from agent.cli.options import JsonOutput, argument, option, output_folder
from agent.errors import Refusal
from agent.language import tr

_LICENCE = re.compile(r"[a-z0-9][a-z0-9.+-]*")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_OWNER = "YOUR-NAME"


def _licence(text: str) -> str:
    if _LICENCE.fullmatch(text) is None:
        raise ArgumentTypeError(
            tr("found {text!r}, expected the name of a licence: small letters, digits, and . + -", text=text)
        )
    return text


def _name(text: str) -> str:
    if _NAME.fullmatch(text) is None:
        raise ArgumentTypeError(tr("found {text!r}, expected ORGANISATION/NAME", text=text))
    return text


@dataclass(kw_only=True)
class _Finished(JsonOutput):
    folder: Path = argument("of a finished training run, or its model", metavar="DIR")


@dataclass(kw_only=True)
class CardOptions(_Finished):
    bench: list[Path] = option(
        "folders of finished runs of the bench: their scores are added, or replace those of the same name",
        default=[],
        metavar="RUN",
    )
    license: str | None = option("of the base model, if the card says unknown", metavar="NAME", read=_licence)
    dataset: list[str] = option("the training data on the hub", default=[], metavar="ORG/NAME", read=_name)


@dataclass(kw_only=True)
class PushOptions(_Finished):
    out: Path = option("repository folder, new or empty", metavar="DIR", read=output_folder)
    repository: str | None = option("for the command that is printed", metavar="ORG/NAME", read=_name)
    base: str | None = option("the base of an adapter, if it is a folder here", metavar="ORG/NAME", read=_name)


def run_card(arguments: CardOptions) -> int:
    from training.model_card.card import renew
    from training.model_card.scores import scores_of

    try:
        scores = [scores_of(report) for report in arguments.bench]
        card = renew(arguments.folder, scores, arguments.license, arguments.dataset)
    except (Refusal, OSError) as error:
        raise CannotRun(str(error)) from error
    names = [score["name"] for score in scores]
    text = tr("{card}, with the scores of {names}", card=card, names=", ".join(names)) if names else str(card)
    print_result(arguments, {"card": str(card), "scores": names}, text)
    return DONE


def run_push(arguments: PushOptions) -> int:
    from training.model_card.facts import CardError

    if find_spec("huggingface_hub") is None:
        raise CannotRun(tr("huggingface_hub is not installed, which checks the card: pip install 'spec-o3[train]'"))
    from training.model_card.repository import check_name, prepare

    output: Path = arguments.out
    repository = arguments.repository or f"{_OWNER}/{_repository_name(output)}"
    try:
        check_name(repository)
        prepared = prepare(arguments.folder, output, arguments.base)
    except (CardError, OSError) as error:
        raise CannotRun(str(error)) from error
    # The point: into the root of the repository.
    upload = f"hf upload {repository} {shlex.quote(str(output))} ."
    left_out = list(prepared.left_out)
    result: dict[str, Any] = {"folder": str(output), "licence": prepared.licence, "left_out": left_out}
    lines = [tr("{output}: ready, nothing was uploaded", output=output)]
    if left_out:
        lines.append(tr("left out: {left_out}", left_out=", ".join(left_out)))
    if prepared.licence == "unknown":
        lines.append(
            tr(
                "its licence is unknown: state it with `spec-o3 model card {folder} --license NAME`",
                folder=arguments.folder,
            )
        )
    print_result(arguments, result | {"upload": upload}, "\n".join([*lines, upload]))
    return DONE


def _repository_name(output: Path) -> str:
    return re.sub(r"[^\w.-]+", "-", output.resolve().name).strip("-.") or "model"
