"""The plan of a blind session: what is scored, by whom, and how it is sampled. Read from JSON or TOML with checks that
name the field, or made from the ``session.json`` of an earlier report. Also the session that comes of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, Protocol, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.settings_file import Flag, Mismatch, Number, Problem, Text, Whole, validate
from reviewer.rules.campaign import STATES, State

Mode = Literal["scores", "pairs", "both"]
MODES: tuple[Mode, ...] = get_args(Mode)
Kind = Literal["scores", "pair"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Dimension = Literal["coherence", "consistency"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
Preference = Literal["left", "right", "equal", "both bad"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)
GiveawayRule = Literal["flag", "leave out"]
GIVEAWAY_RULES: tuple[GiveawayRule, ...] = get_args(GiveawayRule)
Design = Literal["same spectra", "separate"]
DESIGNS: tuple[Design, ...] = get_args(Design)
Stratum = Literal["survey", "label"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)
ExposureRule = Literal["declare", "bar"]
EXPOSURE_RULES: tuple[ExposureRule, ...] = get_args(ExposureRule)
TextVersion = Literal["drafted", "approved", "both"]
TEXT_VERSIONS: tuple[TextVersion, ...] = get_args(TextVersion)
"""Which text of an item is shown: the first one, as the machine wrote it; the one that people approved; or both."""
UNRECORDED: Literal["current"] = "current"
"""The version in stored plans from before versions were told apart: the text of that day, by anyone."""
TextKind = Literal["drafted", "revised", "unchanged", "current", "current, edited"]
"""What is known of a text: as drafted; approved after people revised it; approved as it was drafted; and of a session
from before versions were told apart, whether a person had edited it."""
Lack = Literal["edited before import", "not approved", "unchanged"]
"""Why an item has no text of the plan's version."""

SCORES = range(6)
"""0 to 5, with the two published anchors: 0 = complete hallucination and 5 = fully correct."""

CANNOT_TELL: Literal["cannot tell"] = "cannot tell"
Score = int | Literal["cannot tell"]
"""A scorer's answer about one dimension."""

SESSION_FORMAT = "spec-o3 blind session 1"

_CONFIG = ConfigDict(extra="forbid")
_LARGEST = 2**63 - 1  # the largest number that the database can hold


class PlanError(Refusal, ValueError):
    """A plan that cannot be carried out: which field, what was found, what was expected."""

    kind = "plan"

    def __init__(self, field: str, actual: str, expected: str) -> None:
        super().__init__(
            tr("{field}: found {found}, expected {expected}", field=field, found=actual, expected=expected)
        )
        self.field = field
        self.actual = actual
        self.expected = expected


def _whole(low: int, high: int = _LARGEST) -> Any:
    """Return the constraint and the description of a whole number."""
    if high == _LARGEST:
        words = deferred("a whole number, {low} or more", low=low)
    else:
        words = deferred("a whole number, {low} to {high}", low=low, high=high)
    return Field(ge=low, le=high, description=words)


def _some_of(names: Iterable[str]) -> str:
    return deferred("some of {names}", names=", ".join(names))


def _one_of(names: Iterable[str]) -> str:
    return deferred("one of {names}", names=", ".join(names))


def _or(default: object) -> BeforeValidator:
    """Read null as the default: a form sends null for an empty field."""
    return BeforeValidator(lambda value: default if value is None else value)


_Texts = Annotated[tuple[Text, ...], Field(description=deferred("a list of texts"))]
_Initials = Annotated[
    tuple[Annotated[Text, AfterValidator(str.upper)], ...], Field(description=deferred("a list of texts"))
]
_Item = Annotated[Whole, _whole(1)]
_OptionalItem = Annotated[Whole | None, _whole(1)]
_Items = Annotated[tuple[_Item, ...], Field(description=deferred("a list of item numbers"))]
_Score = Annotated[Whole | None, _whole(0, SCORES[-1])]
_OptionalText = Annotated[Text | None, Field(description=deferred("a text that is not empty"))]
_OptionalNumber = Annotated[Number | None, Field(description=deferred("a number"))]
_OptionalFlag = Annotated[Flag | None, Field(description=deferred("true or false"))]
_OptionalShare = Annotated[Number | None, Field(ge=0, le=1, description=deferred("a share, 0 to 1"))]
_OptionalMargin = Annotated[
    Number | None, Field(gt=0, description=deferred("a number greater than 0, in points of the scale"))
]


@checked_dataclass(frozen=True, config=_CONFIG)
class Filter:
    """Which items may be sampled: the fields of ``QueueFilter`` that apply. Default: any.

    :param listed: number of a view that is a list of items
    :param listed_items: how many items it had when the session was made; the store sets it
    """

    states: Annotated[tuple[State, ...], Field(description=_some_of(STATES))] = ()
    survey: _OptionalText = None
    snr_min: _OptionalNumber = None
    snr_max: _OptionalNumber = None
    batch: _OptionalText = None
    disagreement: _OptionalFlag = None
    simulated: _OptionalFlag = None
    listed: _OptionalItem = None
    listed_items: _OptionalItem = None


@checked_dataclass(frozen=True, config=_CONFIG)
class Gold:
    """An item whose scores are known: the expected score of each dimension (None: none is expected), and by how much a
    scorer may differ.
    """

    item: _Item
    coherence: _Score = None
    consistency: _Score = None
    tolerance: Annotated[Whole, _or(1), _whole(0, SCORES[-1])] = 1

    def __post_init__(self) -> None:
        if self.coherence is None and self.consistency is None:
            raise Mismatch(tr("neither coherence nor consistency"), tr("at least one of them"))

    def expected(self, dimension: Dimension) -> int | None:
        return self.coherence if dimension == "coherence" else self.consistency


@checked_dataclass(frozen=True, config=_CONFIG)
class AnalysisPlan:
    """What will be analysed and how, stated before the first answer. It is frozen and hashed when the session opens.

    The primary comparison is the difference of two sources in one dimension, the first less the second. A session of
    pairs alone has the preference between the two as its primary comparison.

    :param first: the first source of the primary comparison; with ``second`` None: the first two sources
    :param margin: differences smaller than this are of no practical importance; with it the report also tests
        equivalence (two one-sided tests: the 90 % interval lies within plus and minus the margin)
    :param gold_within: a scorer of whose gold scores a smaller share is within the tolerance is excluded
    :param repeats_within_1: a scorer of whose repeated scores a smaller share is at most 1 apart is excluded
    :param without_revealing: traces that reveal their author are excluded from the primary analysis
    :param stopping: when the session will be closed, in words
    """

    dimension: Annotated[Dimension, _or("consistency"), Field(description=f"one of {', '.join(DIMENSIONS)}")] = (
        "consistency"
    )
    first: _OptionalText = None
    second: _OptionalText = None
    margin: _OptionalMargin = None
    gold_within: _OptionalShare = None
    repeats_within_1: _OptionalShare = None
    without_revealing: Annotated[Flag, _or(False), Field(description=deferred("true or false"))] = False
    stopping: Annotated[str, _or("when every question is answered"), Field(max_length=500)] = (
        "when every question is answered"
    )

    def __post_init__(self) -> None:
        if (self.first is None) != (self.second is None) or (self.first is not None and self.first == self.second):
            raise Mismatch(tr("one source, or one twice"), tr("two different sources, or neither"), "first")


@checked_dataclass(frozen=True, config=_CONFIG)
class Plan:
    """A coordinator's plan: everything except the items that determines the sample.

    :param sources: names of drafters, each an arm of the comparison; empty: every drafter among the items
    :param tasks: keys of tasks; empty: every task among the items
    :param items: exactly these and no others; then neither ``number`` nor a filter is given
    :param design: "same spectra": spectra are sampled, and every source's trace of each is taken; "separate": the
        traces of each source are sampled for themselves, e.g. rows that have pictures and no spectrum
    :param strata: ``number`` holds for each task, and also for each survey or label if they are named here
    :param number: of spectra per stratum (of traces per source and stratum, if the design is "separate"); None: as
        many as there are, the same number for each source
    :param each: number of scorers per spectrum (or per trace); a spectrum's traces go to the same scorers
    :param repeats: how many of a scorer's items, and of their pairs, are shown to them again later
    :param giveaways: whether a text that reveals its author is left out, or included and flagged
    :param training: items shown first to every scorer, in this order; they are in no result
    :param earlier: whether a scorer who saw a trace in an earlier session is barred from it, or only declared
    :param analysis: what will be analysed
    :param version: "drafted": the first text of an item, exactly as its drafter wrote it; "approved": the text that
        people approved; "both": the draft and the approved text of each item, as two sources. Only stored plans of
        earlier releases have "current"
    """

    name: Annotated[Text, Field(description="a text that is not empty")]
    scorers: _Initials
    mode: Annotated[Mode, Field(description=f"one of {', '.join(MODES)}")] = "scores"
    sources: _Texts = ()
    tasks: _Texts = ()
    filter: Filter = field(default_factory=Filter)
    items: _Items = ()
    design: Annotated[Design, Field(description=_one_of(DESIGNS))] = "same spectra"
    strata: Annotated[tuple[Stratum, ...], Field(description=_some_of(STRATA))] = ()
    number: Annotated[Whole | None, _whole(1)] = None
    each: Annotated[Whole, _or(2), _whole(1)] = 2
    repeats: Annotated[Whole, _or(0), _whole(0)] = 0
    gold: tuple[Gold, ...] = ()
    seed: Annotated[Whole, _or(0), _whole(0)] = 0
    giveaways: Annotated[GiveawayRule, Field(description=f"one of {', '.join(GIVEAWAY_RULES)}")] = "flag"
    training: _Items = ()
    earlier: Annotated[ExposureRule, Field(description=f"one of {', '.join(EXPOSURE_RULES)}")] = "declare"
    analysis: AnalysisPlan = field(default_factory=AnalysisPlan)
    version: Annotated[Literal[TextVersion, "current"], _or("drafted"), Field(description=_one_of(TEXT_VERSIONS))] = (
        "drafted"
    )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of questions, in the order in which scorers get them."""
        return KINDS if self.mode == "both" else ("pair",) if self.mode == "pairs" else ("scores",)

    @property
    def texts(self) -> tuple[TextKind, ...]:
        """The kinds of texts that are shown, in the order in which a drafter's sources are compared."""
        of: dict[str, tuple[TextKind, ...]] = {
            "drafted": ("drafted",),
            "approved": ("revised", "unchanged"),
            "both": ("revised", "drafted"),
            UNRECORDED: ("current", "current, edited"),
        }
        return of[self.version]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; ``from_stored`` gives back an equal value. Without a list, or from before versions were
        told apart, it is that of earlier releases, whose SHA-256 was logged."""
        plan = asdict(self)
        if self.version == UNRECORDED:
            del plan["version"]
        if self.filter.listed is None:
            del plan["filter"]["listed"], plan["filter"]["listed_items"]
        return plan

    @classmethod
    def from_stored(cls, data: Mapping[str, Any]) -> Plan:
        """Read a plan from the database; those from before there were designs sampled each source for itself, and those
        from before versions were told apart showed the text of that day."""
        return cls.from_json({"design": "separate", "version": UNRECORDED, **data})

    @classmethod
    def from_json(cls, data: object) -> Plan:
        """Read the JSON form, or a TOML file of the same shape; missing fields have their defaults.

        :raises PlanError: naming the field, what was found and what was expected
        """
        plan = validate(cls, data, "plan", _plan_error)
        plan.check()
        return plan

    def check(self) -> None:
        """Check that the fields fit each other. :raises PlanError: naming the one that does not"""
        for name in ("scorers", "sources", "tasks", "items", "strata", "training"):
            given: tuple[object, ...] = getattr(self, name)
            twice = sorted({str(source) for source in given if given.count(source) > 1})
            if twice:
                raise PlanError(name, tr("{names} twice", names=", ".join(twice)), tr("each once"))
        if not self.scorers:
            raise PlanError("scorers", tr("none"), tr("the initials of at least one"))
        if self.each > len(self.scorers):
            problem = tr("{each} scorers per item, with {scorers} scorers", each=self.each, scorers=len(self.scorers))
            raise PlanError("each", problem, tr("1 to {most}", most=len(self.scorers)))
        if self.items and (self.number is not None or self.filter != Filter()):
            raise PlanError("items", tr("items and a number or a filter"), tr("either the items or the others"))
        named = {self.analysis.first, self.analysis.second} - {None}
        sources = dict.fromkeys(source_name(drafter, text) for drafter in self.sources for text in self.texts)
        if self.sources and not named <= set(sources):
            problem = ", ".join(sorted(str(source) for source in named.difference(sources)))
            raise PlanError("analysis", problem, tr("two of the sources {names}", names=", ".join(sources)))
        if self.mode != "scores" and len(self.sources) == 1 and self.version != "both":
            raise PlanError("sources", tr("one source"), tr("two or more to compare in pairs, or none for all of them"))
        states = self.filter.states
        if self.version in ("approved", "both") and states and "approved" not in states:
            raise PlanError(
                "filter.states",
                ", ".join(map(str, states)),
                tr("“approved” among them, as approved text is shown, or no state"),
            )
        self._check_gold()

    def _check_gold(self) -> None:
        gold_items = [gold.item for gold in self.gold]
        if gold_items and self.mode == "pairs":
            raise PlanError(
                "gold", tr("gold items in a session of pairs alone"), tr("a session with scores, or no gold items")
            )
        if len(set(gold_items)) < len(gold_items):
            raise PlanError("gold", tr("an item twice"), tr("each once"))
        both = sorted(set(gold_items) & set(self.items))
        if both:
            problem = tr("{items} among the gold items", items=", ".join(map(str, both)))
            raise PlanError("items", problem, tr("each item either scored or gold"))
        trained = sorted(set(self.training) & {*self.items, *gold_items})
        if trained:
            raise PlanError("training", ", ".join(map(str, trained)), tr("items that are neither scored nor gold"))
        if self.training and self.mode == "pairs":
            raise PlanError(
                "training", tr("training items in a session of pairs alone"), tr("a session with scores, or none")
            )


ANALYSIS_VERSION = "1"
"""Changes when the report makes the primary analysis in another way."""


class _WithJSON(Protocol):
    def to_json(self) -> dict[str, Any]: ...


def analysis_sha256(plan: Plan, rubric: _WithJSON) -> str:
    """Return the SHA-256 of plan, rubric and analysis version as canonical JSON: sorted keys, no spaces, UTF-8.

    It is logged when the session opens, and printed in the report.
    """
    frozen = {"plan": plan.to_json(), "rubric": rubric.to_json(), "version": ANALYSIS_VERSION}
    text = json.dumps(frozen, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plan_error(problem: Problem) -> PlanError:
    field = "plan" if problem.field == "file" else problem.field
    return PlanError(field, tr(problem.actual), tr(problem.expected))


def source_name(drafter: str, text: TextKind) -> str:
    """Return the name of a source: texts of different kinds never have one name. It is in stored plans and in files, so
    it is not translated."""
    if text == "revised":
        return f"{drafter}, revised by people"
    return f"{drafter}, approved unchanged" if text == "unchanged" else drafter


@dataclass(frozen=True)
class Candidate:
    """One trajectory that could be sampled, at the version that would be shown.

    :param source: the name of its source: the drafter's, and what people did with the text
    :param spectrum: the SHA-256 of the spectrum; None for rows with pictures only, which form no pairs
    :param barred: who drafted or wrote it, or judged it in review: they do not score it
    :param gives_away: its text reveals its author
    :param exposed: scorers who were shown it, or another version of it, in an earlier session that was opened
    :param drafter: the drafter's name; "" stands for ``source``
    :param by_person: the drafter is a person
    :param text: what kind of text it is
    :param approved: the item is approved
    :param lacks: why the item has no text of the plan's version: then it is not sampled; None if it has one
    """

    item: int
    version: int
    source: str
    task: str
    spectrum: str | None
    barred: frozenset[str] = frozenset()
    gives_away: bool = False
    survey: str = ""
    label: str | None = None
    exposed: frozenset[str] = frozenset()
    drafter: str = ""
    by_person: bool = False
    text: TextKind = "drafted"
    approved: bool = False
    lacks: Lack | None = None

    def __post_init__(self) -> None:
        if not self.drafter:
            object.__setattr__(self, "drafter", self.source)


@dataclass(frozen=True)
class Assignment:
    """One question to one scorer.

    :param token: random, and the only name by which the scorer's browser knows it
    :param place: in the scorer's own order, from 1
    :param shown: the one trajectory to score; or the left and the right one of a pair
    :param repeat_of: the token of its first showing to the same scorer
    :param gold: its scores are known; it is in no result but its own
    :param training: shown before the first one that counts; in no result
    """

    token: str
    scorer: str
    kind: Kind
    place: int
    shown: tuple[Candidate, ...]
    repeat_of: str | None = None
    gold: bool = False
    training: bool = False


@dataclass(frozen=True)
class SampledSession:
    """A plan with its assignments.

    :param assignments: by scorer in the plan's order, then by place
    :param notes: for the coordinator: what was left out, and why
    """

    plan: Plan
    assignments: tuple[Assignment, ...]
    notes: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every trajectory that is shown to a scorer, once, by item."""
        shown = {candidate.version: candidate for assignment in self.assignments for candidate in assignment.shown}
        return tuple(
            sorted(shown.values(), key=lambda shown_candidate: (shown_candidate.item, shown_candidate.version))
        )

    def of(self, scorer: str) -> tuple[Assignment, ...]:
        """Return the assignments of one scorer, in their order."""
        return tuple(assignment for assignment in self.assignments if assignment.scorer == scorer)
