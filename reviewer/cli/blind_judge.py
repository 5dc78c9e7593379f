"""``spec-o3 blind judge``: let a model judge the traces of a session."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, print_result
from agent.cli.options import at_least_one, json_object, not_negative, option
from agent.cli.policy_options import ServersFile
from agent.language import deferred, tr, trn
from reviewer.cli.common import Session, database_of, opened
from reviewer.cli.draft import Costs, spent_text

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


def _judge_name(text: str) -> str:
    if not text.strip() or len(text) > 120 or "\n" in text:
        raise ArgumentTypeError(
            tr("found {text!r:.60}, expected a name of one line, 120 characters at most", text=text)
        )
    return text.strip()


@dataclass(kw_only=True)
class JudgeServer(ServersFile):
    """Who judges."""

    TITLE = deferred("the judge")

    server: str = option("an OpenAI-compatible server, e.g. http://HOST:8000/v1, or one of servers.toml", metavar="URL")
    model: str | None = option("the model (default: the first one served)", metavar="NAME")
    name: str | None = option(
        "name of its judgements (default: the model and its settings)", metavar="NAME", read=_judge_name
    )
    api_key_file: Path | None = option("file with the API key, readable by you only", one_of="key")
    api_key_env: str | None = option("the environment variable with the key", metavar="VARIABLE", one_of="key")


@dataclass(kw_only=True)
class QuestionOptions:
    """What the judge is asked."""

    TITLE = deferred("the questions")

    pictures: bool = option("with the pictures of the trace (default)", one_of="shown")
    text_only: bool = option(
        "without pictures, for models that cannot see: values measured in the spectrum take their place",
        one_of="shown",
    )
    no_values: bool = option("without pictures and without measured values", one_of="shown")
    dimension: Literal["both", "coherence", "consistency"] = option(
        "what to score; a judge of one dimension gets no pairs", default="both"
    )
    separately: bool = option("one request per dimension")
    samples: int = option("answers per question", default=1, read=at_least_one)


@dataclass(kw_only=True)
class ModelOptions:
    """Settings of the judge's model."""

    TITLE = deferred("settings of the model")
    ABOUT = deferred("They override those of --preset.")

    preset: str | None = option("settings for a model that is known, e.g. astrosage-70b", metavar="NAME")
    system: str | None = option("text of the system message, before the instructions", metavar="TEXT", one_of="system")
    system_file: Path | None = option("the same, from a file", one_of="system")
    instructions_in: Literal["system", "user"] | None = option(
        "message with the instructions; user for models whose system message is only a switch (default system)"
    )
    reasoning: Literal["on", "off", "server"] | None = option(
        "whether the model reasons before it answers; with on, no JSON schema is sent. A preset also switches it; "
        "without one, use --system or --chat-template-kwargs (default server: as the server has it)"
    )
    chat_template_kwargs: dict[str, Any] | None = option(
        "arguments for the server's chat template, e.g. '{\"enable_thinking\": true}'", metavar="JSON", read=json_object
    )
    temperature: float | None = option("sampling temperature, 0 to 2 (default: that of --preset, else 0)")
    top_p: float | None = option("sample from the most likely tokens whose probabilities sum to X (default 1)")
    max_tokens: int | None = option(
        "largest number of tokens of an answer, reasoning included (default: that of --preset, of servers.toml, else "
        "4096)",
        read=at_least_one,
    )
    seed: int | None = option("sent with each question (default 0)", read=not_negative)
    context: int | None = option(
        "largest number of tokens of a question and its answer (default: what the server reports)",
        metavar="TOKENS",
        read=at_least_one,
    )


@dataclass(kw_only=True)
class Options(JudgeServer, QuestionOptions, ModelOptions, Costs, Session):
    concurrency: int = option("questions at once", default=AT_A_TIME, read=at_least_one)


def run(arguments: Options) -> int:

    spending = _spending(arguments)
    with opened(database_of(arguments), must_exist=True) as store:
        session = store.blind.sessions.get(arguments.by, arguments.session)
        judge = _judge(arguments, session)
        tally, stopped = _run_judge(arguments, store, judge, spending)
        # While the session is open nobody may see this, not even the coordinator.
        correlations = _rank_correlations(store, arguments.by, session, judge) if session.state == "closed" else {}
    result = _result(arguments, judge, tally, spending) | (
        {"rank_correlation": {name: correlation.to_json() for name, correlation in correlations.items()}}
        if correlations
        else {}
    )
    lines = [
        tr("{name}, rank correlation with the people: {estimate}", name=name, estimate=correlation.text)
        for name, correlation in correlations.items()
    ]
    print_result(arguments, result, "\n".join((_summary(arguments, judge, tally, spending), *lines)))
    if stopped:
        raise KeyboardInterrupt
    incomplete = tally.failed or tally.too_long or tally.unreadable or tally.gone or spending.ended
    return CHECK_FAILED if incomplete else DONE


def _run_judge(arguments: Options, store: Store, judge: Judge, spending: Budget) -> tuple[JudgeRun, bool]:
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
    correlations: dict[str, Estimate] = {}
    for dimension in judge.configuration.dimensions if "scores" in session.plan.kinds else ():
        correlations[dimension] = correlation_with_people(results, dimension, judge.name)
        if len(judges := judge_scores(results, dimension).raters) > 1:
            correlations[f"{dimension}, mean of {len(judges)} judges"] = correlation_with_people(results, dimension)
    return correlations


def _judge(arguments: Options, session: BlindSession) -> Judge:
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


def _endpoint_and_settings(arguments: Options) -> tuple[Endpoint, JudgeSettings]:
    """Return the server, and the settings: those of the preset, overridden by options.

    :raises CannotRun: a setting that cannot be used
    """
    from agent.policies.openai.endpoint import Endpoint
    from agent.policies.servers import RosterError
    from reviewer.blind.judge.settings import JudgeSettings, preset_settings

    try:
        server = _server(arguments)
        endpoint = Endpoint(server.url, arguments.model or server.model, server.api_key(), habits=server.habits())
        if arguments.preset is None:
            chosen = JudgeSettings(reasoning=arguments.reasoning or "server")
        else:
            chosen = preset_settings(arguments.preset, arguments.reasoning)
        largest = server.max_tokens if arguments.preset is None else None
        sampling = replace(chosen.sampling, reasoning_effort=server.reasoning_effort, extra_body=server.extra_body)
        chosen = replace(chosen, sampling=sampling)
        return endpoint, replace(chosen, **_overrides(arguments, chosen, largest))
    except (RosterError, ValueError) as error:
        raise CannotRun(str(error)) from error


def _overrides(arguments: Options, chosen: JudgeSettings, largest: int | None) -> dict[str, Any]:
    """Return the settings that were given as options.

    :param largest: tokens of an answer, if no option gives them
    """
    both: tuple[Dimension, ...] = ("coherence", "consistency")
    dimensions = both if arguments.dimension == "both" else (arguments.dimension,)
    seen = {"pictures": arguments.pictures, "measured values": arguments.text_only, "text": arguments.no_values}
    sampling: dict[str, Any] = {
        "temperature": arguments.temperature,
        "top_p": arguments.top_p,
        "max_tokens": arguments.max_tokens or largest,
        "seed": arguments.seed,
    }
    given = {
        "sees": next((name for name, is_chosen in seen.items() if is_chosen), None),
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
        "sampling": replace(chosen.sampling, **{name: value for name, value in sampling.items() if value is not None}),
        **{name: value for name, value in given.items() if value is not None},
    }


def _system(arguments: Options) -> str | None:
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


def _server(arguments: Options) -> Server:
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


def _spending(arguments: Options) -> Budget:
    """Return the budget of the run. :raises CannotRun: one price without the other, or a budget without prices"""
    from reviewer.drafting.budget import Budget, Prices

    if (arguments.price_in is None) != (arguments.price_out is None):
        raise CannotRun(tr("--price-in and --price-out: found one, expected both, each per million tokens"))
    if arguments.budget is not None and arguments.price_in is None:
        raise CannotRun(tr("--budget: found no prices, expected --price-in and --price-out, each per million tokens"))
    prices = Prices(arguments.price_in or 0.0, arguments.price_out or 0.0, arguments.price_cached)
    return Budget(prices, arguments.budget)


def _result(arguments: Options, judge: Judge, tally: JudgeRun, spending: Budget) -> dict[str, Any]:
    """Return numbers only: the answers are shown when the session is closed."""
    result = {"session": arguments.session, "judge": judge.name, "by": arguments.by, **judge.settings}
    result |= {**asdict(tally), "judged": tally.judged, "left": tally.left}
    result |= {"tokens": asdict(spending.used), "left_out": list(judge.endpoint.left_out)}
    if arguments.price_out is not None:
        result["cost"] = round(spending.cost, 6)
    return result | ({"ended": spending.ended} if spending.ended else {})


def _summary(arguments: Options, judge: Judge, tally: JudgeRun, spending: Budget) -> str:
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
    lines += [tr("not judged: {why}", why=reason) for reason in tally.failed[:SHOWN]]
    if len(tally.failed) > SHOWN:
        lines.append(tr("not judged: {n} more", n=len(tally.failed) - SHOWN))
    lines += [tr("too long, not sent: {why}", why=reason) for reason in tally.too_long[:SHOWN]]
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
