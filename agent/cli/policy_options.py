"""Options of a command that asks a policy: which one, where it is, how it is asked. ``inspect`` and ``draft``
have the same.
"""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import CannotRun

if TYPE_CHECKING:
    from agent.conversation import Policy
    from agent.policies import Sampling
    from agent.policies.native import Guidance
    from agent.policies.roster import Roster
    from agent.policies.servers import Server
    from agent.trajectory import Trajectory

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_URL = "OPENAI_BASE_URL"
OPENAI_TEMPERATURE = 1.0
"""The one temperature that OpenAI's reasoning models take; they refuse any other."""
OPENAI_TOKENS = 8192
"""Room for a turn with the hidden reasoning, which counts towards it."""

_SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
_MEANT = {
    "baseline": (),
    "replay": ("trajectory",),
    "local": ("model", "adapter", "device", "dtype", *_SAMPLING),
    "openai": ("server", "model", "api_key_file", *_SAMPLING),
    "spec-o3": ("server", "model", "api_key_file", *_SAMPLING),
}
_NAMED = ("model", *_SAMPLING)
"""Options that mean something for a server of servers.toml, which says the rest."""
_ALL = ("server", "model", "adapter", "device", "dtype", "api_key_file", "trajectory", *_SAMPLING)


def add_policy_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("who thinks")
    group.add_argument(
        "--policy",
        default="baseline",
        metavar="NAME",
        help="baseline (the default, no model), spec-o3, openai, local, replay, or one of servers.toml",
    )
    group.add_argument("--server", metavar="URL", help="where spec-o3 or openai is, such as http://HOST:8000/v1")
    group.add_argument("--model", metavar="NAME", help="the model; for local a folder, or a name on the Hub")
    group.add_argument("--adapter", metavar="PATH", help="local: a PEFT adapter for the model")
    group.add_argument("--device", help="local: cpu, cuda, cuda:1 (the GPU if there is one)")
    group.add_argument("--dtype", choices=("bfloat16", "float16", "float32"), help="local: of the weights")
    group.add_argument("--temperature", type=float, metavar="X", help="0 takes the likeliest token each time")
    group.add_argument("--top-p", type=float, metavar="X", help="choose among the likeliest that make up X")
    group.add_argument("--max-tokens", type=int, metavar="N", help="tokens that a turn may have")
    group.add_argument("--seed", type=int, metavar="N", help="of the first sample; each next one has the next")
    group.add_argument("--servers", type=Path, metavar="FILE", help="servers.toml (SPEC_O3_SERVERS)")
    group.add_argument(
        "--api-key-file",
        type=Path,
        metavar="FILE",
        help=f"a file with the key that only you can read (else {OPENAI_KEY}, or SPEC_O3_API_KEY)",
    )
    group.add_argument("--trajectory", type=Path, metavar="FILE", help="replay: the trace, as JSON")


@dataclass(frozen=True)
class PolicyChoice:
    """Who was chosen, and how it is asked; a policy for each sample, and each known verdict, comes of it."""

    key: str
    roster: Roster
    sampling: Sampling
    trajectory: Trajectory | None = None

    def __call__(self, sample: int = 0, guidance: Guidance | None = None) -> Policy:
        """The policy of sample ``sample`` (from 0).

        :raises PolicyError: it cannot be asked so
        """
        return self.roster.policy(self.key, self.sampling.for_sample(sample), self.trajectory, guidance)


def roster_from(arguments: Namespace, beside: Path | None = None) -> Roster:
    """Who can be asked, servers of the command line included.

    :param beside: the folder of the database, whose ``servers.toml`` is read if there is one
    """
    from agent.policies.roster import Roster, RosterError

    try:
        return Roster.load(arguments.servers, beside=beside)
    except RosterError as error:
        raise CannotRun(str(error)) from error


def choice_from(arguments: Namespace, roster: Roster, samples: int = 1) -> PolicyChoice:
    """What the options say.

    :param samples: how many of one spectrum are wanted; more than one must be able to differ
    :raises CannotRun: options that do not go together, or something missing
    """
    from agent.conversation import PolicyError
    from agent.policies.servers import RosterError

    _refuse_meaningless(arguments)
    try:
        roster = _with_given(arguments, roster)
        entries = {entry.key: entry for entry in roster.entries()}
        if arguments.policy not in entries:
            known = ", ".join(sorted({*_MEANT, *entries}))
            raise CannotRun(f"--policy: found {arguments.policy!r}, wanted one of {known}")
        entry = entries[arguments.policy]
        if entry.kind == "local" and not (health := roster.health(entry.key)).ok:
            raise CannotRun(health.sentence)
        given = {name: getattr(arguments, name) for name in _SAMPLING}
        sampling = replace(
            roster.sampling(entry.key), **{name: value for name, value in given.items() if value is not None}
        )
        choice = PolicyChoice(entry.key, roster, sampling, _trajectory(arguments))
        choice()
    except (PolicyError, RosterError, ValueError) as error:
        raise CannotRun(str(error)) from error
    if samples > 1 and not entry.samples_ok:
        raise CannotRun(f"--samples: found {samples}, wanted 1: {entry.key} says the same each time")
    if samples > 1 and sampling.temperature == 0:
        raise CannotRun(f"--samples: {samples} at temperature 0 are the same; give --temperature, such as 0.7")
    return choice


def policy_from(arguments: Namespace, roster: Roster) -> Policy:
    """The policy that the options say, for one sample.

    :raises CannotRun: options that do not go together, or something missing
    """
    return choice_from(arguments, roster)()


def _refuse_meaningless(arguments: Namespace) -> None:
    meant = _MEANT.get(arguments.policy, _NAMED)
    for name in _ALL:
        if getattr(arguments, name) is not None and name not in meant:
            option = f"--{name.replace('_', '-')}"
            knows = ", ".join(f"--{one.replace('_', '-')}" for one in meant) or "no such options"
            raise CannotRun(f"{option} means nothing for --policy {arguments.policy}, which has {knows}")


def _with_given(arguments: Namespace, roster: Roster) -> Roster:
    """The roster with what the options name put in its place."""
    from agent.policies.local.model import Weights

    match arguments.policy:
        case "local":
            weights = roster.local
            if arguments.model is None and weights is None:
                raise CannotRun("--policy local needs --model, a folder or a name as Maxwell-Jia/spec-o3-3b")
            if arguments.model is not None:
                weights = Weights(arguments.model)
            assert weights is not None
            named = {name: getattr(arguments, name) for name in ("adapter", "device", "dtype")}
            weights = replace(weights, **{name: value for name, value in named.items() if value is not None})
            return roster.with_local(weights)
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

    where, url = ("--server", arguments.server) if arguments.server else (OPENAI_URL, os.environ.get(OPENAI_URL))
    if arguments.model is None:
        raise CannotRun("--policy openai needs --model, such as gpt-5")
    has_key = bool(os.environ.get(OPENAI_KEY, "").strip())
    if not (url or has_key or arguments.api_key_file):
        raise CannotRun(f"--policy openai needs a key: set {OPENAI_KEY}, or give --api-key-file")
    return Server(
        key="openai",
        url=checked_url(url or OPENAI, where, "address"),
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
    # At another address the file's key has no business.
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
