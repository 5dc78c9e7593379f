"""Records of catalogues for an object at a made-up position, and an inspection that asks for them."""

from __future__ import annotations

import json

from agent.sky.maps import bundled
from agent.sky.matching import Target, on_sky, record_of, without_answer
from agent.sky.records import LightCurve, Sky, SkyRecord, Source
from agent.spectrum import Spectrum
from agent.trajectory import Drafter

POSITION = (121.5, 38.25)
DWARF = {"G": 15.2, "BP": 15.9, "RP": 14.4, "parallax": 5.0, "parallax_error": 0.05, "pm_ra": 300.0, "pm_dec": -80.0}
DWARF |= {"pm_ra_error": 0.05, "pm_dec_error": 0.05, "ruwe": 1.01, "g_observations": 300.0, "g_flux_over_error": 2000.0}
FAR = DWARF | {"parallax": 0.1, "parallax_error": 0.1, "pm_ra": 0.5, "pm_dec": 0.2}


def gaia(*placed: tuple[float, float, dict[str, float]], epochs: tuple[float, float] = (2000.0, 2012.0)) -> SkyRecord:
    """A record of Gaia DR3 with sources at these offsets (arcseconds east and north)."""
    target = Target("", *POSITION, epochs)
    sources = [
        Source(f"id {number}", *on_sky(*POSITION, east, north), 0.0, values, {"type": "CV*"}, _CURVE)
        for number, (east, north, values) in enumerate(placed)
    ]
    return record_of(bundled()["gaia_dr3"], target, sources)


def silent(status: str) -> SkyRecord:
    return without_answer("gaia_dr3", Target("", *POSITION), status, "HTTP 500 of a service for AM Her")


_CURVE = LightCurve((1.0,), (15.0,), (0.1,), ("G",))


def calling_sky(**arguments: object) -> str:
    call = json.dumps({"name": "sky_context", "arguments": arguments})
    return f"<think>How luminous?</think>\n<tool_call>\n{call}\n</tool_call>"


class Catalogues:
    """Records by the SHA-256 of a spectrum, as a table has them."""

    catalogues = ("gaia_dr3",)

    def __init__(self, spectrum: Spectrum, sky: Sky) -> None:
        self.known = {spectrum.sha256: sky}

    def __call__(self, sha256: str) -> Sky:
        return self.known.get(sha256, Sky())


class Scripted:
    """Writes these turns and keeps what it was given."""

    def __init__(self, *turns: str, sky: object = None, measure: bool = False) -> None:
        self.turns, self.sky, self.measure, self.seen = turns, sky, measure, []
        self.drafter = Drafter("model", "scripted", {"sky": True} if sky is not None else {})

    def turn(self, conversation):
        self.seen.append(conversation)
        yield self.turns[len(conversation.exchanges)]
