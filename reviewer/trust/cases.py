"""Cases of one policy for one task, with the labels of their spectra: from the database, or from a results file of
``spec-o3 inspect`` and a table of labels. A case is one spectrum; several traces of it are its samples.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.batch.labels import Labels
from agent.batch.sources import SpectrumFile, key_of
from agent.cli.stages import MACHINE_SETTINGS
from agent.errors import Refusal
from agent.json_lines import json_lines
from agent.language import deferred, tr
from agent.processes import ordered_map
from agent.spectrum import Spectrum
from agent.spectrum.objects import Identity, identity_of, objects
from agent.spectrum.record import Medium
from agent.tasks import Task
from agent.trajectory import Trajectory, TrajectoryError, Verdict
from agent.trust.certificate import NOT_COMPARED
from reviewer.trust.labels import SURE, Label, annotators_of, posteriors_of, stored_labels, vote_times
from reviewer.trust.showings import Showings, Shown

if TYPE_CHECKING:
    from agent.trust.features import Features
    from reviewer.store import Store
    from reviewer.store.trust_values import StoredCase

LABEL_KNOWN = deferred("the policy was given the known label")
CONTRADICTORY = deferred("labels of one spectrum contradict each other")
OTHER_RUN = deferred("made with other settings or another prompt than most")
SIMULATED = deferred("simulated (--simulated takes them)")
NO_SPECTRUM = deferred("no spectrum is stored")
DUPLICATE = deferred("the same spectrum as another file of the list")
UNREADABLE = deferred("the file can no longer be read, or has changed")


class CasesError(Refusal):
    """There are no cases to certify from: what was found, what was expected."""


@dataclass(frozen=True)
class PolicyRun:
    """What all cases have in common: who wrote the traces, with which settings and which question.

    ``settings`` leaves out those of the machine and the seeds; ``samples`` is the number of traces of each spectrum.
    """

    kind: str
    name: str
    settings: Mapping[str, Any]
    prompt_sha256: str
    samples: int
    medium: Medium | None = None


@dataclass(frozen=True)
class Case:
    """One spectrum with the samples of one policy. ``features`` is None until it is measured.

    :param items: the database's item of each sample; none from a results file
    :param source: file and target in a results file; none from the database
    :param shown: by the ordered queue, before the decision; None: not shown by it
    :param no_label: people decided without a label: the trace was rejected, or nobody can tell
    :param identity: what the file says of the object; ``object``: the smallest hash of its spectra in the list
    """

    spectrum_sha256: str
    name: str
    items: tuple[int, ...] = ()
    source: tuple[str, str] | None = None
    label: Label | None = None
    shown: Shown | None = None
    survey: str = ""
    snr: float | None = None
    features: Features | None = None
    reasons: tuple[str, ...] = ()
    no_label: bool = False
    identity: Identity = field(default_factory=Identity)
    object: str = ""

    @property
    def unit(self) -> str:
        """What counts once in a certificate: the object, by one of its spectra."""
        return self.object or self.spectrum_sha256


@dataclass(frozen=True)
class CaseList:
    """The cases of one policy for one task, in the order in which they were decided; those without a label follow.

    :param left_out: names of what is not among the cases, by reason
    :param samples: the traces of each case by its spectrum
    """

    task: str
    policy: PolicyRun
    cases: tuple[Case, ...]
    samples: Mapping[str, tuple[Trajectory, ...]] = field(repr=False, default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def no_label(self) -> int:
        """Number of spectra that people decided without a label."""
        return sum(case.no_label for case in self.cases)


def policies_of(stored: Iterable[StoredCase]) -> dict[str, int]:
    """Return the number of items of each drafter that is a policy, by its name, the most first."""
    counts = Counter(
        draft_case.drafter_name for draft_case in stored if draft_case.drafter_kind in ("baseline", "model")
    )
    return dict(counts.most_common())


def stored_cases(
    store: Store, task: Task, policy: str, batch: str | None = None, simulated: bool = False, sure: float = SURE
) -> CaseList:
    """Return the cases of a policy in the database, not measured yet.

    The text of a case is what the policy wrote, not what people made of it.

    :raises CasesError: it has no case
    """
    stored = store.trust.cases(task.key)
    votes = posteriors_of(annotators_of(store, task.key, stored), vote_times(store, task.key))
    labels, contradictory = stored_labels(stored, votes, sure)
    own = [
        draft_case for draft_case in stored if draft_case.drafter_name == policy and batch in (None, draft_case.batch)
    ]
    if not own:
        known = ", ".join(policies_of(stored)) or "none"
        raise CasesError(
            tr(
                "--policy: found no items of {policy!r:.60} for {key}; policies with items: {known}",
                policy=policy,
                key=task.key,
                known=known,
            )
        )
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    usable: dict[int, StoredCase] = {}
    for draft_case in own:
        name = f"item {draft_case.item}"
        if draft_case.spectrum_sha256 is None:
            left_out[NO_SPECTRUM].append(name)
        elif draft_case.simulated and not simulated:
            left_out[SIMULATED].append(name)
        elif draft_case.spectrum_sha256 in contradictory:
            left_out[CONTRADICTORY].append(name)
        else:
            usable[draft_case.item] = draft_case
    rows = []
    for item, draft in store.trust.trajectories(list(usable)):
        if draft.drafter.settings.get("label_told"):
            left_out[LABEL_KNOWN].append(f"item {item}")
        else:
            rows.append((f"item {item}", draft, (usable[item], draft)))
    run, kept = _of_one_run(rows, left_out)
    by_spectrum: defaultdict[str, list[tuple[StoredCase, Trajectory]]] = defaultdict(list)
    for draft_case, draft in kept:
        by_spectrum[str(draft_case.spectrum_sha256)].append((draft_case, draft))
    number = _usual_number(map(len, by_spectrum.values()))
    cases, samples = [], {}
    showings = Showings(stored, task.key, policy, batch, simulated)
    for sha256, pairs in by_spectrum.items():
        if len(pairs) < number:
            left_out[_few(number)].extend(f"item {pair.item}" for pair, _ in pairs)
            continue
        pairs = pairs[:number]
        samples[sha256] = tuple(draft for _, draft in pairs)
        own_items, name = [pair for pair, _ in pairs], samples[sha256][0].spectrum_name
        cases.append(stored_case(sha256, name, own_items, labels.get(sha256), showings))
    policy_run = replace(run, samples=number)
    return CaseList(task.key, policy_run, in_order(cases), samples, _named(left_out))


def stored_case(sha256: str, name: str, items: Sequence[StoredCase], label: Label | None, showings: Showings) -> Case:
    """Return the case of the items of one spectrum, not measured."""
    return Case(
        spectrum_sha256=sha256,
        name=name,
        items=tuple(item.item for item in items),
        label=label,
        shown=showings.of(items),
        survey=items[0].survey,
        snr=items[0].snr,
        no_label=label is None and any(item.state in ("rejected", "cannot tell") for item in items),
    )


def results_cases(results: Path, labels: Labels, task: Task, simulated: bool = False) -> CaseList:
    """Return the cases of a results file, not measured yet. A spectrum that is there twice counts once.

    :raises JournalError: the file cannot be read
    :raises CasesError: it has no case, or its task is another one
    """
    medium = _medium_of(results)
    lines: defaultdict[tuple[str, str], dict[int, Trajectory]] = defaultdict(dict)
    for line in json_lines(results):
        try:
            source = line.row["source"]
            place = (str(source["file"]), str(source["target"]))
            lines[place][int(line.row["sample"])] = Trajectory.from_json(line.row)
        except (TrajectoryError, KeyError, TypeError, ValueError) as error:
            raise CasesError(
                tr(
                    "{results}: line {number}: found no line of a run ({error})",
                    results=results,
                    number=line.number,
                    error=error,
                )
            ) from error
    other = {trace.task for traces in lines.values() for trace in traces.values()} - {task.key}
    if other:
        raise CasesError(
            tr(
                "{results}: found traces for {names}, expected {key}",
                results=results,
                names=", ".join(sorted(other)),
                key=task.key,
            )
        )
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    rows = []
    for place, traces in lines.items():
        for _, trace in sorted(traces.items()):
            if trace.simulated and not simulated:
                left_out[SIMULATED].append(key_of(*place))
            else:
                rows.append((key_of(*place), trace, (place, trace)))
    run, kept = _of_one_run(rows, left_out)
    by_place: defaultdict[tuple[str, str], list[Trajectory]] = defaultdict(list)
    for place, trace in kept:
        by_place[place].append(trace)
    number = _usual_number(map(len, by_place.values()))
    verdicts: defaultdict[str, set[Verdict]] = defaultdict(set)
    for place, own in by_place.items():
        if (verdict := labels.of(Path(place[0]).name, place[1])) is not None and own[0].spectrum_sha256:
            verdicts[own[0].spectrum_sha256].add(verdict)
    cases: dict[str, Case] = {}
    samples = {}
    for place, own in by_place.items():
        name, sha256 = key_of(*place), own[0].spectrum_sha256
        if sha256 is None:
            left_out[NO_SPECTRUM].append(name)
        elif len(verdicts[sha256]) > 1:
            left_out[CONTRADICTORY].append(name)
        elif sha256 in cases:
            left_out[DUPLICATE].append(name)
        elif len(own) < number:
            left_out[_few(number)].append(name)
        else:
            known = verdicts[sha256]
            label = Label(known == {"YES"}, "known") if known else None
            cases[sha256] = Case(sha256, own[0].spectrum_name, (), place, label)
            samples[sha256] = tuple(own[:number])
    policy_run = replace(run, samples=number, medium=medium)
    return CaseList(task.key, policy_run, in_order(cases.values()), samples, _named(left_out))


Work = tuple[tuple[Trajectory, ...], Spectrum, Task]
Read = Callable[[Case], Spectrum | None]


def reader_of(store: Store) -> Read:
    """Return a function that reads the spectrum of a case from the database."""
    return lambda case: store.spectra.get(case.spectrum_sha256)


def file_reader(folder: Path, medium: Medium | None) -> Read:
    """Return a function that reads the spectrum of a case from its file; None: not readable, or it has changed.

    :param folder: that of the results
    """
    last: list[SpectrumFile] = []

    def read(case: Case) -> Spectrum | None:
        file, target = case.source or ("", "")
        if not last or last[0].path != folder / file:
            last[:] = [SpectrumFile(folder / file, medium)]
        spectrum = last[0].read(target)
        is_same = isinstance(spectrum, Spectrum) and spectrum.sha256 == case.spectrum_sha256
        return spectrum if is_same and isinstance(spectrum, Spectrum) else None

    return read


def measured(
    listed: CaseList, task: Task, read: Read, processes: int = 1, progress: Callable[[int], None] = lambda done: None
) -> CaseList:
    """Return the list with the features of its cases and the reasons why no certificate covers some of them.

    :param progress: called with the number of cases that are done
    """
    unreadable: list[str] = []
    waiting: list[Case] = []

    # A mapping proxy cannot be sent to another process.
    sent = replace(task, references=dict(task.references))

    def work() -> Iterator[Work]:
        for case in listed.cases:
            spectrum = read(case)
            if spectrum is None:
                unreadable.append(case.name)
            else:
                waiting.append(case)
                yield listed.samples[case.spectrum_sha256], spectrum, sent

    done: list[Case] = []
    for features, reasons, survey, snr, of in ordered_map(measure, work(), processes):
        case = waiting[len(done)]
        survey = case.survey or survey
        done.append(replace(case, features=features, reasons=reasons, survey=survey, snr=snr, identity=of))
        progress(len(done))
    left_out = {**listed.left_out, **({UNREADABLE: tuple(unreadable)} if unreadable else {})}
    return replace(listed, cases=with_objects(done), left_out=left_out)


def with_objects(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return the cases with their objects, by their identities."""
    by_hash = sorted(cases, key=attrgetter("spectrum_sha256"))
    of = objects([case.identity for case in by_hash]).tolist()
    named = {case.spectrum_sha256: by_hash[first].spectrum_sha256 for case, first in zip(by_hash, of, strict=True)}
    return tuple(replace(case, object=named[case.spectrum_sha256]) for case in cases)


def measure(work: Work) -> tuple[Features, tuple[str, ...], str, float | None, Identity]:
    """Return the features of a case, the reasons why no certificate covers it, its survey, its S/N per pixel, and what
    its file says of the object.
    """
    from agent.trust.features import data_reasons, features_of

    trajectories, spectrum, task = work
    features = features_of(trajectories, spectrum, task)
    snr = None if features.log_snr is None else 10**features.log_snr
    identity = identity_of(spectrum.name, spectrum.ids, spectrum.ra, spectrum.dec)
    return features, data_reasons(trajectories, spectrum, task), spectrum.survey, snr, identity


def _of_one_run(
    rows: Sequence[tuple[str, Trajectory, Any]], left_out: defaultdict[str, list[str]]
) -> tuple[PolicyRun, list[Any]]:
    """Return the settings that most traces have, and the rows that have them. :raises CasesError: there are none"""
    if not rows:
        why = "; ".join(f"{len(names)} {tr(reason)}" for reason, names in left_out.items())
        raise CasesError(tr("found no case to certify from{value}", value=": " + why if why else ""))
    keys = [_run_key(trace) for _, trace, _ in rows]
    usual, _ = Counter(keys).most_common(1)[0]
    kept = []
    for (name, _, row), key in zip(rows, keys, strict=True):
        if key == usual:
            kept.append(row)
        else:
            left_out[OTHER_RUN].append(name)
    first = next(trace for (_, trace, _), key in zip(rows, keys, strict=True) if key == usual)
    return run_of(first), kept


def run_of(trace: Trajectory, samples: int = 1) -> PolicyRun:
    """Return the policy run that a trace belongs to."""
    kind, name, settings, prompt = json.loads(_run_key(trace))
    return PolicyRun(kind, name, settings, prompt, samples)


def _run_key(trace: Trajectory) -> str:
    left_out = (*MACHINE_SETTINGS, *NOT_COMPARED)
    settings = {key: value for key, value in trace.drafter.settings.items() if key not in left_out}
    prompt = hashlib.sha256(trace.prompt.encode()).hexdigest()
    return json.dumps([trace.drafter.kind, trace.drafter.name, settings, prompt], sort_keys=True, default=str)


def _usual_number(numbers: Iterable[int]) -> int:
    return Counter(numbers).most_common(1)[0][0]


def _few(number: int) -> str:
    return deferred("fewer than {n} samples", n=number)


def in_order(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases in the order in which they were decided, then those without a label."""

    def place(case: Case) -> tuple[bool, float]:
        at = None if case.label is None else case.label.at
        return case.label is None, 0.0 if at is None else at.timestamp()

    return tuple(sorted(cases, key=place))


def _named(left_out: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {reason: tuple(names) for reason, names in left_out.items()}


def _medium_of(results: Path) -> Medium | None:
    """Return the medium that was given for the run; None: none was."""
    try:
        settings = json.loads(results.with_name(results.name + ".run.json").read_text(encoding="utf-8"))
        return "air" if settings["medium"] == "air" else "vacuum"
    except (OSError, ValueError, KeyError, TypeError):
        return None
