"""What the sentences of a text say about single lines: there or not, in emission or in absorption, and how strongly.

The reader of the hints (``agent/hints/claims.py``) reads only what leaves no doubt, because the page shows the result.
Facts count over many traces, so this reader knows more words and takes a plain statement about one line as a claim.
English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agent.lines import Line
from agent.lines.names import mentions
from agent.trajectory.statements import quoted_windows
from reviewer.similar.of_texts import sentences_of

Sign = Literal["emission", "absorption", ""]

MOST = 3
"""Lines of a sentence from which it is a list, not a statement about each."""


@dataclass(frozen=True)
class Stated:
    """A statement about one line.

    :param line: of the list
    :param sign: "" where the sentence does not say it
    :param is_present: the line is said to be there; False: it is denied
    :param strong: the line is said to be strong, clear or the like
    :param seen: the sentence has a word for the presence of a line; without one it only names the line
    """

    line: Line
    sign: Sign
    is_present: bool
    strong: bool
    seen: bool


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})", re.IGNORECASE)


_CLAUSE = re.compile(
    r",?\s+(?=(?:but|while|whereas|although|though|yet|however)\b)|,\s+(?=(?:with|and) no\b)|;\s+", re.IGNORECASE
)
_NOT_STATED = _words(
    r"if\b",
    r"(?:whether|would|should|could|may|might|shall|will|let|unless|perhaps|maybe|possibl[ey]|likely)\b",
    r"must\b(?! be\b)",
    r"can\b(?! (?:\w+ly )?(?:be )?(?:see|recogni|identif|detect|find|found|make out|discern|trace|spot|pick|"
    r"say|state|conclude|confirm|call))",
    r"typical(?:ly)? (?:of|for|in)\b",
    r"(?:expect|predict|usual|normal|require|criteri|hallmark|candidate|hypothe|suppos)\w*",
    r"(?:check|inspect|examin|verif|test|search|zoom|compar|investigat|assess|evaluat|explor|prob)(?:e|es|ed|ing|y|s)?\b",
    r"(?:want|need|next|plan|intend|wish|decide|going) to\b",
    r"(?:next|now|then|first|finally|again)\b",
    r"(?:look|turn|move|go|return|proceed|focus|jump|step|switch)(?:s|ed|ing)?\s+(?:\w+\s+)?(?:at|to|into|for|on|back)\b",
    r"(?:would count|primary|bound|measurable|the question|guide)\b",
)
"""A plan, a question, a condition or a rule: no statement about this spectrum."""
_AFFIRMED = _words(
    r"(?:without|beyond|no|out of)\s+(?:\w+\s+)?"
    r"(?:doubt|question|mistake|ambiguity|difficulty|effort|problem|trouble)\w*",
    r"(?:cannot|can't|can not|could not|hard to|impossible to|difficult to)\s+(?:be\s+)?"
    r"(?:miss|mistake|mistaken|overlook|deny|denied|ignore|dispute|doubt)\w*",
    r"(?:there (?:is|can be) )?(?:little|no|hardly any) (?:\w+ )?(?:doubt|question|mistak\w+)",
    r"(?:not|n't)\s+(?:only|just|merely|weak(?:ly)?|faint(?:ly)?|subtle|shallow|small|marginal|in doubt)\b",
    r"(?:at|in|on) (?:the|its|their) expected (?:position|place|wavelength|location|spot)",
    r"(?:I|one|we)(?: would|['’]d) (?:\w+ )?(?:say|call|argue|identify|describe|classify|take)",
    r"(?:even if|if only|if (?:somewhat|rather))\b",
    r"(?:as|what|than|like|where) (?:\w+ ){1,5}(?:would|could|should|might)\b",
    r"as far as (?:I|one|we) can (?:judge|tell|see)",
    r"(?:looks?|seems?|appears?|feels?) (?:\w+ )?as (?:if|though)",
    r"(?:jump|leap|poke|stand|stick|spring|pop)(?:s|ing)? (?:\w+ )?out(?: at| of| from)?\b|look at (?:that|this|it)\b",
    r"none other than|no less|no mistaking|nothing but (?!\w* ?(?:continuum|noise))",
    r"(?:light|flux) (?:is )?missing|missing (?:light|flux)",
)
"""Words of denial that affirm."""
_OTHER_SIGN = _words(
    r"(?:rather than|instead of|as opposed to|unlike|and not|not)\s+(?:as\s+|in\s+|an?\s+|of\s+|from\s+|being\s+)*"
    r"(?:emi\w+|absor\w+|a?\s*(?:trough|dip|peak|bump)|up\b|down\b|upwards?|downwards?|below|above)",
    r"(?:drops?|falls?|comes?|goes|climbs?|rises?|returns?) back\b",
)
"""The sign that a sentence excludes while it states the other one, and the end of a peak or dip."""
_DENIED = re.compile(
    r"\b(?:no|not|nothing|none|nor|neither|never|nowhere|cannot|without|hardly|barely|scarcely|zero|devoid|invisible|"
    r"lack\w*|absen\w+|missing|fail\w*|gone|vanish\w*|undetect\w*|unseen|unobserved|free of|non-?detect\w*|"
    r"too (?:weak|faint|shallow)|buried in|lost in|consistent with (?:noise|zero|the continuum)|"
    r"(?:only|nothing but) (?:the )?(?:noise|continuum)|featureless|flat)\b|n't\b|n’t\b",
    re.IGNORECASE,
)
_EMISSION = _words(r"emi(?:ssion|t)\w*")
_ABSORPTION = _words(r"absor[bp]\w*")
_UP = _words(
    r"(?:peak|spike|bump|hump|bright|glow|shin|luminous|excess|upward|rise|rising|rose|climb|protrud|tower)\w*",
    r"(?:goes|go|going|jumps?|shoots?|leaps?|sticks?|stands?|points?)\s+up\b",
    r"above (?:the|its|their)\s+(?:\w+\s+)?(?:continuum|surroundings|neighbou?rhood|level)",
)
_DOWN = _words(
    r"(?:light|flux) (?:is )?missing|missing (?:light|flux)",
    r"(?:trough|dip|depress|deficit|deep|downward|hollow|notch|sink|sunk|carve|drop|dark|dent)\w*",
    r"(?:falls?|fell|falling|goes|going|cuts?|cutting|points?|bites?)\s+(?:\w+\s+)?(?:down|below|into|under)\b",
    r"(?:falls?|fell|falling)\b",
    r"below (?:the|its|their)\s+(?:\w+\s+)?(?:continuum|surroundings|neighbou?rhood|level)",
)
_STRONG = _words(
    r"(?:strong|clear|deep|prominent|obvious|unmistakabl|evident|pronounced|conspicuous|striking|intense|power)\w*",
    r"(?:distinct|marked|definite|undeniabl|undoubted|dominat|remarkabl|robust|unambiguous|bright|well[- ]defined)\w*",
    r"(?:stands? out|stood out|standing out|jumps? out|sticks? out|catch(?:es)? the eye|easily|plainly|"
    r"(?:beyond|without|no|out of)\s+(?:\w+\s+)?(?:doubt|question))\b",
)
_SEEN = _words(
    r"(?:visible|present|presence|detect\w*|seen|see|sees|appear\w*|recogni[sz]\w*|identif\w*|find|finds|found|exist\w*)\b",
    r"(?:show|display|exhibit|reveal|contain|feature|mark|observe|notice|spot|locate|confirm|indicate|possess|bear|carr)"
    r"(?:s|d|ed|y|ies|ing)?\b",
    r"(?:have|has|having|there is|there are|is there|are there|to be there|signature|secure\w*|firm\w*|genuine|real)\b",
    r"significan\w+",
)


def stated_lines(text: str) -> Iterator[Stated]:
    """Yield the statements of a text about single lines, in its order.

    A sentence that quotes a window is about the window, so it states something about a line only if it says more of it.
    """
    for sentence in sentences_of(text):
        windows = next(quoted_windows(sentence), None) is not None
        for clause in _CLAUSE.split(sentence):
            if not clause.rstrip().endswith("?") and not _NOT_STATED.search(_AFFIRMED.sub(" ", clause)):
                yield from _of_clause(clause, windows)


def _of_clause(clause: str, windows: bool) -> Iterator[Stated]:
    named = list(dict.fromkeys(entry for _, _, entry in mentions(clause) if isinstance(entry, Line)))
    if not 0 < len(named) <= MOST:
        return
    plain = _OTHER_SIGN.sub(" ", clause)
    is_present = _DENIED.search(_AFFIRMED.sub(" ", plain)) is None
    sign = sign_of(plain)
    if sign is None and is_present:
        return
    strong = _STRONG.search(plain) is not None
    seen = bool(sign) or strong or any(words.search(plain) for words in (_SEEN, _AFFIRMED))
    if (windows or len(named) > 1) and not seen:
        return
    yield from (Stated(line, sign or "", is_present, strong, seen) for line in named)


def sign_of(clause: str) -> Sign | None:
    """Return the sign that a clause states, "" if it states none, None if it states both.

    The words emission and absorption count before others: an emission peak may be called deep red.
    """
    for up, down in ((_EMISSION, _ABSORPTION), (_UP, _DOWN)):
        signs = bool(up.search(clause)), bool(down.search(clause))
        if all(signs):
            return None
        if any(signs):
            return "emission" if signs[0] else "absorption"
    return ""
