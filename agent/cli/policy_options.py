"""Command-line options that choose a policy, its server and its sampling. Shared by ``inspect`` and ``draft``."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from agent.cli.command import CannotRun, at_least_one
from agent.language import tr

if TYPE_CHECKING:
    from agent.conversation import Policy
    from agent.policies import Sampling
    from agent.policies.native import Guidance
    from agent.policies.roster import Roster
    from agent.policies.servers import Server
    from agent.tasks import Task
    from agent.trajectory import Trajectory

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_URL = "OPENAI_BASE_URL"
OPENAI_TEMPERATURE = 1.0
"""The only temperature that OpenAI's reasoning models accept."""
OPENAI_TOKENS = 8192
"""Limit per turn; the hidden reasoning counts towards it."""

_SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
_MODEL = (*_SAMPLING, "logprobs")
_ALLOWED = {
    "baseline": (),
    "replay": ("trajectory",),
    "local": ("model", "adapter", "device", "dtype", *_MODEL),
    "nano": ("model", *_SAMPLING),
    "specialist": ("model",),
    "openai": ("server", "model", "api_key_file", *_MODEL),
    "spec-o3": ("server", "model", "api_key_file", *_MODEL),
}
_ALLOWED_WITH_FILE = ("model", *_MODEL)
"""Options for a server of servers.toml, which defines the rest."""
_ALL = ("server", "model", "adapter", "device", "dtype", "api_key_file", "trajectory", *_MODEL)


def add_policy_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("policy")
    group.add_argument(
        "--policy",
        default="baseline",
        metavar="NAME",
        help=tr("baseline (the default), nano, specialist, spec-o3, openai, local, replay, or one of servers.toml"),
    )
    group.add_argument(
        "--server", metavar="URL", help=tr("address of spec-o3 or openai, for example http://HOST:8000/v1")
    )
    group.add_argument(
        "--model",
        metavar="NAME",
        help=tr("model name; for local a folder or a name on the Hub; for nano and specialist a folder"),
    )
    group.add_argument("--adapter", metavar="PATH", help=tr("local: PEFT adapter for the model"))
    group.add_argument("--device", help=tr("local: cpu, cuda, cuda:1 (default: the GPU if there is one)"))
    group.add_argument(
        "--dtype", choices=("bfloat16", "float16", "float32"), help=tr("local: number format of the weights")
    )
    group.add_argument(
        "--temperature", type=float, metavar="X", help=tr("sampling temperature; 0 always takes the most likely token")
    )
    group.add_argument(
        "--top-p", type=float, metavar="X", help=tr("sample from the most likely tokens whose probabilities sum to X")
    )
    group.add_argument("--max-tokens", type=int, metavar="N", help=tr("maximum tokens per turn"))
    group.add_argument(
        "--seed", type=int, metavar="N", help=tr("random seed of the first sample; each further sample adds 1")
    )
    group.add_argument(
        "--logprobs",
        action="store_true",
        # Not False: an option that was not given has no effect anywhere.
        default=None,
        help=tr(
            "also request the log-probabilities of the tokens, so that a model's answer has a score: the "
            "log odds of YES (baseline and nano always give one)"
        ),
    )
    group.add_argument(
        "--servers",
        type=Path,
        metavar="FILE",
        help=tr("servers.toml file (default: the one that SPEC_O3_SERVERS names)"),
    )
    group.add_argument(
        "--api-key-file",
        type=Path,
        metavar="FILE",
        help=tr(
            "file with the API key, readable only by you (default: {openai_key}, or SPEC_O3_API_KEY)",
            openai_key=OPENAI_KEY,
        ),
    )
    group.add_argument("--trajectory", type=Path, metavar="FILE", help=tr("replay: JSON file of the trace"))
    group.add_argument(
        "--prompt",
        choices=("trained", "ours"),
        help=tr(
            "the prompt that the published checkpoints were trained with, as `spec-o3 tasks import` "
            "stored it, or the one of the task file (default: trained for a Spec-o3 checkpoint where it "
            "is stored, else ours)"
        ),
    )


def add_stage_options(parser: ArgumentParser) -> None:
    """Declare the options of ``inspect`` that differ between the stages of a cascade, besides those of the policy."""
    parser.add_argument(
        "--samples", type=at_least_one, default=1, metavar="N", help=tr("independent samples per spectrum (default 1)")
    )
    parser.add_argument(
        "--concurrency", type=at_least_one, metavar="N", help=tr("conversations with a server at once (default 64)")
    )
    parser.add_argument(
        "--processes",
        type=at_least_one,
        metavar="N",
        help=tr(
            "number of processes of this program; with a model server they share --concurrency (default: "
            "one per core for baseline, nano and specialist, one for servers)"
        ),
    )
    parser.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help=tr("give the verdicts of a certificate (spec-o3 certify), and leave to a person what it does not cover"),
    )


def add_cascade_options(parser: ArgumentParser) -> None:
    """Declare the options that name the stages of a cascade."""
    group = parser.add_argument_group(
        "cascade", tr("Several policies in turn: each sees the spectra that the one before did not decide.")
    )
    group.add_argument(
        "--first",
        metavar="STAGE",
        help=tr(
            "policy of the first stage, with its own options if any: baseline, or specialist,model=FOLDER,samples=1"
        ),
    )
    group.add_argument(
        "--then",
        action="append",
        metavar="STAGE",
        help=tr(
            "policy of the next stage; may be repeated. The other options of this command are those of the last one"
        ),
    )
    group.add_argument(
        "--first-certificate", type=Path, metavar="FILE", help=tr("certificate of the first stage, as --certificate")
    )


SHARED = ("policy", "servers", "prompt")
"""Policy options that all stages of a cascade share, or that name the stage."""


def arguments_of_stages(arguments: Namespace) -> list[Namespace]:
    """Return the arguments of each stage, in order; those of a command without a cascade are one stage.

    :raises CannotRun: options that contradict each other, or a stage that cannot be read
    """
    first, then = arguments.first, arguments.then or []
    if first is None:
        given = "--then" if then else "--first-certificate" if arguments.first_certificate else ""
        if given:
            raise CannotRun(tr("{given} needs --first, the policy of the first stage", given=given))
        return [Namespace(**vars(arguments) | {"policy": arguments.policy or "baseline"})]
    if not then:
        raise CannotRun(tr("--first needs --then, the policy of the next stage; for one policy alone use --policy"))
    if arguments.policy is not None:
        raise CannotRun(
            tr(
                "--policy {policy} has no effect with --first and --then, which name the policies",
                policy=arguments.policy,
            )
        )
    stages = [_of_stage(arguments, first, "--first", False)]
    stages += [_of_stage(arguments, one, "--then", number == len(then)) for number, one in enumerate(then, start=1)]
    if arguments.first_certificate is not None:
        stages[0].certificate = arguments.first_certificate
    return stages


def _of_stage(arguments: Namespace, text: str, option: str, is_last: bool) -> Namespace:
    """Read a stage: ``POLICY,KEY=VALUE,...``. Only the last one has the options of the whole command."""
    parser = _StageParser(prog=option, add_help=False, allow_abbrev=False)
    add_stage_options(parser)
    add_policy_options(parser)
    own = {name for name in vars(parser.parse_args([])) if name not in SHARED}
    policy, *settings = text.split(",")
    for setting in settings:
        key = setting.partition("=")[0]
        if key.replace("-", "_") not in own:
            expected = ", ".join(sorted(name.replace("_", "-") for name in own))
            raise CannotRun(
                tr(
                    "{option} {text}: found {key!r:.60}, expected a policy and KEY=VALUE with {expected}",
                    option=option,
                    text=text,
                    key=key,
                    expected=expected,
                )
            )
    given = {name: value for name, value in vars(arguments).items() if is_last or name not in own}
    return parser.parse_args([f"--{setting}" for setting in settings], Namespace(**given | {"policy": policy}))


class _StageParser(ArgumentParser):
    """Reads the options of one stage; a problem is a ``CannotRun`` that names the stage's option."""

    def error(self, message: str) -> NoReturn:
        raise CannotRun(f"{self.prog}: {message}")


@dataclass(frozen=True)
class PolicyChoice:
    """The chosen policy with its sampling. Called, it makes the policy of one sample. A server gives each turn whole,
    because nobody watches it being written.
    """

    key: str
    roster: Roster
    sampling: Sampling
    trajectory: Trajectory | None = None

    def __call__(self, sample: int = 0, guidance: Guidance | None = None) -> Policy:
        """Make the policy of sample ``sample`` (from 0).

        :param guidance: for drafting: the known verdict
        :raises PolicyError: it cannot be used with these settings
        """
        return self.roster.policy(self.key, self.sampling.for_sample(sample), self.trajectory, guidance, stream=False)


def roster_from(arguments: Namespace, database_folder: Path | None = None) -> Roster:
    """Load the roster of policies.

    :param database_folder: its ``servers.toml`` is read if there is one
    """
    from agent.policies.roster import Roster, RosterError

    try:
        return Roster.load(arguments.servers, database_folder=database_folder)
    except RosterError as error:
        raise CannotRun(str(error)) from error


def choice_from(arguments: Namespace, roster: Roster, samples: int = 1) -> PolicyChoice:
    """Return the policy that the options choose.

    :param samples: number of samples per spectrum; several samples must be able to differ
    :raises CannotRun: options that contradict each other, or a missing one
    """
    from agent.conversation import PolicyError
    from agent.policies.servers import RosterError

    _refuse_unused(arguments)
    try:
        roster = _with_given(arguments, roster)
        entries = {entry.key: entry for entry in roster.entries()}
        if arguments.policy not in entries:
            known = ", ".join(sorted({*_ALLOWED, *entries}))
            raise CannotRun(
                tr("--policy: found {policy!r}, expected one of {known}", policy=arguments.policy, known=known)
            )
        entry = entries[arguments.policy]
        if entry.kind in ("local", "nano", "specialist") and not (health := roster.health(entry.key)).ok:
            raise CannotRun(health.sentence)
        given = {name: getattr(arguments, name) for name in _MODEL}
        sampling = replace(
            roster.sampling(entry.key), **{name: value for name, value in given.items() if value is not None}
        )
        choice = PolicyChoice(entry.key, roster, sampling, _trajectory(arguments))
        choice()
    except (PolicyError, RosterError, ValueError) as error:
        raise CannotRun(str(error)) from error
    if samples > 1 and not entry.samples_ok:
        raise CannotRun(
            tr(
                "--samples: found {samples}, expected 1: {key} gives the same answer each time",
                samples=samples,
                key=entry.key,
            )
        )
    if samples > 1 and sampling.temperature == 0:
        raise CannotRun(
            tr(
                "--samples: {samples} at temperature 0 are identical; set --temperature, for example 0.7",
                samples=samples,
            )
        )
    return choice


def task_prompts_from(
    arguments: Namespace, choice: PolicyChoice, database_folder: Path | None = None
) -> Callable[[Task], Task]:
    """Return a function that gives a task the prompt of ``--prompt``.

    :param database_folder: where the imported prompts are; None: the program's folder
    :raises CannotRun: the stored prompts cannot be used; the function raises it where the wanted one is missing
    """
    from agent.tasks import TaskError
    from agent.tasks.trained import choose, load, prompts_file

    try:
        prompts = {} if arguments.prompt == "ours" else load(prompts_file(database_folder))
    except TaskError as error:
        raise CannotRun(str(error)) from error

    def with_prompt(task: Task) -> Task:
        try:
            return choose(task, prompts, arguments.prompt, choice.roster.is_checkpoint(choice.key))
        except TaskError as error:
            raise CannotRun(f"--prompt: {error}") from error

    return with_prompt


def _refuse_unused(arguments: Namespace) -> None:
    allowed = _ALLOWED.get(arguments.policy, _ALLOWED_WITH_FILE)
    for name in _ALL:
        if getattr(arguments, name) is not None and name not in allowed:
            option = f"--{name.replace('_', '-')}"
            others = ", ".join(f"--{one.replace('_', '-')}" for one in allowed) or tr("no options")
            raise CannotRun(
                tr(
                    "{option} has no effect with --policy {policy}, which takes {others}",
                    option=option,
                    policy=arguments.policy,
                    others=others,
                )
            )


def _with_given(arguments: Namespace, roster: Roster) -> Roster:
    """Return the roster with the server or model that the options name."""
    from agent.policies.local.model import Weights

    match arguments.policy:
        case "local":
            weights = roster.local
            if arguments.model is None and weights is None:
                raise CannotRun(
                    tr("--policy local needs --model, a folder or a name, for example Maxwell-Jia/spec-o3-3b")
                )
            if arguments.model is not None:
                weights = Weights(arguments.model)
            assert weights is not None
            named = {name: getattr(arguments, name) for name in ("adapter", "device", "dtype")}
            weights = replace(weights, **{name: value for name, value in named.items() if value is not None})
            return roster.with_local(weights)
        case "nano":
            if arguments.model is not None:
                return roster.with_nano(Path(arguments.model).expanduser())
            if roster.nano is None:
                raise CannotRun(tr("--policy nano needs --model, a folder: no weights came with this installation"))
            return roster
        case "specialist":
            if arguments.model is None:
                raise CannotRun(tr("--policy specialist needs --model, a folder of `spec-o3 specialist train`"))
            return roster.with_specialist(Path(arguments.model).expanduser())
        case "openai":
            return roster.with_server(_openai(arguments))
        case "spec-o3":
            return roster.with_server(_spec_o3(arguments, roster))
    server = roster.server(arguments.policy)
    if server is not None and arguments.model is not None:
        return roster.with_server(server.model_copy(update={"model": arguments.model}))
    return roster


def _openai(arguments: Namespace) -> Server:
    from agent.policies.servers import Server, checked_url

    source, url = ("--server", arguments.server) if arguments.server else (OPENAI_URL, os.environ.get(OPENAI_URL))
    if arguments.model is None:
        raise CannotRun(tr("--policy openai needs --model, for example gpt-5"))
    has_key = bool(os.environ.get(OPENAI_KEY, "").strip())
    if not (url or has_key or arguments.api_key_file):
        raise CannotRun(
            tr("--policy openai needs a key: set {openai_key}, or use --api-key-file", openai_key=OPENAI_KEY)
        )
    return Server(
        key="openai",
        url=checked_url(url or OPENAI, source, "address"),
        model=arguments.model,
        dialect="native",
        title=arguments.model,
        api_key_env=OPENAI_KEY if has_key else None,
        api_key_file=arguments.api_key_file,
        temperature=OPENAI_TEMPERATURE,
        max_tokens=OPENAI_TOKENS,
    )


def _spec_o3(arguments: Namespace, roster: Roster) -> Server:
    from agent.policies.roster import SPEC_O3, default_server

    server = roster.server(SPEC_O3)
    # The key in the file is not for another address.
    if arguments.server is not None or server is None:
        server = default_server(arguments.server)
    if arguments.api_key_file is not None:
        server = server.model_copy(update={"api_key_file": arguments.api_key_file})
    return server if arguments.model is None else server.model_copy(update={"model": arguments.model})


def _trajectory(arguments: Namespace) -> Trajectory | None:
    from agent.trajectory import Trajectory, TrajectoryError

    file = arguments.trajectory
    if file is None:
        return None
    try:
        return Trajectory.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TrajectoryError) as error:
        raise CannotRun(f"--trajectory {file}: {error}") from error
