"""Maps of catalogues: which column of which table is which quantity, one TOML file per catalogue and release.

Only mapped columns are ever read. ``agent = true`` says that a quantity may reach a policy; ``class_bearing`` lists
columns that tell a class, so that a test can change them all and compare what a policy gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from agent.language import deferred
from agent.settings_file import Flag, Mismatch, Number, Problem, Table, Text, load_toml, validate
from agent.sky.records import SkyError

FOLDER = Path(__file__).with_name("catalogues")

Role = Literal["astrometry", "photometry", "light curve", "names"]
"""``names``: identifiers and types that people gave; shown only after one's own verdict, never to a policy."""

MAGNITUDES = ("G", "BP", "RP", "u", "g", "r", "i", "z", "y", "J", "H", "Ks", "W1", "W2", "W3", "W4")
"""Quantities in magnitudes: Vega for Gaia, 2MASS and WISE, AB for the others. ``<name>_error`` is the 1σ error."""
QUANTITIES: Mapping[str, str] = {
    "parallax": "mas",
    "parallax_error": "mas",
    "pm_ra": "mas/yr",
    "pm_dec": "mas/yr",
    "pm_ra_error": "mas/yr",
    "pm_dec_error": "mas/yr",
    "ruwe": "",
    "bp_rp_excess": "",
    "g_observations": "",
    "g_flux_over_error": "",
    "epoch": "yr",
    **dict.fromkeys(MAGNITUDES, "mag"),
    **dict.fromkeys((f"{name}_error" for name in MAGNITUDES), "mag"),
}
"""Names and units of what a source can have. ``pm_ra`` has the factor cos δ; ``epoch`` is that of the source itself."""
AGENT_QUANTITIES = frozenset(QUANTITIES) - {"epoch"}


class Column(Table):
    """A column that is read.

    :param column: its name in the table; case does not matter
    :param factor: the values are multiplied by it to get the unit of ``QUANTITIES``; then ``offset`` is added
    :param missing: values that mean that there is none
    """

    column: Text
    factor: Number = 1.0
    offset: Number = 0.0
    missing: tuple[Number, ...] = ()
    agent: Flag = False


class Service(Table):
    """A TAP service that has the catalogue.

    :param canary: (ra, dec) in degrees at the epoch of the catalogue, of a source that it is known to have: a service
        that does not find it answers nothing, whatever it says
    """

    url: Annotated[str, Field(pattern="^https?://", description=deferred("an address with https://"))]
    table: Text
    canary: tuple[Number, Number] | None = None
    condition: Annotated[str, Field(description=deferred("a condition in ADQL"))] = ""


class CatalogueMap(Table):
    """One catalogue and release.

    :param epoch: Julian year of its positions, where sources have no ``epoch`` of their own
    :param position_error: 1σ in arcseconds of one coordinate, typical
    :param texts: name here to name of a column of texts, of a catalogue with the role "names" only
    :param citation: for the paper; ``licence`` of extracts
    """

    key: Annotated[str, Field(pattern="^[a-z0-9_]{2,40}$", description=deferred("lower-case letters, digits and _"))]
    title: Text
    role: Role
    epoch: Annotated[Number, Field(gt=1800, lt=2200)]
    position_error: Annotated[Number, Field(gt=0, lt=60)] = 0.1
    citation: Text
    licence: Text
    id: Text
    ra: Text = "ra"
    dec: Text = "dec"
    columns: Mapping[str, Column] = Field(default_factory=dict)
    texts: Mapping[str, Text] = Field(default_factory=dict)
    class_bearing: tuple[Text, ...] = ()
    service: Service | None = None

    @model_validator(mode="after")
    def _check(self) -> CatalogueMap:
        if unknown := sorted(self.columns.keys() - QUANTITIES.keys()):
            raise Mismatch(unknown[0], deferred("one of {names}", names=", ".join(QUANTITIES)), "columns")
        if self.texts and self.role != "names":
            raise Mismatch(deferred("a map with texts"), deferred('the role "names"'), "role")
        served = sorted(name for name, column in self.columns.items() if column.agent)
        if self.role == "names" and served:
            raise Mismatch(served[0], deferred("no quantity for the agent in a catalogue of names"), "columns")
        if hidden := [name for name in served if name not in AGENT_QUANTITIES]:
            raise Mismatch(hidden[0], deferred("a quantity that is not the agent's to see"), "columns")
        read = {column.lower() for column in self.columns_read}
        if both := sorted(column for column in self.class_bearing if column.lower() in read):
            raise Mismatch(both[0], deferred("no column that tells a class among those that are read"), "columns")
        return self

    @property
    def has_motion(self) -> bool:
        """Whether its sources have proper motions."""
        return "pm_ra" in self.columns and "pm_dec" in self.columns

    @property
    def columns_read(self) -> tuple[str, ...]:
        """Names of the columns that are read: identifier, position, quantities, texts."""
        mapped = [*(column.column for column in self.columns.values()), *self.texts.values()]
        return tuple(dict.fromkeys((self.id, self.ra, self.dec, *mapped)))

    def for_agent(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the quantities that may reach a policy."""
        return {name: values[name] for name, column in self.columns.items() if column.agent and name in values}


def _error(problem: Problem) -> SkyError:
    return SkyError(problem.sentence)


def read_map(path: Path) -> CatalogueMap:
    """Read one map. :raises SkyError: it cannot be read, or a field is missing, unknown or wrong"""
    return validate(CatalogueMap, load_toml(path, _error), str(path), _error)


@cache
def bundled() -> Mapping[str, CatalogueMap]:
    """Return the maps that come with the program, by key."""
    return {catalogue.key: catalogue for catalogue in map(read_map, sorted(FOLDER.glob("*.toml")))}


def known_maps(files: Iterable[Path] = ()) -> dict[str, CatalogueMap]:
    """Return the program's maps and those of ``files``, which replace maps of the same key.

    :raises SkyError: a file cannot be used
    """
    return {**bundled(), **{catalogue.key: catalogue for catalogue in map(read_map, files)}}
