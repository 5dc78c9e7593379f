"""Random inspections of simulated spectra: what the logs of each format are made of, and compared with."""

from functools import cache

from hypothesis import strategies as st

from agent import tasks, tool
from agent.foreign.convert import Converter
from agent.plot import pixels_sha256, png_bytes
from agent.simulate import simulate, simulated_for
from agent.spectrum import Spectrum
from agent.tool import MEASURE, SKY_CONTEXT
from agent.trajectory import Answer, Drafter, Step, Think, Trajectory, Zoom
from tests.support.strategies import any_words, plain_words

KNOWN, _ = tasks.load_all([])


@cache
def spectrum_of(task: str, seed: int) -> Spectrum:
    survey, redshift = [("LAMOST", 0.0), ("SDSS", 0.0), ("LAMOST", 0.02)][seed - 1]
    return simulate(simulated_for(KNOWN[task]).kinds[0], survey, 30.0, seed, redshift)


def pictures_of(trajectory: Trajectory, spectrum: Spectrum) -> dict[str, bytes]:
    """The pictures of a generated trajectory as PNG files by the SHA-256 of their RGBA bytes."""
    calls = [{}, *(zoom.arguments for zoom in trajectory.zooms)]
    drawn = [tool.call(spectrum, call).image for call in calls]
    return {pixels_sha256(image): png_bytes(image) for image in drawn if image is not None}


@st.composite
def inspections(draw, own_words: bool = True) -> tuple[Trajectory, Spectrum]:
    """A trajectory over a simulated spectrum, with what our tool draws and says.

    :param own_words: any texts, several thoughts per turn, other tools; False: what a client of our server can leave
    """
    task = KNOWN[draw(st.sampled_from(["cv", "cc", "wd", "gm"]))]
    spectrum = spectrum_of(task.key, draw(st.integers(1, 3)))
    words = any_words if own_words else plain_words
    frame, z = tool.frame_of(spectrum)
    ends = tool.tool_wavelength(spectrum)[[0, -1]]
    number = st.integers(int(ends[0]) - 500, int(ends[1]) + 500) | st.floats(*ends).map(lambda x: round(x, 2))
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, 4))):
        steps += [Think("", text) for text in draw(st.lists(words, min_size=1, max_size=2 if own_words else 1))]
        kinds = ["zoom", "zoom", "zoom", "measure"] + (["other", "sky"] if own_words else [])
        kind = draw(st.sampled_from(kinds))
        if kind == "measure":
            zoom = Zoom("", {"feature": draw(plain_words)}, observation=draw(plain_words), tool=MEASURE)
        else:
            window = sorted(draw(st.tuples(number, number)))
            arguments = {
                "wavelength_range": window,
                **draw(st.just({}) | st.fixed_dictionaries({"label": plain_words})),
            }
            seen = tool.call(spectrum, arguments)
            zoom = Zoom("", arguments, observation=seen.text, ok=seen.ok, picture=seen.picture)
            if kind != "zoom" and seen.ok:
                zoom = Zoom("", arguments, picture=seen.picture, tool=SKY_CONTEXT if kind == "sky" else "plotter")
        steps.append(Zoom(**{**vars(zoom), "frame": frame, "z": z, "medium": spectrum.medium}))
    steps += [Think("", draw(words)), Answer("", draw(st.sampled_from(["YES", "NO"])), draw(words))]
    trajectory = Trajectory(
        task=task.key,
        prompt=task.prompt,
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=tuple(type(step)(**{**vars(step), "id": f"s{n}"}) for n, step in enumerate(steps, start=1)),
        drafter=Drafter("model", "model-1", {"temperature": 0.5}),
        redshift=spectrum.redshift,
        medium=spectrum.medium,
        overview=pixels_sha256(tool.overview(spectrum)),
        simulated=True,
    )
    return trajectory, spectrum


def converter(*spectra: Spectrum, task: str | None = None) -> Converter:
    """A converter that finds these spectra, by hash and by name."""

    def find(sha256: str | None, name: str) -> Spectrum | None:
        return next((s for s in spectra if (s.name == name if sha256 is None else s.sha256 == sha256)), None)

    return Converter(KNOWN, find, task)
