"""Command-line options that choose a policy, its server and its sampling. Shared by ``inspect`` and ``draft``."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from agent.cli.command import CannotRun, note
from agent.cli.options import add_options, at_least_one, json_object, not_negative, option
from agent.language import deferred, tr
from agent.policies import EXAMPLES, EXAMPLES_BUDGET, NATIVE, Sampling

if TYPE_CHECKING:
    from agent.conversation import Policy
    from agent.policies.examples import Examples
    from agent.policies.native import Guidance
    from agent.policies.roster import Roster
    from agent.policies.servers import Server
    from agent.sky.table import SkyTable
    from agent.tasks import Task
    from agent.trajectory import Trajectory

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_URL = "OPENAI_BASE_URL"

_SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
_MODEL = (*_SAMPLING, "logprobs")
_SERVER = (*_MODEL, "reasoning_effort", "extra_body")
_EXAMPLES = ("examples", "examples_number", "examples_budget")
_ALLOWED = {
    "baseline": ("sky",),
    "replay": ("trajectory", "sky"),
    "local": ("model", "adapter", "device", "dtype", "measure", "sky", *_MODEL),
    "nano": ("model", *_SAMPLING),
    "specialist": ("model",),
    "openai": ("server", "model", "tool_in_words", "api_key_file", "measure", "sky", *_EXAMPLES, *_SERVER),
    "spec-o3": ("server", "model", "api_key_file", "measure", "sky", *_SERVER),
}
_ALLOWED_WITH_FILE = ("model", "measure", "sky", *_EXAMPLES, *_SERVER)
"""Options for a server of servers.toml, which defines the rest."""
_ALL = (
    *("server", "model", "tool_in_words", "adapter", "device", "dtype", "api_key_file", "trajectory"),
    *("measure", "sky", *_EXAMPLES, *_SERVER),
)


SERVERS = deferred("servers.toml file (default: the one that SPEC_O3_SERVERS names, else next to the database)")


@dataclass(kw_only=True)
class ServersFile:
    """The file that lists model servers."""

    servers: Path | None = option(SERVERS)


@dataclass(kw_only=True)
class PolicyOptions(ServersFile):
    """The policy, its server and its sampling."""

    TITLE = deferred("policy")

    policy: str | None = option(
        "baseline (the default), nano, specialist, spec-o3, openai, local, replay, or a server of servers.toml",
        metavar="NAME",
    )
    server: str | None = option(
        "address of spec-o3 or openai, http://HOST:8000/v1, or a server of servers.toml, as --policy",
        metavar="URL",
    )
    model: str | None = option(
        "model name; for local a folder or a name on the Hub; for nano and specialist a folder",
        metavar="NAME",
    )
    tool_in_words: bool | None = option(
        "openai: describe the tool in the instructions (default: where the server takes no tools)"
    )
    adapter: str | None = option("local: PEFT adapter for the model", metavar="PATH")
    device: str | None = option("local: cpu, cuda, cuda:1 (default: a GPU if any)")
    dtype: Literal["bfloat16", "float16", "float32"] | None = option("local: number format of the weights")
    temperature: float | None = option(
        deferred(
            "sampling temperature; 0 always takes the most likely token (default: that of servers.toml, else "
            "{native:g} for models with tool calls of their own, as openai, and 0 for the others)",
            native=NATIVE.temperature,
        )
    )
    top_p: float | None = option("nucleus sampling: total probability X (default 1)")
    max_tokens: int | None = option(
        deferred(
            "maximum tokens per turn (default: that of servers.toml, else {native} for models with tool calls of their "
            "own, whose reasoning counts, and {ours} for the others)",
            native=NATIVE.max_tokens,
            ours=Sampling().max_tokens,
        ),
        read=at_least_one,
    )
    seed: int | None = option(
        "random seed of the first sample; each further sample adds 1 (default: the server chooses)",
        read=not_negative,
    )
    logprobs: bool | None = option(
        "also request the log-probabilities of the tokens, so that a model's answer has a score: the "
        "log odds of YES (baseline and nano always give one)"
    )
    reasoning_effort: str | None = option(
        "how much a model of a server reasons, where it can be chosen: none, minimal, low, medium, high, ... "
        "(default: that of servers.toml, else the server's)",
        metavar="WORD",
    )
    extra_body: dict[str, Any] | None = option(
        'further fields of each request to a server, as JSON: \'{"service_tier": "flex"}\'',
        metavar="JSON",
        read=json_object,
    )
    api_key_file: Path | None = option(
        deferred(
            "file with the API key, readable only by you (default: {openai_key}, or SPEC_O3_API_KEY)",
            openai_key=OPENAI_KEY,
        )
    )
    trajectory: Path | None = option("replay: JSON file of the trace")
    measure: bool | None = option("also offer the tool that measures lines and bands")
    sky: Path | None = option("also offer sky_context, with this table of records")
    examples: Path | None = option("show approved traces of an export first", metavar="PATH")
    examples_number: int | None = option(deferred("number (default {n})", n=EXAMPLES), read=at_least_one)
    examples_budget: int | None = option(
        deferred("their pictures at most (default {n})", n=EXAMPLES_BUDGET), read=at_least_one
    )
    prompt: Literal["trained", "ours"] | None = option(
        "the prompt of the published checkpoints, as `spec-o3 tasks import` stored it, or that of the task file "
        "(default: trained for a checkpoint, if stored)"
    )

    @property
    def key(self) -> str:
        """Return the policy: that of ``--policy``, or the server of servers.toml that ``--server`` names."""
        return self.policy or self._named_server or "baseline"

    @property
    def server_address(self) -> str | None:
        """Return the address that ``--server`` gives, if it gives one."""
        return None if self.policy is None and self._named_server else self.server

    @property
    def _named_server(self) -> str | None:
        return None if self.server is None or "/" in self.server else self.server


SAMPLES = deferred("independent samples per spectrum")


@dataclass(kw_only=True)
class StageOptions(PolicyOptions):
    """The options of ``inspect`` that differ between the stages of a cascade."""

    samples: int = option(SAMPLES, default=1, read=at_least_one)
    concurrency: int | None = option("conversations with a server at once (default 64)", read=at_least_one)
    processes: int | None = option(
        "number of processes of this program; with a model server they share --concurrency (default: "
        "one per core for baseline, nano and specialist, one for servers)",
        read=at_least_one,
    )
    certificate: Path | None = option(
        "give the verdicts of a certificate (spec-o3 certify), and leave to a person what it does not cover"
    )


@dataclass(kw_only=True)
class CascadeOptions:
    """The stages of a cascade."""

    TITLE = deferred("cascade")
    ABOUT = deferred("Several policies in turn: each sees the spectra that the one before did not decide.")

    first: str | None = option(
        "policy of the first stage, with its own options if any: baseline, or specialist,model=FOLDER,samples=1",
        metavar="STAGE",
    )
    then: list[str] = option(
        "policy of the next stage; may be repeated. The other options of this command are those of the last one",
        metavar="STAGE",
        repeat=True,
    )
    first_certificate: Path | None = option("certificate of the first stage, as --certificate")


SHARED = ("policy", "servers", "prompt")
"""Policy options that all stages of a cascade share, or that name the stage."""


@dataclass(kw_only=True)
class CommandOfStages(CascadeOptions, StageOptions):
    """The options of a command that runs one policy or a cascade of them."""


def arguments_of_stages(arguments: CommandOfStages) -> list[StageOptions]:
    """Return the options of each stage, in order; those of a command without a cascade are one stage.

    :raises CannotRun: options that contradict each other, or a stage that cannot be read
    """
    first, then = arguments.first, arguments.then
    if first is None:
        given = "--then" if then else "--first-certificate" if arguments.first_certificate else ""
        if given:
            raise CannotRun(tr("{given} needs --first, the policy of the first stage", given=given))
        return [arguments]
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
    stages += [_of_stage(arguments, text, "--then", number == len(then)) for number, text in enumerate(then, start=1)]
    if arguments.first_certificate is not None:
        stages[0].certificate = arguments.first_certificate
    return stages


def _of_stage(arguments: CommandOfStages, text: str, option: str, is_last: bool) -> StageOptions:
    """Read a stage: ``POLICY,KEY=VALUE,...``. Only the last one has the options of the whole command."""
    parser = _StageParser(prog=option, add_help=False, allow_abbrev=False)
    add_options(parser, StageOptions)
    own = {field.name for field in fields(StageOptions) if field.name not in SHARED}
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
    stage = parser.parse_args([f"--{setting}" for setting in settings], Namespace(**given | {"policy": policy}))
    return StageOptions(**{field.name: getattr(stage, field.name) for field in fields(StageOptions)})


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
    measure: bool | None = None
    examples: Examples | None = None
    sky: SkyTable | None = None

    def __call__(self, sample: int = 0, guidance: Guidance | None = None) -> Policy:
        """Make the policy of sample ``sample`` (from 0).

        :param guidance: for drafting: the known verdict
        :raises PolicyError: it cannot be used with these settings
        """
        return self.roster.policy(
            *(self.key, self.sampling.for_sample(sample), self.trajectory, guidance),
            stream=False,
            measure=self.measure,
            examples=self.examples,
            sky=self.sky,
        )


def roster_from(arguments: ServersFile, database_folder: Path | None = None) -> Roster:
    """Load the roster of policies.

    :param database_folder: its ``servers.toml`` is read if there is one
    """
    from agent.policies.roster import Roster

    return Roster.load(arguments.servers, database_folder=database_folder)


def choice_from(arguments: PolicyOptions, roster: Roster, samples: int = 1) -> PolicyChoice:
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
        if arguments.key not in entries:
            known = ", ".join(sorted({*_ALLOWED, *entries}))
            raise CannotRun(
                tr("--policy: found {policy!r}, expected one of {known}", policy=arguments.key, known=known)
            )
        entry = entries[arguments.key]
        if entry.kind in ("local", "nano", "specialist") and not (health := roster.health(entry.key)).ok:
            raise CannotRun(health.sentence)
        given = {name: getattr(arguments, name) for name in _SERVER}
        sampling = replace(
            roster.sampling(entry.key), **{name: value for name, value in given.items() if value is not None}
        )
        examples, sky = _examples(arguments), _sky(arguments)
        choice = PolicyChoice(entry.key, roster, sampling, _trajectory(arguments), arguments.measure, examples, sky)
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
    arguments: PolicyOptions, choice: PolicyChoice, database_folder: Path | None = None
) -> Callable[[Task], Task]:
    """Return a function that gives a task the prompt of ``--prompt``.

    :param database_folder: where the imported prompts are; None: the program's folder
    :raises CannotRun: the stored prompts cannot be used; the function raises it where the wanted one is missing
    """
    from agent.tasks import TaskError
    from agent.tasks.trained import choose, load, prompts_file

    prompts = {} if arguments.prompt == "ours" else load(prompts_file(database_folder))

    def with_prompt(task: Task) -> Task:
        try:
            return choose(task, prompts, arguments.prompt, choice.roster.is_checkpoint(choice.key))
        except TaskError as error:
            raise CannotRun(f"--prompt: {error}") from error

    return with_prompt


def _refuse_unused(arguments: PolicyOptions) -> None:
    allowed = _ALLOWED.get(arguments.key, _ALLOWED_WITH_FILE)
    for name in _ALL:
        value = arguments.server_address if name == "server" else getattr(arguments, name)
        if value is not None and name not in allowed:
            option = f"--{name.replace('_', '-')}"
            others = ", ".join(f"--{allowed_name.replace('_', '-')}" for allowed_name in allowed) or tr("no options")
            raise CannotRun(
                tr(
                    "{option} has no effect with --policy {policy}, which takes {others}",
                    option=option,
                    policy=arguments.key,
                    others=others,
                )
            )


def _with_given(arguments: PolicyOptions, roster: Roster) -> Roster:
    """Return the roster with the server or model that the options name."""
    from agent.policies.local.model import Weights

    match arguments.key:
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
    server = roster.server(arguments.key)
    if server is not None and arguments.model is not None:
        return roster.with_server(server.model_copy(update={"model": arguments.model}))
    return roster


def _openai(arguments: PolicyOptions) -> Server:
    from agent.policies.servers import Server, checked_url

    source, url = (
        ("--server", arguments.server_address) if arguments.server_address else (OPENAI_URL, os.environ.get(OPENAI_URL))
    )
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
        tool_in_words=arguments.tool_in_words,
    )


def _spec_o3(arguments: PolicyOptions, roster: Roster) -> Server:
    from agent.policies.roster import SPEC_O3, default_server

    server = roster.server(SPEC_O3)
    # The key in the file is not for another address.
    if arguments.server_address is not None or server is None:
        server = default_server(arguments.server_address)
    if arguments.api_key_file is not None:
        server = server.model_copy(update={"api_key_file": arguments.api_key_file})
    return server if arguments.model is None else server.model_copy(update={"model": arguments.model})


def _sky(arguments: PolicyOptions) -> SkyTable | None:
    """:raises SkyError: the file is no table of records"""
    if arguments.sky is None:
        return None
    from agent.sky.table import SkyTable

    table = SkyTable(arguments.sky.expanduser().resolve())
    table("")  # reads which spectra it has, so that a damaged table ends the command here
    return table


def _examples(arguments: PolicyOptions) -> Examples | None:
    """Return the examples of the options, and print which traces are left out."""
    from agent.policies.examples import SEVERAL, Examples

    if arguments.examples is None:
        for name in _EXAMPLES[1:]:
            if getattr(arguments, name) is not None:
                raise CannotRun(tr("--{name} needs --examples", name=name.replace("_", "-")))
        return None
    number, pictures = arguments.examples_number or EXAMPLES, arguments.examples_budget or EXAMPLES_BUDGET
    examples = Examples(arguments.examples, number, pictures)
    for name, why in list(examples.left_out.items())[:SEVERAL]:
        note(tr("examples: {name} is left out: {why}", name=name, why=tr(why)))
    if (more := len(examples.left_out) - SEVERAL) > 0:
        note(tr("examples: {n} more are left out", n=more))
    if not examples.candidates:
        raise CannotRun(tr("--examples {path}: found no trace that can be an example", path=arguments.examples))
    return examples


def _trajectory(arguments: PolicyOptions) -> Trajectory | None:
    from agent.trajectory import Trajectory, TrajectoryError

    if (file := arguments.trajectory) is None:
        return None
    try:
        return Trajectory.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TrajectoryError) as error:
        raise CannotRun(f"--trajectory {file}: {error}") from error
