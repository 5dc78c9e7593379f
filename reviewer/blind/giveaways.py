"""Words by which a text gives away who wrote it, what it was told, or which object it is about.

It knows phrases, not meanings. A coordinator looks at what it finds before a session opens; what it does not
find, a scorer may still notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from agent.policies.native_prompts import label_mentions
from agent.steps import Answer, Step, Think

GiveawayKind = Literal["model", "company", "machine", "baseline", "label", "prompt", "file", "designation"]
GIVEAWAY_KINDS: tuple[GiveawayKind, ...] = get_args(GiveawayKind)


@dataclass(frozen=True)
class Giveaway:
    """``words`` is the text from ``start`` to ``end``."""

    start: int
    end: int
    words: str
    kind: GiveawayKind


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


# "o3" is a program where "O3" is ozone or a spectral type, "Gemini" an observatory where no version follows:
# such names count only where what stands around them makes them a program's.
_PATTERNS: tuple[tuple[GiveawayKind, re.Pattern[str]], ...] = (
    (
        "model",
        _any_case(
            r"""
              \b (?: chat [ -]? )? gpt \b
              (?: [ -]? (?: \d [\w.]* | oss ) (?: [ -] (?: mini|nano|turbo|pro) )? )?
            | \b gpt \d [\w.]*
            | \b spec [ -] o3 (?: - \w+ )* \b
            | \b qwen [\w.-]*
            | \b claude \b (?: [ -] (?: opus|sonnet|haiku|\d) [\w.-]* )?
            | \b (?: code )? llama [ -]? \d [\w.-]* | \b llava [\w.-]*
            | \b gemini [ -] (?: \d [\d.]* | pro | flash | ultra | nano ) [\w.-]*
            | \b gemma [ -]? \d [\w.-]*
            | \b deepseek [\w.-]* | \b internvl [\w.-]* | \b kimi [ -]? (?: k\d | vl ) [\w.-]*
            | \b (?: mistral | mixtral | pixtral | minicpm | glm ) - [\w.-]+
            | \b astro (?: sage | llama | mlab ) [\w.-]*
            | \b grok (?: [ -]? \d [\w.]* ) \b
            """
        ),
    ),
    (
        "model",
        re.compile(r"\bLLaMA\b|(?<![\w.\]/])o[134](?:-(?:mini|pro|preview))?(?![\w/]|\s*[λ=+]|\s+star)"),
    ),
    (
        "company",
        _any_case(r"\b(?: openai | anthropic | deepmind | alibaba | mistral\ ai | hugging\ ?face )\b"),
    ),
    (
        "machine",
        _any_case(
            r"""
              \b as \s an? \s (?: \w+ [ -] ){0,3}
              (?: language \s model | llm | vlm | chatbot | virtual \s assistant ) \b
            | \b as \s (?: an? \s )? (?: \w+ \s )? (?: ai | artificial \s intelligence )
              (?: \s (?: assistant | agent | model | system ) )? \b
            | \b (?: i \s am | i'm ) \s (?: only \s | just \s )? an? \s (?: \w+ [ -] ){0,3}
              (?: ai | model | assistant | language \s model | machine | program ) \b
            | \b (?: my | our ) \s (?: training | fine-?tuning | knowledge \s cutoff | context \s window ) \b
            | \b i \s (?: was | have \s been ) \s (?: trained | fine-?tuned | programmed ) \b
            | \b (?: large | vision )[ -]language \s model
            """
        ),
    ),
    (
        "baseline",
        _any_case(
            r"""
              \b by \s the \s scorecard \b
            | \b the \s points \s add \s up \s to \b
            | \b baseline , \s no \s model \b
            """
        ),
    ),
    (
        "prompt",
        _any_case(
            r"""
              </? (?: think | answer | tool_call | tool_response | image ) >
            | \\ boxed \s* \{
            | <\| \w+ \|>
            | \b (?: system | user ) \s (?: prompt | message | turn ) \b
            | \b the \s (?: user | prompt ) (?: 's )? \s
              (?: is|was|has|had|wants|wanted|asks|asked|says|said|gives|gave|provided|request\w* ) \b
            | \b spectral_visualization_tool \b
            | \b (?: remaining | left | maximum ) \s (?: turns | tool \s calls ) \b
            | \b (?: turn | tool ) \s (?: budget | limit ) \b
            """
        ),
    ),
    (
        "file",
        _any_case(
            r"""
              [\w+-]* \w \. fits (?: \. gz )? \b
            | \b spec - \d+ - [\w+-]+ (?: _sp\d+ - \d+ )?
            | \b simulated - \w+ - \d+ \b
            | \b (?: coadd | spectra | redrock ) - [\w-]+ - \d+ \b
            """
        ),
    ),
    (
        "designation",
        _any_case(
            r"""
              \b J \s? \d{4,6} (?: \.\d+ )? \s? [+−–-] \s? \d{4,6} (?: \.\d+ )? \b
            | \b (?: lamost | sdss | desi ) \s* J \d+ [\d.+−-]*
            | \b (?: obs [ _-]? id | target [ _-]? id | spec [ _-]? obj [ _-]? id | gaia \s dr\d | tic | uid )
              \s* [:=#]? \s* \d{4,}
            | \b plate [ -]? (?: mjd [ -]? fib(?:er|re) )? \s* [:=]? \s* \d{3,5} \b
            | \b \d{4,5} - 5\d{4} - \d{3,4} \b
            """
        ),
    ),
)


def giveaways(text: str) -> tuple[Giveaway, ...]:
    """Everything in a text that gives it away, in order; of two that overlap, the longer."""
    found = [
        Giveaway(match.start(), match.end(), match[0], kind)
        for kind, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    found += [Giveaway(start, start + len(words), words, "label") for start, words in label_mentions(text)]
    kept: list[Giveaway] = []
    for one in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(one.end <= other.start or one.start >= other.end for other in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: one.start))


def in_steps(steps: Iterable[Step]) -> tuple[tuple[int, Giveaway], ...]:
    """What gives a whole trace away, with the number of its step, from 1; the tool's words are left out."""
    return tuple(
        (number, giveaway)
        for number, step in enumerate(steps, start=1)
        for giveaway in giveaways(_words(step))
    )


def _words(step: Step) -> str:
    match step:
        case Think():
            return step.text
        case Answer():
            return step.explanation
        case _:
            return step.label
