"""The tool ``sky_context``: one picture and a text of numbers from the catalogue records of an object.

A policy gets whitelisted quantities only (``CatalogueMap.for_agent``), and offsets, never positions, names or types.
The words of the answer are the same for every object, so that only its numbers say something about the object.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent.measure.values import Measured, Undefined
from agent.plot import DPI
from agent.sky.facts import GAIA, SKY_QUANTITIES, SkyFacts, facts_of
from agent.sky.maps import CatalogueMap, bundled
from agent.sky.matching import Target, offsets
from agent.sky.plane import REDDENING, loci
from agent.sky.records import RADIUS, Sky, SkyRecord, Source
from agent.spectrum import Spectrum
from agent.tool import SKY_CONTEXT, SKY_SCHEMA, Observation, frame_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg

MISSING = -9999.0
NEIGHBOURS = 3
TEXT = """\
Star catalogues at the position of the object. Errors are 1 sigma; -9999: not given, or not computable.
Match: a source at {separation:2} arcsec after proper motion; sources within 10 arcsec: {sources:0}.
Fibre: diameter {fibre:1} arcsec; light of other sources in it, over the object's own: {blend:3} (a blend from 0.1 on).
Three nearest other sources, arcsec and G: {apart1:1}, {g1:2}; {apart2:1}, {g2:2}; {apart3:1}, {g3:2}.
Magnitudes (Vega): G {G:2} +- {G_error:3}; BP-RP {bp_rp:2} +- {bp_rp_error:2}; J-Ks {j_k:2} +- {j_k_error:2}; \
G-W1 {g_w1:2} +- {g_w1_error:2}; W1-W2 {w1_w2:2} +- {w1_w2_error:2}.
Parallax over its error: {parallax_over_error:1}. From 1/parallax, given above 5 sigma only: \
M_G {absolute_magnitude:2} +- {absolute_magnitude_error:2}. Faintest M_G that the parallax allows (2 sigma): \
{absolute_magnitude_limit:2}; the object is that luminous or more luminous.
Nothing is corrected for extinction: per E(B-V) of 0.1, M_G becomes {A_G:2} brighter and BP-RP {E:2} bluer.
Proper motion over its error: {proper_motion_over_error:1}. Reduced proper motion H = G + 5 log mu + 5, mu in \
arcsec/yr, which stands in for M_G where there is no parallax: {reduced_proper_motion:2} +- \
{reduced_proper_motion_error:2}. Tangential velocity {tangential_velocity:0} +- {tangential_velocity_error:0} km/s.
Variability: scatter of single G measurements {variability:4} +- {variability_error:4} of the flux; a constant source \
of this G has about {constant:4}.
RUWE {ruwe:2}: about 1 for a single point source."""
"""Every answer, with the decimals of each number."""
NOT_QUERIED = "Error: the star catalogue was not queried for this object. That says nothing about the object."
NO_ANSWER = "Error: the query of the star catalogue failed for this object. That says nothing about the object."
_SLOT = re.compile(r"\{(\w+):(\d)\}")
_LARGEST = 999_999.0
MAX_TEXT = 1_500
"""Characters. ``agent.tool.MAX_TEXT`` is for answers that quote a model; the words here are fixed, and never cut."""

SIZE = (900, 450)
_TITLES = 22  # rows at the top that no object reaches
LIMITS = (-1.0, 7.0), (18.0, -7.0)
"""BP−RP and M_G of the axes."""
_NAMES = {"red_clump": (2.1, 0.7)}  # where the name would cover another one
_YEARS = 20.0  # of the arrows of motion
_ARROWS: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.006, "minlength": 0}
_OBJECT, _OTHERS, _FAINT = "#c1121f", "#333333", "#8a8a8a"


def call(sky: Sky, spectrum: Spectrum, arguments: object) -> Observation:
    """Answer one call of ``sky_context`` as the model wrote it; nothing is raised.

    ``arguments`` is the parsed JSON of the call, of any type. ``ok`` is False, and there is no picture, where Gaia was
    not queried or failed, or the arguments are more than a label.
    """
    if (problem := _problem(sky, arguments)) is not None:
        return Observation(problem, None, False, None, *frame_of(spectrum))
    facts = facts_of(for_agent(sky), spectrum)
    return Observation(text_of(facts), _picture(facts), True, None, *frame_of(spectrum))


def text_of(facts: SkyFacts) -> str:
    """Return the text of an answer: ``TEXT`` with its numbers, at most ``MAX_TEXT`` characters."""
    values = _values(facts)
    return _SLOT.sub(lambda slot: _number(values.get(slot[1]), int(slot[2])), TEXT)


def for_agent(sky: Sky) -> Sky:
    """Return the records with what a policy may see: no names, light curves and other quantities; a source has its
    place among the others as identifier.
    """
    records, maps = [], _served()
    for record in sky:
        if (catalogue := maps.get(record.catalogue)) is not None:
            sources = (
                Source(str(number), source.ra, source.dec, source.separation, catalogue.for_agent(source.values))
                for number, source in enumerate(record.sources)
            )
            records.append(replace(record, sources=tuple(sources)))
    return Sky.of(records)


def _served() -> dict[str, CatalogueMap]:
    """Return the maps with a quantity that a policy may see, by key."""
    return {key: each for key, each in bundled().items() if any(column.agent for column in each.columns.values())}


def settings(source: object, prompt: str = "") -> dict[str, Any]:
    """Return what a trace records of a policy that is offered the tool: the catalogues, and a hash of its words.

    :param source: of the records; ``catalogues`` names those of a table
    :param prompt: the other instructions of its model about the tool
    """
    served = [key for key in getattr(source, "catalogues", ()) if key in _served()]
    words = f"{json.dumps(SKY_SCHEMA)}\n{TEXT}\n{prompt}"
    digest = hashlib.sha256(words.encode()).hexdigest()
    return {"sky": True, "sky_catalogues": " + ".join(served), "sky_sha256": digest}


def _problem(sky: Sky, arguments: object) -> str | None:
    if not isinstance(arguments, Mapping):
        return f"Error: found {type(arguments).__name__}, expected an object, with a label or empty."
    if others := [str(name) for name in arguments if name != "label"]:
        return f"Error: found the argument {others[0]!r:.60}, expected none but label: {SKY_CONTEXT} has no windows."
    gaia = [sky.records[key] for key in GAIA if key in sky.records]
    if any(record.is_answer for record in gaia):
        return None
    return NO_ANSWER if any(record.status == "failed" for record in gaia) else NOT_QUERIED


def _number(value: float | None, decimals: int) -> str:
    if value is None or value == MISSING or not math.isfinite(value):
        return f"{MISSING:.0f}"
    bounded = min(max(value, MISSING + 1), _LARGEST)
    return f"{round(bounded, decimals) + 0.0:.{decimals}f}"


def _values(facts: SkyFacts) -> dict[str, float]:
    """Return the numbers of the text by their names; what is missing has none."""
    values = {"E": REDDENING[0], "A_G": REDDENING[1]}
    for name in SKY_QUANTITIES:
        if isinstance(quantity := facts.quantities[name], Measured):
            values |= {name: quantity.value, f"{name}_error": quantity.error or MISSING}  # 0: not given
    if (g := facts.magnitudes.get("G")) is not None:
        values |= {"G": g.value, "G_error": g.error or MISSING, "constant": constant_scatter(g.value)}
    if facts.gaia is not None:
        values["sources"] = len(facts.gaia.sources)
    if facts.fibre is not None:
        values["fibre"] = facts.fibre
    if facts.source is not None:
        values["separation"] = facts.source.separation
    if facts.blend is not None:
        values["blend"] = facts.blend.share
    for number, source in enumerate(_others(facts)[:NEIGHBOURS], start=1):
        values[f"apart{number}"] = source.separation
        if "G" in source.values:
            values[f"g{number}"] = source.values["G"]
    return values


def constant_scatter(g: float) -> float:
    """Return the fractional scatter of single G measurements of a constant source: the photon noise of one CCD of
    4.42 s (Gaia Collaboration, Prusti et al. 2016 A&A 595, A1; zero point 25.6874 of Riello et al. 2021 A&A 649, A3),
    and 0.002 of the calibration.
    """
    return math.hypot(10 ** (-0.2 * (25.6874 - g)) / math.sqrt(4.42), 0.002)


def _others(facts: SkyFacts) -> list[Source]:
    return [source for source in facts.gaia.sources if source is not facts.source] if facts.gaia is not None else []


def _picture(facts: SkyFacts) -> Image.Image:
    """Draw the colour-magnitude plane and the finder; the axes are the same for every object."""
    from agent.plot.reference import default_style

    with default_style():  # by one thread at a time
        canvas, (plane, finder), background = _background()
        canvas.restore_region(background)
        artists = [*_object(plane, facts), *_stars(finder, facts)]
        for artist in artists:
            artist.draw(canvas.get_renderer())
        pixels = np.array(canvas.buffer_rgba())
        for artist in artists:
            artist.remove()
    return Image.fromarray(pixels)


@cache
def _background() -> tuple[FigureCanvasAgg, tuple[Axes, Axes], Any]:
    """Return both axes as they are without an object, and their pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SIZE[0] / DPI, SIZE[1] / DPI), dpi=DPI, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    plane, finder = figure.add_axes((0.065, 0.11, 0.42, 0.82)), figure.add_axes((0.57, 0.11, 0.41, 0.82))
    plane.set(xlim=LIMITS[0], ylim=LIMITS[1], xlabel="BP-RP (mag)", ylabel="M_G (mag)")
    plane.set_title("Colour-magnitude diagram, object in red", fontsize=10)
    finder.set(xlim=(RADIUS, -RADIUS), ylim=(-RADIUS, RADIUS), xlabel="east (arcsec)", ylabel="north (arcsec)")
    finder.set_aspect("equal")
    finder.set_title(f"Stars around the fibre, motion in {_YEARS:.0f} years", fontsize=10)
    for axes in (plane, finder):
        axes.grid(color="#dddddd", linewidth=0.5)
    _loci(plane)
    canvas.draw()
    return canvas, (plane, finder), canvas.copy_from_bbox(figure.bbox)


def has_own_titles(picture: Image.Image) -> bool:
    """Return whether it has the size and the titles of a picture of this tool: nothing else is written in one."""
    if picture.size != SIZE:
        return False
    titles = (0, 0, SIZE[0], _TITLES)
    return picture.convert("RGBA").crop(titles).tobytes() == _empty().crop(titles).tobytes()


@cache
def _empty() -> Image.Image:
    unknown = Undefined("")
    return _picture(SkyFacts(None, None, None, None, {}, dict.fromkeys(SKY_QUANTITIES, unknown)))


def _loci(axes: Axes) -> None:
    for locus in loci():
        colours, magnitudes = np.array(locus.bp_rp), np.array(locus.absolute_magnitude)
        name = colours[2 * len(colours) // 3], magnitudes[2 * len(colours) // 3]
        if locus.kind == "region":
            axes.fill(colours, magnitudes, facecolor="#e8eef6", edgecolor="#b9c8dc", linewidth=0.8, zorder=1)
            name = colours.mean(), magnitudes.mean()
        else:
            axes.plot(colours, magnitudes, color="#9fb3cc", linewidth=5, alpha=0.6, zorder=1.2)
        name = _NAMES.get(locus.key, name)
        axes.text(*name, locus.key.replace("_", " "), fontsize=7, color="#5b6470", ha="center", va="center", zorder=2)
    tip = 5.8 + REDDENING[0] * 3, -6 + REDDENING[1] * 3
    axes.annotate("", tip, (5.8, -6), arrowprops={"arrowstyle": "->", "color": _FAINT})
    axes.text(5.7, -5.6, "E(B-V) 0.3", ha="right", va="center", fontsize=8, color=_FAINT)


def _object(axes: Axes, facts: SkyFacts) -> Iterator[Artist]:
    """Yield where the object is; a dotted line where only one of the two numbers is known, an arrow for a limit, and a
    triangle at the edge for what is beyond it.
    """
    colour, magnitude, limit = (
        value if isinstance(value, Measured) else None
        for value in (facts.quantities[name] for name in ("bp_rp", "absolute_magnitude", "absolute_magnitude_limit"))
    )
    height = magnitude or limit
    if height is None:
        if colour is not None:
            yield axes.axvline(colour.value, color=_OBJECT, linestyle=":", linewidth=1.5)
        return
    x, y = (
        min(max(value, min(ends)), max(ends))
        for value, ends in zip((colour.value if colour else 3.0, height.value), LIMITS, strict=True)
    )
    if magnitude is None:
        # As luminous as this, or more.
        yield from axes.plot([x - 0.25, x + 0.25], [y, y], color=_OBJECT, linewidth=2)
        yield axes.quiver(x, y, 0, -2.4, color=_OBJECT, **_ARROWS)
    if colour is None:
        yield axes.axhline(y, color=_OBJECT, linestyle=":", linewidth=1.5)
    elif magnitude is not None:
        yield from axes.errorbar(
            x, y, magnitude.error, colour.error, fmt="none", color=_OBJECT, capsize=2
        ).get_children()
    at = "" if magnitude is None or colour is None else "o"
    across = {-1.0: "<", 0.0: at, 1.0: ">"}[float(np.sign(colour.value - x)) if colour else 0.0]
    marker = {-1.0: "^", 0.0: across, 1.0: "v"}[float(np.sign(height.value - y))]
    yield from axes.plot(x, y, marker, color=_OBJECT, markersize=7 if marker == "o" else 12, clip_on=False)


def _stars(axes: Axes, facts: SkyFacts) -> Iterator[Artist]:
    """Yield the fibre, and the sources with their motion."""
    from matplotlib.patches import Circle

    if facts.fibre is not None:
        circle = Circle((0, 0), facts.fibre / 2, fill=False, color="#1f5fa8", linewidth=1.5)
        yield axes.add_patch(circle)
    if facts.gaia is None or not (sources := facts.gaia.sources):
        return
    places = _places(facts.gaia, facts.source)
    colours = [_OBJECT if source is facts.source else _OTHERS for source in sources]
    motions = np.array([[s.values.get(name, 0.0) * _YEARS / 1000 for name in ("pm_ra", "pm_dec")] for s in sources])
    yield axes.quiver(*places.T, *motions.T, color=colours, **_ARROWS)
    sizes = [(4 + 1.6 * min(max(21 - s.values.get("G", 21.0), 0.0), 12.0)) ** 2 for s in sources]
    yield axes.scatter(places[:, 0], places[:, 1], sizes, colours, edgecolors="white")


def _places(record: SkyRecord, source: Source | None) -> NDArray[np.float64]:
    """Return the offsets (n, 2) of the sources to the east and north of the position of the spectrum, in arcseconds:
    around the object as at the catalogue's epoch, and the object as where its separation holds.
    """
    target = Target("", record.ra, record.dec, record.epochs)
    at = offsets(target.ra, target.dec, *np.array([(s.ra, s.dec) for s in record.sources]).T)
    if source is None:
        return at
    motion = np.array([source.values.get(name, 0.0) / 1000 for name in ("pm_ra", "pm_dec")])
    own, speed = at[[s is source for s in record.sources]][0], float(motion @ motion)
    epoch = bundled()[record.catalogue].epoch
    years = min(max(-float(own @ motion) / speed, record.epochs[0] - epoch), record.epochs[1] - epoch) if speed else 0.0
    return at + motion * years
