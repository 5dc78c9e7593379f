"""The tables of a catalogue as files: CSV, VOTable, FITS, and the machine-readable forms of CDS and AAS.

All hold the same numbers. Of text, FITS and the last two hold ASCII alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.table_files import TableData, ascii_text, fits_table, printable, table_of, votable, write, write_votable
from reviewer.catalogue.facts import Json
from reviewer.catalogue.objects import FLAGS, LEFT_OUT, SPECTRA, Numbered, Rows

if TYPE_CHECKING:
    from astropy.table import Table

CDS = "cds"


def write_tables(rows: Rows, folder: Path, abstract: str, description: str) -> None:
    """Write every table to ``folder``.

    :param abstract: of the ReadMe of CDS, and ``description`` too
    """
    title = rows.facts.campaign["title"]
    main = TableData("objects", title, rows.columns, rows.rows, Json.__getitem__)
    spectra = TableData("spectra", "All spectra of the objects", SPECTRA, rows.spectra, Json.__getitem__)
    left_out = TableData("left_out", "Selected items that are no rows", LEFT_OUT, rows.left_out, Json.__getitem__)
    write(main, folder / "catalogue.csv", ".csv")
    write(spectra, folder / "spectra.csv", ".csv")
    write(left_out, folder / "left_out.csv", ".csv")
    _votable(rows, (main, spectra), folder / "catalogue.vot")
    _fits(rows, (main, spectra), folder / "catalogue.fits")
    _cds(rows, (main, spectra), folder / CDS, abstract, description)
    _aas(rows, main, folder / "catalogue_mrt.txt")


def _flag_notes() -> list[str]:
    return [f"{flag} = {meaning}" for flag, meaning in FLAGS.items()]


def _provenance(rows: Rows) -> dict[str, str]:
    campaign = rows.facts.campaign
    view = campaign["selection"]["view"]
    return {
        "title": campaign["title"],
        "creator": "; ".join(campaign["authors"]),
        "rights": campaign["licence"],
        "class": campaign["task"]["title"],
        "selection": f"view {view['name']}" if view else "all items of the class",
        "decided_until": campaign["decided_until"],
        **{f"version_{name}": text for name, text in campaign["versions"].items()},
        **{f"flag_{flag}": meaning for flag, meaning in FLAGS.items()},
    }


def _votable(rows: Rows, tables: Sequence[TableData], path: Path) -> None:
    """Write a VOTable 1.4 with COOSYS and TIMESYS, to which the columns of positions and dates refer."""
    from astropy.io.votable.tree import CooSys, Info, TimeSys

    file = votable(tables[0])
    (resource,) = file.resources
    resource.tables.extend(votable(data).get_first_table() for data in tables[1:])
    for name, text in _provenance(rows).items():
        if text:
            resource.infos.append(Info(name=name, value=printable(text)))
    resource.coordinate_systems.append(CooSys(ID="icrs", system="ICRS"))
    config = {"version": "1.4", "version_1_4_or_later": True}
    times = TimeSys(ID="mjd", timescale="UTC", refposition="UNKNOWN", timeorigin=2_400_000.5, config=config)
    resource.time_systems.append(times)
    for table in resource.tables:
        for field in table.fields:
            field.ID = f"{table.ID}_{field.name}"  # an ID is unique in the file
            if field.name in ("RAdeg", "DEdeg"):
                field.ref = "icrs"
            elif field.name == "MJD":
                field.ref = "mjd"
    write_votable(file, path)


def _fits(rows: Rows, tables: Sequence[TableData], path: Path) -> None:
    from astropy.io.fits import HDUList, PrimaryHDU

    first = PrimaryHDU()
    for name, text in _provenance(rows).items():
        first.header["HISTORY"] = ascii_text(f"{name}: {text}")
    hdus = [fits_table(data) for data in tables]
    hdus[0].header["RADESYS"] = "ICRS"
    for hdu in hdus:
        hdu.header["TIMESYS"] = "UTC"
    HDUList([first, *hdus]).writeto(path, output_verify="exception", checksum=False)


def _ascii_table(data: TableData) -> Table:
    """Return a table of astropy with the decimals of each column, for the fixed widths of CDS and AAS."""
    table = table_of(data, ascii_text)
    for column in data.columns:
        table[column.name].description = ascii_text(column.description)
        if column.kind is float:
            table[column.name].format = f".{column.decimals}f"  # type: ignore[attr-defined]
    return table


def _fortran(column: Numbered, values: Sequence[Any]) -> str:
    """Return the format of a column: its width is that of its longest value."""
    known = [value for value in values if value is not None]
    if column.kind is str:
        return f"A{max((len(ascii_text(value)) for value in known), default=0) or 1}"
    if column.kind is int:
        return f"I{max((len(str(value)) for value in known), default=1)}"
    widths = (len(f"{value:.{column.decimals}f}") for value in known)
    return f"F{max(widths, default=column.decimals + 2)}.{column.decimals}"


def _cds(rows: Rows, tables: Sequence[TableData], folder: Path, abstract: str, description: str) -> None:
    """Write the tables and the ReadMe of CDS (vizier.cds.unistra.fr/doc/catstd.htx), by cdspyreadme."""
    import cdspyreadme

    folder.mkdir()
    maker = cdspyreadme.CDSTablesMaker(outfolder=str(folder), license=ascii_text(rows.facts.campaign["licence"]))
    maker.title = ascii_text(rows.facts.campaign["title"])
    authors = [ascii_text(author) for author in rows.facts.campaign["authors"]] or ["Authors ?"]
    maker.author, maker.authors = authors[0], ", ".join(authors)
    maker.date = rows.facts.campaign["decided_until"][:4] or "?"
    maker.keywords = "Spectroscopy ; Surveys"
    maker.abstract, maker.more_description = ascii_text(abstract), ascii_text(description)
    for data, name in zip(tables, ("catalog.dat", "spectra.dat"), strict=True):
        entry = maker.addTable(_ascii_table(data), name=name, description=ascii_text(data.description))
        for column in data.columns:
            values = [row[column.name] for row in data.rows]
            entry.get_column(column.name).set_format(_fortran(column, values))  # type: ignore[arg-type]
        if name == "catalog.dat":
            entry.notes = ["Note on Flags:", *(f"    {note}" for note in _flag_notes())]
    maker.writeCDSTables()
    template = Path(cdspyreadme.__file__).with_name("ReadMe.template")
    maker.setReadmeTemplate(str(template), {"today": rows.facts.campaign["decided_until"][:10]})
    maker.makeReadMe()


def _aas(rows: Rows, data: TableData, path: Path) -> None:
    """Write the machine-readable table of the AAS (journals.aas.org/mrt-standards), by astropy."""
    table = _ascii_table(data)
    table.write(path, format="ascii.mrt", overwrite=True)
