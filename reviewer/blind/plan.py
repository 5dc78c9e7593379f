"""The plan of a blind session: what is scored, by whom, chosen how. Plain frozen values, read from JSON or TOML with
checks that name the field; also a plan made from the ``session.json`` of an earlier report.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from agent.text import OneLine
from reviewer.rules.campaign import STATES

_Word = TypeVar("_Word", bound=str)


class PlanError(OneLine, ValueError):
    """A plan that cannot be carried out: which field, what was found, what was wanted."""

    def __init__(self, field: str, found: str, wanted: str) -> None:
        super().__init__(f"{field}: found {found}, wanted {wanted}")
        self.field = field
        self.found = found
        self.wanted = wanted


class Fields:
    """The fields of one table. :raises PlanError: it is none, or has a field that ``record`` has not"""

    def __init__(self, data: object, record: type[Any], where: str = "") -> None:
        if not isinstance(data, Mapping):
            raise PlanError(where.rstrip(".") or "plan", _shown(data), "a table of fields")
        known = [field.name for field in fields_of(record)]
        unknown = [str(name) for name in data if name not in known]
        if unknown:
            raise PlanError(f"{where}{unknown[0]}", "a field that there is not", f"one of {', '.join(known)}")
        self._data = data
        self._where = where

    def word(self, name: str) -> str:
        found = self.word_or_none(name)
        if found is None:
            raise PlanError(self._where + name, "nothing", "a text that is not empty")
        return found

    def word_or_none(self, name: str) -> str | None:
        found = self._data.get(name)
        if found is None:
            return None
        if not isinstance(found, str) or not found.strip():
            raise self._refusal(name, found, "a text that is not empty")
        return found.strip()

    def words(self, name: str) -> tuple[str, ...]:
        found = self._list(name)
        if not all(isinstance(one, str) and one.strip() for one in found):
            raise self._refusal(name, found, "a list of texts")
        return tuple(str(one).strip() for one in found)

    def one_of(self, name: str, choices: Sequence[_Word], default: _Word) -> _Word:
        found = self._data.get(name, default)
        for choice in choices:
            if found == choice:
                return choice
        raise self._refusal(name, found, f"one of {', '.join(choices)}")

    def whole(self, name: str, low: int, high: int | None = None, default: int | None = None) -> int:
        found = self.whole_or_none(name, low, high)
        if found is None:
            found = default
        if found is None:
            raise PlanError(self._where + name, "nothing", _range(low, high))
        return found

    def whole_or_none(self, name: str, low: int, high: int | None = None) -> int | None:
        found = self._data.get(name)
        if found is None:
            return None
        if not _is_whole(found) or found < low or (high is not None and found > high):
            raise self._refusal(name, found, _range(low, high))
        return int(found)

    def wholes(self, name: str) -> tuple[int, ...]:
        found = self._list(name)
        if not all(_is_whole(one) and one > 0 for one in found):
            raise self._refusal(name, found, "a list of items' numbers")
        return tuple(int(one) for one in found)

    def number_or_none(self, name: str) -> float | None:
        found = self._data.get(name)
        if found is None:
            return None
        if not _is_finite(found):
            raise self._refusal(name, found, "a number")
        return float(found)

    def flag_or_none(self, name: str) -> bool | None:
        found = self._data.get(name)
        if found is not None and not isinstance(found, bool):
            raise self._refusal(name, found, "true or false")
        return found

    def table(self, name: str) -> Mapping[str, Any]:
        found = self._data.get(name, {})
        if not isinstance(found, Mapping):
            raise self._refusal(name, found, "a table of fields")
        return found

    def tables(self, name: str) -> list[Any]:
        return list(self._list(name))

    def _list(self, name: str) -> Sequence[Any]:
        found = self._data.get(name, ())
        if not isinstance(found, list | tuple):
            raise self._refusal(name, found, "a list")
        return found

    def _refusal(self, name: str, found: object, wanted: str) -> PlanError:
        return PlanError(self._where + name, _shown(found), wanted)


def _is_whole(found: object) -> bool:
    """Whether it is a whole number of a size that the database can hold."""
    return isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**63


def _is_finite(found: object) -> bool:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    return abs(found) <= sys.float_info.max


def _range(low: int, high: int | None) -> str:
    return f"a whole number, {low} or more" if high is None else f"a whole number, {low} to {high}"


def _shown(found: object) -> str:
    return f"{found!r:.60}"


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

SCORES = range(6)
"""0 to 5: with the two anchors that the paper gives, 0 = complete hallucination and 5 = fully correct."""

CANNOT_TELL: Literal["cannot tell"] = "cannot tell"
Score = int | Literal["cannot tell"]
"""What a scorer says about one dimension."""


@dataclass(frozen=True)
class Filter:
    """Which items may be drawn; those fields of ``QueueFilter`` that make sense here. Default: any."""

    states: tuple[str, ...] = ()
    survey: str | None = None
    snr_min: float | None = None
    snr_max: float | None = None
    batch: str | None = None
    disagreement: bool | None = None
    simulated: bool | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Filter:
        """:raises PlanError: naming the field"""
        fields = Fields(data, cls, "filter.")
        states = fields.words("states")
        unknown = [state for state in states if state not in STATES]
        if unknown:
            raise PlanError("filter.states", repr(unknown[0]), f"some of {', '.join(STATES)}")
        return cls(
            states=states,
            survey=fields.word_or_none("survey"),
            snr_min=fields.number_or_none("snr_min"),
            snr_max=fields.number_or_none("snr_max"),
            batch=fields.word_or_none("batch"),
            disagreement=fields.flag_or_none("disagreement"),
            simulated=fields.flag_or_none("simulated"),
        )


@dataclass(frozen=True)
class Gold:
    """An item whose scores are known: the expected score of each dimension (None: none is expected), and by
    how much a scorer may differ."""

    item: int
    coherence: int | None = None
    consistency: int | None = None
    tolerance: int = 1

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "gold.") -> Gold:
        """:raises PlanError: naming the field"""
        fields = Fields(data, cls, where)
        gold = cls(
            item=fields.whole("item", 1),
            coherence=fields.whole_or_none("coherence", 0, SCORES[-1]),
            consistency=fields.whole_or_none("consistency", 0, SCORES[-1]),
            tolerance=fields.whole("tolerance", 0, SCORES[-1], default=1),
        )
        if gold.coherence is None and gold.consistency is None:
            raise PlanError(f"{where}coherence", "neither coherence nor consistency", "at least one of them")
        return gold

    def expected(self, dimension: Dimension) -> int | None:
        return self.coherence if dimension == "coherence" else self.consistency


@dataclass(frozen=True)
class Plan:
    """What a coordinator asks for. Everything that the drawing depends on besides the items themselves.

    :param sources: names of drafters, each an arm of the comparison; empty: every drafter among the items
    :param tasks: keys of tasks; empty: every task among the items
    :param items: exactly these and no others; then neither ``number`` nor a filter is given
    :param number: of items per source and task, and of pairs per two sources and task; None: the same number
        of each within a task, as many as there are
    :param each: how many scorers see an item
    :param repeats: how many of a scorer's items, and of their pairs, come back to them later
    :param giveaways: whether a text that tells who wrote it is left out of the draw, or drawn and flagged
    """

    name: str
    scorers: tuple[str, ...]
    mode: Mode = "scores"
    sources: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    filter: Filter = field(default_factory=Filter)
    items: tuple[int, ...] = ()
    number: int | None = None
    each: int = 2
    repeats: int = 0
    gold: tuple[Gold, ...] = ()
    seed: int = 1
    giveaways: GiveawayRule = "flag"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What scorers are asked for, in the order in which they are asked."""
        return KINDS if self.mode == "both" else ("pair",) if self.mode == "pairs" else ("scores",)

    def to_json(self) -> dict[str, Any]:
        """The JSON form; ``from_json`` gives back an equal value."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """Read the JSON form, or a TOML file of the same shape; what is left out has its default.

        :raises PlanError: naming the field, what was found and what was wanted
        """
        fields = Fields(data, cls)
        gold = enumerate(fields.tables("gold"), start=1)
        plan = cls(
            name=fields.word("name"),
            scorers=tuple(scorer.upper() for scorer in fields.words("scorers")),
            mode=fields.one_of("mode", MODES, "scores"),
            sources=fields.words("sources"),
            tasks=fields.words("tasks"),
            filter=Filter.from_json(fields.table("filter")),
            items=fields.wholes("items"),
            number=fields.whole_or_none("number", 1),
            each=fields.whole("each", 1, default=2),
            repeats=fields.whole("repeats", 0, default=0),
            gold=tuple(Gold.from_json(one, f"gold[{n}].") for n, one in gold),
            seed=fields.whole("seed", 0, default=1),
            giveaways=fields.one_of("giveaways", GIVEAWAY_RULES, "flag"),
        )
        plan.check()
        return plan

    def check(self) -> None:
        """Whether the fields go together. :raises PlanError: naming the one that does not"""
        for name in ("scorers", "sources", "tasks", "items"):
            given: tuple[object, ...] = getattr(self, name)
            twice = sorted({str(one) for one in given if given.count(one) > 1})
            if twice:
                raise PlanError(name, f"{', '.join(twice)} twice", "each once")
        if not self.scorers:
            raise PlanError("scorers", "none", "the initials of at least one")
        if self.each > len(self.scorers):
            found = f"{self.each} scorers an item, with {len(self.scorers)} scorers"
            raise PlanError("each", found, f"1 to {len(self.scorers)}")
        if self.items and (self.number is not None or self.filter != Filter()):
            raise PlanError("items", "items and a number or a filter", "either the items or the others")
        if self.mode != "scores" and len(self.sources) == 1:
            raise PlanError("sources", "one source", "two or more to compare in pairs, or none for all of them")
        self._check_gold()

    def _check_gold(self) -> None:
        golden = [gold.item for gold in self.gold]
        if golden and self.mode == "pairs":
            raise PlanError("gold", "gold items, with pairs alone", "a session with scores, or no gold items")
        if len(set(golden)) < len(golden):
            raise PlanError("gold", "an item twice", "each once")
        both = sorted(set(golden) & set(self.items))
        if both:
            found = f"{', '.join(map(str, both))} among the gold items"
            raise PlanError("items", found, "an item to be scored, or a gold one")


@dataclass(frozen=True)
class Candidate:
    """One trajectory that could be drawn, at the version that would be shown.

    :param source: the drafter's name
    :param spectrum: the SHA-256 of the spectrum; None where only pictures came, which makes no pairs
    :param barred: who drafted or wrote it, or judged it in review: they are not asked to score it
    :param gives_away: its text tells who wrote it
    """

    item: int
    version: int
    source: str
    task: str
    spectrum: str | None
    barred: frozenset[str] = frozenset()
    gives_away: bool = False


@dataclass(frozen=True)
class Assignment:
    """One thing asked of one scorer.

    :param token: random, and the only name by which the scorer's browser ever knows it
    :param place: in the scorer's own order, from 1
    :param shown: the one trajectory to score; or the left and the right one of a pair
    :param repeat_of: the token of its first showing to the same scorer
    :param gold: its scores are known; it is in no result but its own
    """

    token: str
    scorer: str
    kind: Kind
    place: int
    shown: tuple[Candidate, ...]
    repeat_of: str | None = None
    gold: bool = False


@dataclass(frozen=True)
class SampledSession:
    """A session as drawn.

    :param assignments: by scorer in the plan's order, then by place
    :param notes: what the coordinator should know: what was left out, and why
    """

    plan: Plan
    assignments: tuple[Assignment, ...]
    notes: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every trajectory that somebody is shown, once, by item."""
        shown = {candidate.item: candidate for one in self.assignments for candidate in one.shown}
        return tuple(shown[item] for item in sorted(shown))

    def of(self, scorer: str) -> tuple[Assignment, ...]:
        """What one scorer is asked, in their order."""
        return tuple(one for one in self.assignments if one.scorer == scorer)


SESSION_FORMAT = "spec-o3 blind session 1"

FindItems = Callable[[Iterable[str]], Mapping[str, int]]
"""From content hashes to the items whose current text they are; the store's ``items_by_content``."""

_RERUN_FIELDS = ("name", "mode", "each", "repeats", "seed")


class SessionFileError(OneLine):
    """A file that is no ``session.json``: what was found."""


def read_session(path: Path) -> Mapping[str, Any]:
    """The file's content. :raises NotASession: it cannot be read, or is something else"""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SessionFileError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SessionFileError(f"{path}: found no JSON ({error}), wanted a report's session.json") from error
    if not isinstance(data, Mapping) or data.get("format") != SESSION_FORMAT:
        raise SessionFileError(f"{path}: found no {SESSION_FORMAT!r}, wanted a report's session.json")
    return data


def rerun_plan(session: Mapping[str, Any], find: FindItems) -> dict[str, Any]:
    """The fields of a plan for the same texts, found in this database by their content; its scorers are
    missing, as the file has no names.

    Orders and sides are drawn anew for the new scorers; the pairs are those that the same items make.

    :raises PlanError: the file lacks a field, or has something else in its place
    :raises NotFound: (of the store) a text is not here as an item's current version
    """
    try:
        plan = session["plan"]
        gold = {one["item"]: one for one in plan["gold"]}
        texts = {one["item"]: one["content_hash"] for one in session["items"]}
        people = any(one["source_kind"] == "person" for one in session["items"])
        kept = {name: plan[name] for name in _RERUN_FIELDS}
        sources = [] if people else plan["sources"]
    except (KeyError, TypeError) as error:
        raise PlanError("session", f"a file without {error}", "a report's session.json as it was") from None
    for text in texts.values():
        if not isinstance(text, str):
            raise PlanError("session", f"the content_hash {text!r:.60}", "a report's session.json as it was")
    here = find(texts.values())
    try:
        drawn = sorted(here[text] for number, text in texts.items() if number not in gold)
        golden = [{**one, "item": here[texts[number]]} for number, one in gold.items()]
    except (KeyError, TypeError) as error:
        raise PlanError("session", f"no item {error}", "a report's session.json as it was") from None
    return {
        **kept,
        # A source that is a person goes by another name in the file.
        "sources": sources,
        "items": drawn,
        "gold": golden,
    }
