"""What a model with tool calls of its own is told (``native_prompts.toml``), and must not let slip."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from agent.steps import Verdict

FILE = Path(__file__).with_name("native_prompts.toml")

_GIVEAWAYS = re.compile(
    r"""
      ground[ -]?truth
    | \b (?: the | its | this | true | given | known | correct | provided | assigned | expected )
      \s label (?! \s for )
    | \b label(?:l?ed) \s (?: as | a )\b
    | \b (?: I | we ) (?: 've | \s have | \s was | \s were | \s am | \s are | \s had | 'm | 're )
      (?: \s been )? \s (?: told | informed | instructed )
    | \b as \s (?: given | told | stated | instructed | provided | known ) \b
      (?! \s (?: in | by ) \s the \s (?: guide | question | criteria ) )
    | \b (?: it | this | object | source | star | spectrum | target ) (?: \s is | \s was ) (?: \s already )?
      \s (?: known | given | confirmed | stated ) \s (?: to \s be | as ) \b
    | \b (?: known | given | correct | true | expected | required | desired | confirmed )
      \s (?: answer | verdict | classification | class | outcome )
    | \b (?: answer | verdict | classification ) \s (?: is | was ) \s (?: already \s )? (?: known | given )
    | \b already \s know
    | \b (?: I | we ) \s know \s the \s (?: answer | verdict | class | classification )
    | \b system \s (?: message | prompt | turn )
    | \b catalog(?:ue)? \s (?: says | lists | gives | class | label | type )
    | \b (?: supposed | told | asked | instructed ) \s to \s (?: be | answer | conclude | say ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Every phrase above has one of these in it; most texts have none, and need not be searched.
_IN_EVERY_PHRASE = re.compile(
    "truth|label|told|inform|instruct|given|state|provide|know|confirm|true|correct|expect|require|desire|"
    "system|catalog|supposed|asked",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Prompts:
    """The texts, with ``$turns`` and ``$verdict`` where numbers and verdicts go."""

    instructions: str
    unaided: str
    guidance: str
    picture: str


@cache
def prompts() -> Prompts:
    """The texts that come with the program."""
    with FILE.open("rb") as opened:
        return Prompts(**{name: text.strip() for name, text in tomllib.load(opened).items()})


@dataclass(frozen=True)
class Guidance:
    """The known verdict, told to a drafter that writes the inspection which leads to it.

    It stands in the system turn that is sent, never in the trajectory; the trajectory says that it was told.
    """

    verdict: Verdict

    @property
    def text(self) -> str:
        return Template(prompts().guidance).substitute(verdict=self.verdict)


def instructions(turns: int) -> str:
    """How to inspect, and in how many turns."""
    return Template(prompts().instructions).substitute(turns=turns)


def sha256(text: str) -> str:
    """Of a text before anything is filled in; filled in, it would tell the verdict by which of two it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def mentions_label(text: str) -> str | None:
    """The words by which a text gives away that its author had been told the answer; None if there are none.

    It knows phrases, not meanings: a reviewer looks at what it finds, and still reads the rest.
    """
    found = _GIVEAWAYS.search(text)
    return found[0] if found else None


def label_mentions(text: str) -> tuple[tuple[int, str], ...]:
    """All such words of a text, each with the place where it starts."""
    if _IN_EVERY_PHRASE.search(text) is None:
        return ()
    return tuple((found.start(), found[0]) for found in _GIVEAWAYS.finditer(text))
