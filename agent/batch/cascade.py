"""Stages of a run: a policy decides what its rule allows, the next one sees the rest, and a person what is left.

The rule of a stage is a certificate or, without one, ``Limits``. Where a stage runs is a function (``RunStage``): here,
or on other machines.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from agent.batch.candidates import Candidate, CandidateVerdict
from agent.batch.certified import CertifiedRun
from agent.batch.journal import CompletedJobs, RunSummary
from agent.batch.run import Outcome, PolicyFor
from agent.batch.sources import Source, key_of
from agent.consensus import Limits
from agent.conversation import Stop, Usage
from agent.language import tr, trn
from agent.loop import MAX_TURNS
from agent.spectrum.record import Medium
from agent.tasks import Task

AFTER = "after"
"""Setting of the policy of a later stage: the earlier stages and their rules. They choose the spectra that it sees, so
a certificate for other spectra must not cover them."""


@dataclass(frozen=True)
class Stage:
    """One policy of a run, with its own results.

    :param number: from 1
    :param policy: its key, as ``--policy`` has it
    :param about: kind, name and settings of the policy, which must not change when the run resumes
    :param task: with the prompt of this policy
    :param certified: gives the verdicts; None: ``limits`` do
    :param samples: of each spectrum
    :param limit: of spectra; None: all
    :param threads: conversations at once; None: as many as suit the policy
    :param processes: number of processes; 0: threads; None: as many as suit the policy and the number of spectra
    """

    number: int
    policy: str
    about: Mapping[str, Any]
    policy_for: PolicyFor
    task: Task
    results: Path
    certified: CertifiedRun | None = None
    limits: Limits = field(default_factory=Limits)
    samples: int = 1
    max_turns: int = MAX_TURNS
    medium: Medium | None = None
    limit: int | None = None
    threads: int | None = None
    processes: int | None = None

    @property
    def name(self) -> str:
        return f"{self.number}-{self.policy}"

    @property
    def prompt_sha256(self) -> str:
        return hashlib.sha256(self.task.prompt.encode()).hexdigest()

    @property
    def settings(self) -> dict[str, Any]:
        """What must stay the same when the results resume, as JSON values."""
        settings: dict[str, Any] = {
            "task": self.task.key,
            "prompt_sha256": self.prompt_sha256,
            "max_turns": self.max_turns,
        }
        # Left out otherwise, so that results of earlier releases resume.
        if self.task.prompt_source != "ours":
            settings["prompt"] = self.task.prompt_source
        if self.medium is not None:
            settings["medium"] = self.medium
        return {**settings, "policy": self.about}

    @property
    def rule(self) -> dict[str, Any]:
        """What decides which spectra the next stage sees, as JSON values."""
        if self.certified is not None:
            return {"policy": self.about["name"], "certificate": self.certified.certificate.sha256}
        limits = asdict(self.limits)
        return {**self.about, "samples": self.samples, "max_turns": self.max_turns, "limits": limits}

    def marked(self, outcome: Outcome) -> Outcome:
        """Return an outcome of this stage with the earlier stages among the settings of its trace.

        A server names itself and its model in its first answer, so the trace keeps its own settings.
        """
        after, trace = self.about["settings"].get(AFTER), outcome.trajectory
        if not after or trace is None:
            return outcome
        drafter = replace(trace.drafter, settings={**trace.drafter.settings, AFTER: after})
        return replace(outcome, trajectory=replace(trace, drafter=drafter))


@dataclass
class StageRun:
    """What one stage did.

    :param summary: of this run
    :param failed: number of samples that failed and have not succeeded since
    :param rows: one per spectrum that has a trace, with the verdict of the stage's rule: for the first stage all of its
        results, for a later one those of the given sources
    """

    summary: RunSummary
    failed: int
    rows: Iterable[Candidate]


RunStage = Callable[[Stage, Sequence[Source], Stop], StageRun]
"""Inspect the sources that the results of a stage still lack, keep the traces there (each ``Stage.marked``), and give
the verdicts. If the stop is set, nothing is inspected, and the rows are those of earlier runs."""


@dataclass
class StageCounts:
    """Counts of one stage, over all runs but for ``summary``.

    :param yes: spectra that it called YES, and ``no`` that it called NO
    :param passed: spectra that it gave to the next stage
    :param left: spectra that it left to a person: those of the last stage without a verdict, and those that can no
        longer be read
    :param waiting: spectra of ``passed`` that have no row of the next stage yet
    """

    stage: Stage
    summary: RunSummary = field(default_factory=RunSummary)
    failed: int = 0
    yes: int = 0
    no: int = 0
    passed: int = 0
    left: int = 0
    waiting: int = 0

    @property
    def seen(self) -> int:
        """Number of spectra that have a row of this stage."""
        return self.yes + self.no + self.passed + self.left

    @property
    def is_complete(self) -> bool:
        """Whether every spectrum got a trace, and the rule could be applied to each."""
        certified, summary = self.stage.certified, self.summary
        is_unsure = certified is not None and (certified.suspended is not None or certified.causes["trial not made"])
        return not (summary.failed or summary.gone or is_unsure)


class Cascade:
    """The stages of a run. One stage alone is a run without a cascade.

    :param stages: in order, one or more
    :param run_stage: runs one of them
    """

    def __init__(self, stages: Sequence[Stage], run_stage: RunStage) -> None:
        self.stages = tuple(stages)
        self.counts = tuple(StageCounts(stage) for stage in stages)
        self._run_stage = run_stage

    @property
    def is_complete(self) -> bool:
        return all(counts.is_complete for counts in self.counts)

    def rows(self, sources: Sequence[Source], stop: Stop) -> Iterator[Candidate]:
        """Run the stages; yield one row per spectrum, with the name of the stage that decided it, or else of the last
        one that saw it.

        A stage that was stopped, whose policy is gone or whose certificate is suspended ends the run: later stages
        inspect nothing, and only keep what they have.
        """
        inner = Stop()
        held: dict[tuple[str, str], Candidate] = {}
        before: StageCounts | None = None
        with stop.waking(inner.set):
            for counts in self.counts:
                stage = counts.stage
                given = sources if before is None else _sources(held, before.stage)
                if before is not None and (not given or (inner.is_set and not stage.results.exists())):
                    before.waiting = len(held)
                    break
                stage_run = self._run_stage(stage, given, inner)
                counts.summary = stage_run.summary
                earlier, held = held, {}
                for row in stage_run.rows:
                    earlier.pop((row.file, row.target), None)
                    row = replace(row, stage=stage.name)
                    if self._passes(row, counts):
                        held[row.file, row.target] = row
                    else:
                        yield row
                yield from earlier.values()
                if before is not None:
                    before.waiting = len(earlier)
                counts.failed = stage_run.failed
                if stage_run.summary.gone or (stage.certified is not None and stage.certified.suspended is not None):
                    inner.set()
                before = counts
            yield from held.values()

    def _passes(self, row: Candidate, counts: StageCounts) -> bool:
        """Count a row of a stage; return whether the next stage sees its spectrum."""
        if row.verdict != "ASK":
            counts.yes += row.verdict == "YES"
            counts.no += row.verdict == "NO"
            return False
        passes = row.is_current and counts.stage.number < len(self.stages)
        counts.passed += passes
        counts.left += not passes
        return passes

    def summary(self) -> RunSummary:
        """Return the sums over the stages of this run. ``spectra`` is that of the stage with the most: usually all
        others saw only spectra of it.
        """
        total = RunSummary()
        for counts in self.counts:
            part = counts.summary
            total.inspected += part.inspected
            total.truncated += part.truncated
            total.spectra = max(total.spectra, part.spectra)
            total.failed += part.failed
            total.failures += part.failures
            total.empty += part.empty
            total.usage += part.usage
            total.seconds += part.seconds
            total.gone = total.gone or part.gone
        return total


def stages_json(cascade: Cascade) -> list[dict[str, Any]]:
    """Return the summary of each stage."""
    return [
        {
            "stage": counts.stage.name,
            "policy": counts.stage.policy,
            "results": str(counts.stage.results),
            "certificate": None if counts.stage.certified is None else counts.stage.certified.to_json(),
            "spectra": counts.seen,
            "yes": counts.yes,
            "no": counts.no,
            "passed_on": counts.passed,
            "left_to_a_person": counts.left,
            "waiting_for_the_next": counts.waiting,
            "failed": counts.failed,
            "this_run": run_json(counts.summary),
        }
        for counts in cascade.counts
    ]


def run_json(summary: RunSummary, person_seconds: float | None = None) -> dict[str, Any]:
    """Return what one run did.

    :param person_seconds: that a person takes per spectrum
    """
    own, ratio = seconds_per_spectrum(summary), person_ratio(summary, person_seconds)
    return {
        "inspected": summary.inspected,
        "spectra": summary.spectra,
        "failed": summary.failed,
        "truncated": summary.truncated,
        "without_data": summary.empty,
        "seconds": round(summary.seconds, 3),
        "spectra_per_second": round(summary.spectra / (summary.seconds or 1.0), 3),
        "seconds_per_spectrum": None if own is None else round(own, 4),
        "person_to_policy": None if ratio is None else round(ratio, 3),
        "tokens": asdict(summary.usage),
        "gone": summary.gone,
    }


def stages_text(cascade: Cascade) -> list[str]:
    """Return lines on each stage of several; none for one stage alone."""
    lines = []
    for counts in cascade.counts if len(cascade.stages) > 1 else ():
        stage, summary = counts.stage, counts.summary
        parts = [f"{counts.yes} YES", f"{counts.no} NO"]
        if stage.number < len(cascade.stages):
            parts.append(tr("{n} passed on", n=counts.passed))
        if counts.left:
            parts.append(tr("{n} left to a person", n=counts.left))
        if counts.waiting:
            parts.append(tr("{n} wait for the next stage", n=counts.waiting))
        if counts.failed:
            parts.append(tr("{n} failed", n=counts.failed))
        line = [
            trn(
                "stage {name}: {n} spectrum: {parts}",
                "stage {name}: {n} spectra: {parts}",
                counts.seen,
                name=stage.name,
                parts=tr(", ").join(parts),
            )
        ]
        if own := seconds_per_spectrum(summary):
            line.append(
                trn(
                    "this run: {n} spectrum in {seconds:.0f} s, {own:.3g} s per spectrum",
                    "this run: {n} spectra in {seconds:.0f} s, {own:.3g} s per spectrum",
                    summary.spectra,
                    seconds=summary.seconds,
                    own=own,
                )
            )
        lines.append(tr("; ").join((*line, *tokens_text(summary.usage))))
        if stage.certified is None:
            lines.append(
                tr("stage {name} has no certificate: no error bound is known for its verdicts", name=stage.name)
            )
    return lines


def seconds_per_spectrum(summary: RunSummary) -> float | None:
    """Return the time of a run divided by its spectra; None: unknown."""
    return summary.seconds / summary.spectra if summary.spectra and summary.seconds else None


def person_ratio(summary: RunSummary, person_seconds: float | None) -> float | None:
    """Return how many times longer a person takes than the run; None: unknown."""
    own = seconds_per_spectrum(summary)
    return None if own is None or person_seconds is None else person_seconds / own


def tokens_text(usage: Usage) -> list[str]:
    """Return the tokens as a clause; nothing if there were none."""
    if not usage.requests:
        return []
    if not usage.prompt:
        return [tr("tokens: unknown, the server does not report them")]
    written = {"read": usage.prompt, "written": usage.completion}
    if usage.cached:
        cached = usage.cached
        return [tr("tokens: {read:,} read ({cached:,} of them cached), {written:,} written", cached=cached, **written)]
    return [tr("tokens: {read:,} read, {written:,} written", **written)]


def people_share(counts: Mapping[CandidateVerdict, int]) -> float | None:
    """Return the share of the spectra that is left to people; None without spectra."""
    total = sum(counts.values())
    return Counter(counts)["ASK"] / total if total else None


@dataclass(frozen=True)
class KnownSpectra:
    """The completed jobs of a later stage, each of whose sources is known to be one spectrum: no file is opened to find
    out which spectra it holds.
    """

    done: CompletedJobs

    def is_done(self, key: str, sample: int) -> bool:
        return self.done.is_done(key, sample)

    def knows(self, key: str) -> bool:
        return True


def results_of_stage(out: Path, number: int, policy: str, stages: int) -> Path:
    """Return the results file of a stage: ``out`` for the last one, else a name like ``results.1-baseline.jsonl``."""
    return out if number == stages else out.with_name(f"{out.stem}.{number}-{policy}{out.suffix}")


def _sources(rows: Iterable[tuple[str, str]], stage: Stage) -> list[Source]:
    """Return the sources of spectra by file and target, those of a file together."""
    folder = stage.results.parent
    return [Source(folder / file, file, target) for file, target in sorted(rows)]


def keys_of(sources: Iterable[Source]) -> set[str]:
    """Return the names of sources in the results."""
    return {key_of(source.file, source.target) for source in sources}
