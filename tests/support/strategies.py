"""Trajectories for property tests: anything a person or a model might have written and a file can hold."""

from dataclasses import replace

from hypothesis import strategies as st

from agent.trajectory import Answer, Drafter, Step, Think, Trajectory, Zoom
from agent.trajectory.tags import RESERVED

# Half characters cannot be written to a file; "\r" becomes "\n" in a browser's text box.
any_words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60)
# What the tagged text can carry: no control characters, no marks of the format, nothing to strip.
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
    ok = draw(st.booleans())
    return Zoom(
        id="",
        arguments=draw(arguments),
        frame=frame,
        z=z,
        medium=medium,
        observation=draw(plain_words),
        ok=ok,
        picture=draw(hashes) if ok else None,
    )


@st.composite
def trajectories(draw, one_think_a_turn: bool = False) -> Trajectory:
    """Any trajectory whose steps make sense; with ``one_think_a_turn`` one that the tagged text can carry."""
    medium = draw(st.sampled_from(["vacuum", "air"]))
    frame = draw(st.sampled_from(["observed", "rest"]))
    z = draw(st.floats(-0.01, 7.0)) if frame == "rest" else 0.0
    thoughts = plain_words if one_think_a_turn else any_words
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, 3))):
        for _ in range(1 if one_think_a_turn else draw(st.integers(0, 2))):
            steps.append(Think("", draw(thoughts)))
        steps.append(draw(zooms(frame, z, medium)))
    steps += [Think("", draw(thoughts)), Answer("", draw(verdicts), draw(plain_words | st.just("")))]
    return Trajectory(
        task=draw(st.sampled_from(["cv", "cc", "wd"])),
        prompt=draw(plain_words),
        spectrum_name=draw(plain_words),
        spectrum_sha256=draw(st.none() | hashes),
        steps=tuple(replace(step, id=f"s{n}") for n, step in enumerate(steps, start=1)),
        drafter=draw(drafters),
        system=draw(plain_words),
        redshift=z if frame == "rest" else None,
        medium=medium,
        overview=draw(hashes),
        label=draw(verdicts),
        label_source=draw(any_words),
        simulated=draw(st.booleans()),
    )
