"""Phrases of a text which reveal that its author knew the answer."""

from __future__ import annotations

import re

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
    | \b catalog(?:ue)? \s (?: class | label | type | (?: says | lists | gives )
      # A number of sky_context is no class.
      (?! \s (?: (?: an? | the | no | its ) \s )?
          (?: parallax | M_G | absolute | magnitude | colou?r | BP | proper | reduced | RUWE | variability | -?\d ) ) )
    | \b (?: supposed | told | asked | instructed ) \s to \s (?: be | answer | conclude | say ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Every phrase above contains one of these; most texts contain none and need no search.
_IN_EVERY_PHRASE = re.compile(
    "truth|label|told|inform|instruct|given|state|provide|know|confirm|true|correct|expect|require|desire|"
    "system|catalog|supposed|asked",
    re.IGNORECASE,
)


def mentions_label(text: str) -> str | None:
    """Return the words that reveal that the author of a text knew the answer; None if there are none.

    It finds phrases, not meanings: a reviewer checks what it finds and still reads the rest.
    """
    match = _GIVEAWAYS.search(text)
    return match[0] if match else None


def label_mentions(text: str) -> tuple[tuple[int, str], ...]:
    """Return all such words of a text, each with its start position."""
    if _IN_EVERY_PHRASE.search(text) is None:
        return ()
    return tuple((match.start(), match[0]) for match in _GIVEAWAYS.finditer(text))
