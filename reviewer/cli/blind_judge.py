"""``spec-o3 blind judge``: let a model judge the traces of a session."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, at_least_one, print_result
from agent.language import tr, trn
from reviewer.cli.common import add_session, database_of, opened
from reviewer.cli.draft import add_costs, spent_text

if TYPE_CHECKING:
    from agent.conversation import Stop
    from agent.policies.openai.endpoint import Endpoint
    from agent.policies.servers import Server
    from reviewer.agreement.values import Estimate
    from reviewer.blind.judge.model import Judge
    from reviewer.blind.judge.settings import JudgeSettings
    from reviewer.blind.plan import Dimension
    from reviewer.drafting.budget import Budget
    from reviewer.drafting.judging import JudgeRun
    from reviewer.store import BlindSession, Store

AT_A_TIME = 8
SHOWN = 20  # sentences printed for a person; --json has them all


def add(parser: ArgumentParser) -> None:
    add_session(parser)
    _add_who(parser)
    _add_what(parser)
    _add_how(parser)
    words = tr("questions in parallel ({at_a_time})", at_a_time=AT_A_TIME)
    parser.add_argument("--concurrency", type=at_least_one, default=AT_A_TIME, metavar="N", help=words)
    add_costs(parser)


def _add_who(parser: ArgumentParser) -> None:
    group = parser.add_argument_group(tr("the judge"))
    group.add_argument(
        "--server",
        required=True,
        metavar="URL",
        help=tr("an OpenAI-compatible server, e.g. http://HOST:8000/v1, or a key of servers.toml"),
    )
    group.add_argument("--model", metavar="NAME", help=tr("the model (the first one served)"))
    group.add_argument("--name", type=_judge_name, help=tr("name of its judgements (the model and its settings)"))
    group.add_argument("--servers", type=Path, metavar="FILE", help=tr("servers.toml (SPEC_O3_SERVERS)"))
    key = group.add_mutually_exclusive_group()
    key.add_argument(
        "--api-key-file", type=Path, metavar="FILE", help=tr("a file with the API key, readable by you only")
    )
    key.add_argument("--api-key-env", metavar="VARIABLE", help=tr("the environment variable with the key"))


def _add_what(parser: ArgumentParser) -> None:
    group = parser.add_argument_group(tr("the questions"))
    seen = group.add_mutually_exclusive_group()
    seen.add_argument("--pictures", action="store_true", help=tr("with the pictures of the trace (default)"))
    seen.add_argument(
        "--text-only",
        action="store_true",
        help=tr("without pictures, for models that cannot see: values measured in the spectrum take their place"),
    )
    seen.add_argument("--no-values", action="store_true", help=tr("without pictures and without measured values"))
    group.add_argument(
        "--dimension",
        choices=("both", "coherence", "consistency"),
        default="both",
        help=tr("what to score; a judge of one dimension gets no pairs (both)"),
    )
    group.add_argument("--separately", action="store_true", help=tr("one request per dimension"))
    group.add_argument("--samples", type=at_least_one, default=1, metavar="K", help=tr("answers per question (1)"))


def _add_how(parser: ArgumentParser) -> None:
    group = parser.add_argument_group(tr("settings of the model"), tr("They override those of --preset."))
    group.add_argument("--preset", metavar="NAME", help=tr("settings for a model that is known, e.g. astrosage-70b"))
    system = group.add_mutually_exclusive_group()
    system.add_argument("--system", metavar="TEXT", help=tr("text of the system message, before the instructions"))
    system.add_argument("--system-file", type=Path, metavar="FILE", help=tr("the same, from a file"))
    group.add_argument(
        "--instructions-in",
        choices=("system", "user"),
        help=tr("message with the instructions; user for models whose system message is only a switch (system)"),
    )
    group.add_argument(
        "--reasoning",
        choices=("on", "off", "server"),
        help=tr(
            "whether the model reasons before it answers; with on, no JSON schema is sent. A preset also "
            "switches it; without one, use --system or --chat-template-kwargs (server: as the server has "
            "it)"
        ),
    )
    group.add_argument(
        "--chat-template-kwargs",
        type=_template,
        metavar="JSON",
        help=tr("arguments for the server's chat template, e.g. '{\"enable_thinking\": true}'"),
    )
    group.add_argument("--temperature", type=float, metavar="T", help=tr("0 to 2 (0)"))
    group.add_argument("--top-p", type=float, metavar="P", help=tr("above 0, at most 1 (1)"))
    group.add_argument(
        "--max-tokens",
        type=at_least_one,
        metavar="N",
        help=tr("largest number of tokens of an answer, reasoning included (4096)"),
    )
    group.add_argument("--seed", type=int, metavar="N", help=tr("sent with each question (1)"))
    group.add_argument(
        "--context",
        type=at_least_one,
        metavar="N",
        help=tr("largest number of tokens of a question and its answer (what the server reports)"),
    )


def run(arguments: Namespace) -> int:
    from reviewer.drafting.judging import JudgeMismatch, NothingToJudge

    spending = _spending(arguments)
    with opened(database_of(arguments), must_exist=True) as store:
        session = store.blind.sessions.get(arguments.by, arguments.session)
        judge = _judge(arguments, session)
        try:
            tally, stopped = _run_judge(arguments, store, judge, spending)
        except (NothingToJudge, JudgeMismatch) as error:
            raise CannotRun(str(error)) from error
        # While the session is open nobody may see this, not even the coordinator.
        correlations = _rank_correlations(store, arguments.by, session, judge) if session.state == "closed" else {}
    result = _result(arguments, judge, tally, spending) | (
        {"rank_correlation": {name: one.to_json() for name, one in correlations.items()}} if correlations else {}
    )
    lines = [
        tr("{name}, rank correlation with the people: {estimate}", name=name, estimate=one.text)
        for name, one in correlations.items()
    ]
    print_result(arguments, result, "\n".join((_summary(arguments, judge, tally, spending), *lines)))
    if stopped:
        raise KeyboardInterrupt
    incomplete = tally.failed or tally.too_long or tally.unreadable or tally.gone or spending.ended
    return CHECK_FAILED if incomplete else DONE


def _run_judge(arguments: Namespace, store: Store, judge: Judge, spending: Budget) -> tuple[JudgeRun, bool]:
    """Run the judge; return its counts and whether it was stopped."""
    from agent.cli.command import stop_on_signal
    from agent.conversation import Stop
    from reviewer.drafting.judging import judge_session

    stop: Stop = Stop()
    with ProgressBar(None, tr("judging")) as bar, stop_on_signal(stop):

        def progress(done: int, of: int) -> None:
            bar.expect(of)
            bar.at(done, tr("{cost:.2f} spent", cost=spending.cost) if arguments.price_out else "")

        tally = judge_session(
            store, arguments.by, arguments.session, judge, spending, arguments.concurrency, stop, progress
        )
    return tally, stop.is_set


def _rank_correlations(store: Store, by: str | None, session: BlindSession, judge: Judge) -> dict[str, Estimate]:
    """Return the correlations by dimension, also of all judges together if there are several; empty for pairs only."""
    from reviewer.blind.report.judge_agreement import correlation_with_people, judge_scores

    results = store.blind.results.of_session(by, session.id)
    found: dict[str, Estimate] = {}
    for dimension in judge.configuration.dimensions if "scores" in session.plan.kinds else ():
        found[dimension] = correlation_with_people(results, dimension, judge.name)
        if len(judges := judge_scores(results, dimension).raters) > 1:
            found[f"{dimension}, mean of {len(judges)} judges"] = correlation_with_people(results, dimension)
    return found


def _judge(arguments: Namespace, session: BlindSession) -> Judge:
    """Return the judge. :raises CannotRun: its settings cannot be used, or the server does not answer"""
    from reviewer.blind.judge.model import Judge

    if session.rubric is None:
        raise CannotRun(
            tr(
                "session {id}: found it {state}, expected one that is or was open; to open it: spec-o3 blind open {id}",
                id=session.id,
                state=tr(session.state),
            )
            if session.state == "drawn"
            else tr(
                "session {id}: found it {state}, expected one that is or was open",
                id=session.id,
                state=tr(session.state),
            )
        )
    endpoint, settings = _endpoint_and_settings(arguments)
    health = endpoint.check()
    if not health.ok:
        raise CannotRun(health.sentence)
    how = [] if settings.sees == "pictures" else [{"text": "text only"}.get(settings.sees, settings.sees)]
    how += [] if len(settings.dimensions) == 2 else [arguments.dimension]
    how += [] if settings.reasoning == "server" else [f"reasoning {settings.reasoning}"]
    how += ["separately"] if settings.separately else []
    how += [f"{settings.samples} samples"] if settings.samples > 1 else []
    name = arguments.name or health.model + (f" ({', '.join(how)})" if how else "")
    return Judge(name, endpoint, session.rubric, settings)


def _endpoint_and_settings(arguments: Namespace) -> tuple[Endpoint, JudgeSettings]:
    """Return the server, and the settings: those of the preset, overridden by options.

    :raises CannotRun: a setting that cannot be used
    """
    from agent.policies.openai.endpoint import Endpoint
    from agent.policies.servers import RosterError
    from reviewer.blind.judge.settings import JudgeSettings, preset_settings

    try:
        server = _server(arguments)
        endpoint = Endpoint(server.url, arguments.model or server.model, server.api_key())
        if arguments.preset is None:
            chosen = JudgeSettings(reasoning=arguments.reasoning or "server")
        else:
            chosen = preset_settings(arguments.preset, arguments.reasoning)
        largest = server.max_tokens if arguments.preset is None else None
        return endpoint, replace(chosen, **_overrides(arguments, chosen, largest))
    except (RosterError, ValueError) as error:
        raise CannotRun(str(error)) from error


def _overrides(arguments: Namespace, chosen: JudgeSettings, largest: int | None) -> dict[str, Any]:
    """Return the settings that were given as options.

    :param largest: tokens of an answer, if no option gives them
    """
    both: tuple[Dimension, ...] = ("coherence", "consistency")
    dimensions = both if arguments.dimension == "both" else (arguments.dimension,)
    seen = {"pictures": arguments.pictures, "measured values": arguments.text_only, "text": arguments.no_values}
    sampling = {
        "temperature": arguments.temperature,
        "top_p": arguments.top_p,
        "max_tokens": arguments.max_tokens or largest,
        "seed": arguments.seed,
    }
    given = {
        "sees": next((name for name, wanted in seen.items() if wanted), None),
        "system": _system(arguments),
        "instructions_in": arguments.instructions_in,
        "template": arguments.chat_template_kwargs,
        "context": arguments.context,
    }
    return {
        "dimensions": dimensions,
        # With one dimension there is one request anyway.
        "separately": arguments.separately and len(dimensions) > 1,
        "samples": arguments.samples,
        "sampling": replace(chosen.sampling, **{name: one for name, one in sampling.items() if one is not None}),
        **{name: one for name, one in given.items() if one is not None},
    }


def _system(arguments: Namespace) -> str | None:
    """Return the system text. :raises CannotRun: its file cannot be read"""
    if arguments.system_file is None:
        return None if arguments.system is None else str(arguments.system).strip()
    try:
        return str(arguments.system_file.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeError) as error:
        raise CannotRun(
            tr(
                "--system-file: found {system_file} ({error}), expected a text in UTF-8",
                system_file=arguments.system_file,
                error=error,
            )
        ) from error


def _server(arguments: Namespace) -> Server:
    """Return the server of servers.toml with that key, or a server at that address.

    An API key of servers.toml is only sent to the address next to it.

    :raises RosterError: there is none, or its address or its key cannot be used
    """
    from agent.cli.policy_options import roster_from
    from agent.policies.servers import Server, checked_url

    if "/" not in arguments.server:
        database: Path = database_of(arguments)
        known = roster_from(arguments, database.resolve().parent).server(arguments.server)
        if known is None:
            raise CannotRun(
                tr("--server: found {server!r}, expected an address or one of servers.toml", server=arguments.server)
            )
        server = known
    else:
        server = Server(key="judge", url=checked_url(arguments.server, "--server", "address"))
    if arguments.api_key_file is not None:
        return server.model_copy(update={"api_key_file": arguments.api_key_file, "api_key_env": None})
    if arguments.api_key_env is not None:
        return server.model_copy(update={"api_key_file": None, "api_key_env": arguments.api_key_env})
    return server


def _spending(arguments: Namespace) -> Budget:
    """Return the budget of the run. :raises CannotRun: one price without the other, or a budget without prices"""
    from reviewer.drafting.budget import Budget, Prices

    if (arguments.price_in is None) != (arguments.price_out is None):
        raise CannotRun(tr("--price-in and --price-out: found one, expected both, each per million tokens"))
    if arguments.budget is not None and arguments.price_in is None:
        raise CannotRun(tr("--budget: found no prices, expected --price-in and --price-out, each per million tokens"))
    prices = Prices(arguments.price_in or 0.0, arguments.price_out or 0.0, arguments.price_cached)
    return Budget(prices, arguments.budget)


def _result(arguments: Namespace, judge: Judge, tally: JudgeRun, spending: Budget) -> dict[str, Any]:
    """Return numbers only: the answers are shown when the session is closed."""
    result = {"session": arguments.session, "judge": judge.name, "by": arguments.by, **judge.settings}
    result |= {**asdict(tally), "judged": tally.judged, "left": tally.left}
    result |= {"tokens": asdict(spending.used), "left_out": list(judge.endpoint.left_out)}
    if arguments.price_out is not None:
        result["cost"] = round(spending.cost, 6)
    return result | ({"ended": spending.ended} if spending.ended else {})


def _summary(arguments: Namespace, judge: Judge, tally: JudgeRun, spending: Budget) -> str:
    who = arguments.by or tr("the owner of the file")
    chosen = judge.configuration
    values = {
        "judge": judge.name,
        "who": who,
        "scores": tally.scores,
        "orders": tally.orders,
        "before": tally.before,
    }
    lines = [
        tr(
            "{judge}, run for {who}: {scores} scores of traces and {orders} orders of pairs judged, {before} already "
            "judged",
            **values,
        )
        if chosen.samples > 1 or chosen.separately
        else tr(
            "{judge}, run for {who}: {scores} traces and {orders} orders of pairs judged, {before} already judged",
            **values,
        )
    ]
    if tally.again:
        lines.append(
            trn(
                "{n} was requested twice; {unreadable} remained unreadable",
                "{n} were requested twice; {unreadable} remained unreadable",
                tally.again,
                unreadable=tally.unreadable,
            )
        )
    if tally.reasoned:
        lines.append(tr("{n} came with reasoning, which is kept separately", n=tally.reasoned))
    if judge.endpoint.left_out:
        lines.append(tr("the server does not take {names}: left out", names=", ".join(judge.endpoint.left_out)))
    lines += spent_text(spending, arguments.price_out is not None)
    lines += [tr("not judged: {why}", why=one) for one in tally.failed[:SHOWN]]
    if len(tally.failed) > SHOWN:
        lines.append(tr("not judged: {n} more", n=len(tally.failed) - SHOWN))
    lines += [tr("too long, not sent: {why}", why=one) for one in tally.too_long[:SHOWN]]
    if len(tally.too_long) > SHOWN:
        lines.append(tr("too long, not sent: {n} more", n=len(tally.too_long) - SHOWN))
    if ended := tally.gone or spending.ended:
        lines.append(tr("ended early: {reason}", reason=ended))
    if tally.too_long:
        lines.append(tr("serve the model with a larger context (vLLM: --max-model-len), or lower --max-tokens"))
    if rest := tally.left - len(tally.too_long):
        lines.append(
            trn(
                "{n} is left; run the same command again to continue",
                "{n} are left; run the same command again to continue",
                rest,
            )
        )
    return "\n".join(lines)


def _template(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ArgumentTypeError(
            tr('found {text!r:.60}, expected a JSON object, e.g. {{"enable_thinking": true}}', text=text)
        )
    return found


def _judge_name(text: str) -> str:
    if not text.strip() or len(text) > 120 or "\n" in text:
        raise ArgumentTypeError(
            tr("found {text!r:.60}, expected a name of one line, 120 characters at most", text=text)
        )
    return text.strip()
