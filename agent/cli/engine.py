"""Options and the function of a stage for ``--engine ray``: the same inspection on many machines."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agent.cli.command import CannotRun, ProgressBar, progress
from agent.cli.policy_options import arguments_of_stages
from agent.cli.selection import Skipped
from agent.language import tr

if TYPE_CHECKING:
    from agent.batch.candidates import Candidate
    from agent.batch.cascade import Stage, StageRun
    from agent.batch.catalogue import Chunk
    from agent.batch.journal import RunSummary
    from agent.batch.on_ray import Work
    from agent.batch.shards import Shards
    from agent.batch.sources import Source
    from agent.cli.inspect_options import InspectOptions
    from agent.conversation import Stop


def check_engine_options(arguments: InspectOptions) -> None:
    """:raises CannotRun: an option has no effect, or cannot be used with the others"""
    if arguments.engine == "local":
        for name in ("address", "workers"):
            if getattr(arguments, name) is not None:
                raise CannotRun(
                    tr("--{name} has no effect without --engine ray; leave it out, or choose the engine", name=name)
                )
        return
    for stage in arguments_of_stages(arguments):
        if stage.processes is not None:
            raise CannotRun(tr("--processes has no effect with --engine ray; use --workers"))
        if stage.key == "local":
            raise CannotRun(
                tr("policy local: found a model in this process, expected one behind a server (spec-o3 serve)")
            )
    if arguments.out.is_file():
        raise CannotRun(
            tr("{out}: found a file; --engine ray keeps results in a folder: choose another name", out=arguments.out)
        )


def check_stages(arguments: InspectOptions, stages: Sequence[Stage]) -> None:
    """:raises CannotRun: a stage cannot run on the chosen engine. Said before the first one has worked for hours"""
    for stage in stages if arguments.engine == "ray" else ():
        if stage.certified is not None and stage.certified.certificate.requirements.trial:
            raise CannotRun(
                tr(
                    "--engine ray: found a certificate with the condition --require-trial ({path}); use --engine local",
                    path=stage.certified.path,
                )
            )


@dataclass
class RayEngine:
    """Runs the stages of a run with Ray.

    :param skipped: gets the files of folders that hold no spectrum
    """

    arguments: InspectOptions
    skipped: list[Skipped]
    _has_read_stdin: bool = False

    def __call__(self, stage: Stage, sources: Sequence[Source], stop: Stop) -> StageRun:
        """Run a stage: a ``RunStage``.

        :param sources: of a later stage; the first one has those of the command line
        :raises CannotRun: Ray cannot be used
        """
        from agent.batch.cascade import StageRun, keys_of
        from agent.batch.on_ray import Work
        from agent.batch.rows import RowMaker, rows_of
        from agent.batch.run import Plan
        from agent.batch.shards import Shards

        certified = stage.certified
        # A mapping proxy cannot be sent to another process.
        sent = replace(stage, task=replace(stage.task, references=dict(stage.task.references)), certified=None)
        make_row = RowMaker(sent.task, sent.limits, None if certified is None else certified.certificate)
        plan = Plan(sent.task, sent.policy_for, sent.max_turns, medium=sent.medium)
        work = Work(plan, sent.results.resolve().parent, sent.marked, make_row)
        results = Shards(sent.results, sent.settings, sent.samples)
        with closing_on_error(results):
            summary = self._inspected(sent, sources, results, work, stop)

        # The results of a later stage may hold spectra that an earlier one now decides.
        given = keys_of(sources) if stage.number > 1 else None

        def rows() -> Iterator[Candidate]:
            with results:
                candidates: Iterable[Candidate] = progress(
                    rows_of(results, make_row, sent.medium, certified, given), None, "counting"
                )
                yield from candidates if certified is None else certified.tested(list(candidates))

        return StageRun(summary, results.failed, rows())

    def _inspected(
        self, stage: Stage, sources: Sequence[Source], results: Shards, work: Work, stop: Stop
    ) -> RunSummary:
        from agent.batch.journal import RunSummary
        from agent.batch.on_ray import RayRun
        from agent.batch.plan import SurveyPlan, make_plan
        from agent.batch.ray_cluster import Workers, ray_cluster
        from agent.batch.run import THREADS

        if stop.is_set:
            return RunSummary()
        computes = stage.policy in ("baseline", "nano", "specialist")
        conversations = 1 if computes else stage.threads or THREADS
        workers = Workers(self.arguments.address, self.arguments.workers, conversations)
        with ray_cluster(workers) as connected, ProgressBar(None, tr("inspecting")) as bar:
            run = RayRun(results, work, connected, stop, bar.at)

            def planned() -> SurveyPlan:
                chunks = self._chunks(stage, sources, results)
                run_plan = make_plan(chunks, results, stage.samples, stage.limit, run.tried.contains)
                if not run_plan.spectra and not len(run.tried):
                    raise CannotRun(
                        tr(
                            "{names:.200}: found no file that looks like a spectrum",
                            names=" ".join(self.arguments.paths),
                        )
                    )
                bar.expect(run_plan.samples)
                return run_plan

            return run.run(planned)

    def _chunks(self, stage: Stage, sources: Sequence[Source], results: Shards) -> Iterator[Chunk]:
        """Yield the sources of a stage."""
        from agent.batch.catalogue import Chunk, chunks_from
        from agent.spectrum.readers.targets import Selection

        if stage.number > 1:
            yield Chunk([source.file for source in sources], [source.target for source in sources])
            return
        arguments = self.arguments
        selection = str(Selection(tuple(arguments.target), arguments.spectype, arguments.zwarn))
        self.skipped.clear()

        def on_skip(path: Path, reason: str) -> None:
            self.skipped.append({"file": str(path), "reason": reason})

        yield from chunks_from(
            self.arguments.paths, results.folder.resolve().parent, selection, self._stdin(results), on_skip
        )

    def _stdin(self, results: Shards) -> TextIO:
        """Return the list on standard input, kept in a file because a run may need it several times."""
        path = results.folder / "stdin.txt"
        if not self._has_read_stdin and "-" in self.arguments.paths:
            with path.open("w", encoding="utf-8") as copy:
                shutil.copyfileobj(sys.stdin, copy)
            self._has_read_stdin = True
        return path.open(encoding="utf-8") if path.exists() else sys.stdin


@contextmanager
def closing_on_error(results: Shards) -> Iterator[None]:
    """Close the results if the block ends with an error."""
    try:
        yield
    except BaseException:
        results.close()
        raise
