"""Texts that somebody who means harm, or a damaged file, may put into any field."""

HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "entity": "&lt;b&gt; &amp;amp; ]]> <!-- <![CDATA[ <?xml?> -->",
    "formula": '=HYPERLINK("http://example.org";"x")',
    "plus": "+1+cmd|' /C calc'!A0",
    "minus": "-2+3",
    "at": "@SUM(A1:A9)",
    "tab": "\t=1+1",
    "full width": "＝1+1",
    "forged": "fine\n2026-11-21 ERROR root: forged",
    "carriage return": "fine\rforged",
    "terminal": "\x1b[2J\x1b]0;title\x07",
    "direction": "\u202egnp.fdp\u2066",
    "separators": "a\u2028b\u2029c\x85d",
    "quotes": "\"'`; DROP TABLE item; --",
    "template": "{{7*7}} ${7*7} %s %n {0.__class__}",
    "long": "ß" * 4_000,
    "path": "../../../../etc/passwd",
    "device": "C:\\con\\NUL",
    "zero width": "a\u200bb\ufeffc",
    "emoji": "👩‍🔬 𝕊 ñ e\u0301",
    "noncharacter": "\uffff\ufdd0",
}
"""Every one can be held by UTF-8 and JSON."""

HALF = "half \ud800 a character"
NUL = "a\0b"
