"""Leaks: words in a text that reveal its author, its instructions, or the identity of the object.

A list of phrases, which does not understand meaning. A coordinator checks the finds before a session opens; a scorer
may still notice other leaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from agent.language import deferred
from agent.policies.giveaways import label_mentions
from agent.trajectory.steps import Answer, Step, Think, Zoom

LeakKind = Literal["model", "company", "machine", "baseline", "label", "prompt", "file", "designation", "picture"]
LEAK_KINDS: tuple[LeakKind, ...] = get_args(LeakKind)


@dataclass(frozen=True)
class Leak:
    """``words`` is the text from ``start`` to ``end``."""

    start: int
    end: int
    words: str
    kind: LeakKind


_TITLE = deferred("a title that cannot be found in the pixels, so that it is shown if there is one")
PICTURE_LEAK = Leak(0, 0, _TITLE, "picture")
"""Of a kept picture that is not the published renderer's, and that no stored spectrum can replace."""


@dataclass(frozen=True)
class _Pattern:
    """A pattern with ``words`` in lower case, at least one of which is in every match. Most texts have none, and
    searching for words is many times as fast as the pattern.
    """

    kind: LeakKind
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _case_insensitive(kind: LeakKind, words: str, pattern: str) -> _Pattern:
    return _Pattern(kind, tuple(words.split()), re.compile(pattern, re.VERBOSE | re.IGNORECASE))


# "o3" is a program where "O3" is ozone or a spectral type, "Gemini" an observatory where no version follows:
# such names count only in a context that makes them a program's.
_PATTERNS = (
    _case_insensitive(
        "model",
        "gpt o3 qwen claude llama llava gemini gemma deepseek internvl kimi mistral mixtral pixtral minicpm "
        "glm- astrosage astromlab grok",
        r"""
          \b (?: chat [ -]? )? gpt \b
          (?: [ -]? (?: \d [\w.]* | oss ) (?: [ -] (?: mini|nano|turbo|pro) )? )?
        | \b gpt \d [\w.]*
        | \b spec [ -] o3 (?: - \w+ )* \b
        | \b qwen (?: [\w.-]* \w )?
        | \b claude \b (?: [ -] (?: opus|sonnet|haiku|\d) (?: [\w.-]* \w )? )?
        | \b (?: code )? llama [ -]? \d (?: [\w.-]* \w )? | \b llava (?: [\w.-]* \w )?
        | \b gemini [ -] (?: \d [\d.]* | pro | flash | ultra | nano ) (?: [\w.-]* \w )?
        | \b gemma [ -]? \d (?: [\w.-]* \w )?
        | \b (?: deepseek | internvl ) (?: [\w.-]* \w )?
        | \b kimi [ -]? (?: k\d | vl ) (?: [\w.-]* \w )?
        | \b (?: mistral | mixtral | pixtral | minicpm | glm ) - [\w.-]* \w
        | \b astro (?: sage | llama | mlab ) (?: [\w.-]* \w )?
        | \b grok [ -]? \d [\w.]* \b
        """,
    ),
    _Pattern(
        "model",
        ("llama", "o1", "o3", "o4"),
        re.compile(r"\bLLaMA\b|(?<![\w.\]/])o[134](?:-(?:mini|pro|preview))?(?![\w/]|\s*[λ=+]|\s+star)"),
    ),
    _case_insensitive(
        "company",
        "openai anthropic deepmind alibaba mistral hugging",
        r"\b (?: openai | anthropic | deepmind | alibaba | mistral \s ai | hugging \s? face ) \b",
    ),
    _case_insensitive(
        "machine",
        "ai artificial model llm vlm chatbot assistant machine program my our train tuned",
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
        """,
    ),
    _case_insensitive(
        "baseline",
        "scorecard points baseline total",
        r"""
          \b by \s the \s scorecard \b
        | \b the \s points \s add \s up \s to \b
        | \b total \s [-+−]? [\d.]+ (?: , [^;]{0,80} )? ; \s yes \s needs \s more \s than \b
        | \b baseline , \s no \s model \b | \b rule-based \s baseline \b
        """,
    ),
    _case_insensitive(
        "prompt",
        "< \\boxed prompt message turn user tool",
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
        """,
    ),
    # File names have at most 255 bytes; without a limit a text of repeated prefixes would take quadratic time.
    _case_insensitive(
        "file",
        ".fits spec- simulated- coadd- spectra- redrock-",
        r"""
          [\w+-]{0,250} \w \. fits (?: \. gz )? \b
        | \b spec - \d+ - [\w+-]+
        | \b simulated - \w+ - \d+ \b
        | \b (?: coadd | spectra | redrock ) - [\w-]{1,250} - \d+ \b
        """,
    ),
    _case_insensitive(
        "designation",
        "j obs target spec gaia tic uid plate -5",
        r"""
          \b J \s? \d{4,6} (?: \.\d+ )? \s? [+−–-] \s? \d{4,6} (?: \.\d+ )? \b
        | \b (?: lamost | sdss | desi ) \s* J \d+ [\d.+−-]*
        | \b (?: obs [ _-]? id | target [ _-]? id | spec [ _-]? obj [ _-]? id | gaia \s dr\d | tic | uid )
          \s* [:=\#]? \s* \d{4,}
        | \b plate [ -]? (?: mjd [ -]? fib(?:er|re) )? \s* [:=]? \s* \d{3,5} (?: - \d+ )* \b
        | \b \d{4,5} - 5\d{4} - \d{3,4} \b
        """,
    ),
)


_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s|\n")
_AROUND = 300  # characters before and after the words


def find_leaks(text: str) -> tuple[Leak, ...]:
    """Return the leaks in a text, in order; of two that overlap, the longer."""
    small = text.lower()
    leaks = [
        Leak(match.start(), match.end(), match[0], pattern.kind)
        for pattern in _PATTERNS
        if any(word in small for word in pattern.words)
        for match in pattern.pattern.finditer(text)
    ]
    leaks += [Leak(start, start + len(words), words, "label") for start, words in label_mentions(text)]
    kept: list[Leak] = []
    taken = bytearray(len(text))  # 1 for each character of those that are kept
    for candidate in sorted(leaks, key=lambda candidate: (candidate.start - candidate.end, candidate.start)):
        if not any(taken[candidate.start : candidate.end]):
            kept.append(candidate)
            taken[candidate.start : candidate.end] = bytes([1]) * (candidate.end - candidate.start)
    return tuple(sorted(kept, key=lambda leak: leak.start))


def sentence_with(giveaway: Leak, text: str) -> str:
    """Return the sentence with the leak; of a very long sentence the part next to it."""
    before = _SENTENCE_ENDS.split(text[max(0, giveaway.start - _AROUND) : giveaway.start])[-1]
    after = _SENTENCE_ENDS.split(text[giveaway.end : giveaway.end + _AROUND])[0]
    return f"{before}{giveaway.words}{after}".strip()


def leaks_in_steps(steps: Iterable[Step]) -> tuple[tuple[int, Leak], ...]:
    """Return the leaks of a trace, each with the number of its step, from 1, and its place in ``shown_text``."""
    return tuple(
        (number, giveaway) for number, step in enumerate(steps, start=1) for giveaway in find_leaks(shown_text(step))
    )


def shown_text(step: Step) -> str:
    """Return the text of a step that is on the sheet: of a zoom also the tool's, which another program may have written
    with the name of a file in it.
    """
    if not isinstance(step, Zoom) or not step.observation:
        return authored_text(step)
    # The tool repeats the label.
    return step.observation if step.label in step.observation else f"{step.label}\n{step.observation}"


def authored_text(step: Step) -> str:
    """Return the words that the author of a step wrote in it."""
    match step:
        case Think():
            return step.text
        case Answer():
            return step.explanation
        case _:
            return step.label
