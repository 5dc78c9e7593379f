"""``spec-o3 model``: the model card of a finished run, and a folder of it for the Hugging Face hub."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent.cli.command import DONE, CannotRun, output_folder, print_result
from agent.errors import Refusal
from agent.language import tr

_LICENCE = re.compile(r"[a-z0-9][a-z0-9.+-]*")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_OWNER = "YOUR-NAME"


def add(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(metavar="", title=tr("what to do"), required=True)
    card = commands.add_parser(
        "card", help=tr("write or renew the model card"), description=tr("Write or renew the model card, README.md.")
    )
    _add_folder(card)
    card.add_argument(
        "--bench",
        nargs="+",
        type=Path,
        default=[],
        metavar="REPORT",
        help=tr("folders of finished runs of the bench: their scores are added, or replace those of the same name"),
    )
    card.add_argument(
        "--license", type=_licence, metavar="NAME", help=tr("of the base model, if the card says unknown")
    )
    card.add_argument(
        "--dataset", nargs="+", type=_name, default=[], metavar="ORG/NAME", help=tr("the training data on the hub")
    )
    card.set_defaults(run=run_card)
    push = commands.add_parser(
        "push",
        help=tr("prepare a folder for the hub; nothing is uploaded"),
        description=tr("Prepare and check a repository folder for the Hugging Face hub. Nothing is uploaded."),
    )
    _add_folder(push)
    push.add_argument(
        "--output", type=output_folder, required=True, metavar="DIR", help=tr("the repository folder: new or empty")
    )
    push.add_argument("--repository", type=_name, metavar="ORG/NAME", help=tr("for the command that is printed"))
    push.add_argument(
        "--base", type=_name, metavar="ORG/NAME", help=tr("the base of an adapter, if it is a folder here")
    )
    push.set_defaults(run=run_push)


def _add_folder(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help=tr("of a finished training run, or its model"))
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def run(arguments: Namespace) -> int:
    """Never called: argparse requires one of the two subcommands."""
    raise CannotRun(tr("model: found no command, expected card or push"))


def run_card(arguments: Namespace) -> int:
    from training.model_card.card import renew
    from training.model_card.scores import scores_of

    try:
        scores = [scores_of(report) for report in arguments.bench]
        card = renew(arguments.folder, scores, arguments.license, arguments.dataset)
    except (Refusal, OSError) as error:
        raise CannotRun(str(error)) from error
    names = [one["name"] for one in scores]
    text = tr("{card}, with the scores of {names}", card=card, names=", ".join(names)) if names else str(card)
    print_result(arguments, {"card": str(card), "scores": names}, text)
    return DONE


def run_push(arguments: Namespace) -> int:
    from training.model_card.facts import CardError

    if find_spec("huggingface_hub") is None:
        raise CannotRun(tr("huggingface_hub is not installed, which checks the card: pip install 'spec-o3[train]'"))
    from training.model_card.repository import check_name, prepare

    output: Path = arguments.output
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
