"""Trajectories for property tests, and hostile texts for any field."""

from dataclasses import replace

from hypothesis import strategies as st

from agent.tool import MEASURE, TOOL_NAME
from agent.trajectory import Answer, Drafter, Step, Think, Trajectory, Zoom
from agent.trajectory.tags import RESERVED

# Half characters cannot be written to a file; "\r" becomes "\n" in a browser's text box.
any_words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60)
# What the tagged text can represent: no control characters, no tags of the format, nothing to strip.
plain_words = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), min_size=1, max_size=60)
    .map(str.strip)
    .filter(lambda text: text and not any(tag in text for tag in RESERVED) and "boxed" not in text)
)
json_numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | json_numbers | plain_words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_words, inner, max_size=3),
    max_leaves=4,
)
windows = st.lists(json_numbers, min_size=2, max_size=2)
arguments = st.fixed_dictionaries({"wavelength_range": windows | json_values}, optional={"label": plain_words})
hashes = st.text("0123456789abcdef", min_size=64, max_size=64)
verdicts = st.sampled_from(["YES", "NO", None])
drafters = st.builds(Drafter, kind=st.sampled_from(["baseline", "model", "person", "unknown"]), name=any_words)


@st.composite
def zooms(draw, frame: str, z: float, medium: str) -> Zoom:
    ok, measures = draw(st.booleans()), draw(st.booleans())
    words = draw(plain_words)
    return Zoom(
        id="",
        arguments=draw(arguments) if not measures else {"feature": draw(plain_words)},
        frame=frame,
        z=z,
        medium=medium,
        observation=f"Error: {words}" if measures and not ok else words,
        ok=ok,
        picture=draw(hashes) if ok and not measures else None,
        tool=MEASURE if measures else TOOL_NAME,
    )


@st.composite
def trajectories(draw, one_think_a_turn: bool = False) -> Trajectory:
    """Any valid trajectory; with ``one_think_a_turn`` one that the tagged text can represent."""
    medium = draw(st.sampled_from(["vacuum", "air"]))
    frame = draw(st.sampled_from(["observed", "rest"]))
    z = draw(st.floats(-0.01, 7.0)) if frame == "rest" else 0.0
    thoughts = plain_words if one_think_a_turn else any_words
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, 3))):
        for _ in range(1 if one_think_a_turn else draw(st.integers(0, 2))):
            steps.append(Think("", draw(thoughts)))
        steps.append(draw(zooms(frame, z, medium)))
    measured = any(isinstance(step, Zoom) and step.measures for step in steps)
    steps += [Think("", draw(thoughts)), Answer("", draw(verdicts), draw(plain_words | st.just("")))]
    return Trajectory(
        task=draw(st.sampled_from(["cv", "cc", "wd"])),
        prompt=draw(plain_words),
        spectrum_name=draw(plain_words),
        spectrum_sha256=draw(st.none() | hashes),
        steps=tuple(replace(step, id=f"s{n}") for n, step in enumerate(steps, start=1)),
        drafter=replace(draw(drafters), settings={MEASURE: True} if measured else {}),
        system=draw(plain_words),
        redshift=z if frame == "rest" else None,
        medium=medium,
        overview=draw(hashes),
        label=draw(verdicts),
        label_source=draw(any_words),
        simulated=draw(st.booleans()),
        authors=tuple(draw(st.lists(st.sampled_from(["AA", "BB", "ÉÖ", "ABCD"]), max_size=2, unique=True))),
    )


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
"""Texts that UTF-8 and JSON can represent."""

HALF = "half \ud800 a character"
NUL = "a\0b"
