"""SAMP (IVOA SAMP 1.3): the hub on this machine, the tables that go to other programs, and those that come from them.

The page is the SAMP client. Where app and browser share a machine, ``HubLink`` passes its calls on to the hub by the
Standard Profile; elsewhere the page speaks to the hub of its own machine (Web Profile). The extra ``samp`` is needed
for the link only.
"""

from __future__ import annotations

import io
import re
import secrets
import threading
import xmlrpc.client
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from agent.errors import Refusal
from agent.language import tr
from agent.spectrum import SpectrumError
from agent.spectrum.objects import ID_KEYS, Identity, identity_of, objects
from agent.spectrum.readers.votable import tables_of
from agent.table_files import Column, TableData, votable
from reviewer.store import QueueRow

MOST_WAITING = 200
"""Messages that wait for the page; older ones are dropped."""
DEEPEST = 8
"""Lists and maps of a message that are inside each other."""
LARGEST_FILE = 100_000_000
"""Bytes of a table or a spectrum that another program sends."""
ITEM = "spec_o3_item"
"""Column of our tables with the number of the item."""

_COLUMNS = (
    Column(ITEM, int, "Number of the item", "meta.id"),
    Column("name", str, "File of the spectrum", "meta.id;meta.main"),
    Column("task", str, "Class in question", "meta.code"),
    Column("survey", str, "Survey", "meta.id;instr"),
    Column("state", str, "State of the review", "meta.code.status"),
    Column("batch", str, "Import", "meta.id"),
    Column("ra", float, "Right ascension, ICRS", "pos.eq.ra;meta.main", "deg"),
    Column("dec", float, "Declination, ICRS", "pos.eq.dec;meta.main", "deg"),
    Column("snr", float, "Signal-to-noise ratio per pixel, the median over the spectrum", "stat.snr"),
)

_RA = re.compile(r"_?ra(j2000|_?icrs|_?deg|_?ep2000)?|alpha(_?j2000)?", re.IGNORECASE)
_DEC = re.compile(r"_?dec?(j2000|_?icrs|_?deg|_?ep2000)?|decl?|delta(_?j2000)?", re.IGNORECASE)
_NAME = re.compile(r"name|object|objname|main_?id|target(_?name)?", re.IGNORECASE)


class SampProblem(Refusal):
    """There is no hub, or it does not answer as a hub does."""

    kind = "samp"
    status = 409


class HubLink:
    """The registration of a page with the hub of this machine. A new page ends the registration of the last.

    Calls have the names and arguments of the Web Profile (SAMP 1.3, section 5).
    """

    def __init__(self) -> None:
        self._client: Any = None
        self._key = ""
        self._messages: deque[dict[str, Any]] = deque(maxlen=MOST_WAITING)
        self.urls: deque[str] = deque(maxlen=MOST_WAITING)
        """Of the files that programs have sent."""
        self._lock = threading.Lock()

    def call(self, method: str, arguments: Sequence[Any]) -> Any:
        """Pass a call on and return the hub's answer.

        :param arguments: first the private key, as ``register`` returned it
        :raises SampProblem: no hub runs, it refuses, or the page is not registered
        """
        from pyvo.samp import SAMPHubError, SAMPProxyError

        with self._lock:
            try:
                if method == "register":
                    return self._register()
                if self._client is None or arguments[:1] != [self._key]:
                    raise SampProblem(tr("This page is not connected with the SAMP hub any more."))
                if method == "unregister":
                    return self.close()
                if method == "pullCallbacks":
                    return [self._messages.popleft() for _ in range(len(self._messages))]
                name = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", method)
                return getattr(self._client.hub, name)(self._client.get_private_key(), *arguments[1:])
            except (SAMPProxyError, TypeError) as error:
                raise SampProblem(tr("The SAMP hub refuses: {why}", why=str(error))) from None
            except (SAMPHubError, xmlrpc.client.Error, OSError) as error:
                self.close()
                raise SampProblem(tr("The SAMP hub does not answer: {error}", error=str(error))) from None

    def _register(self) -> dict[str, str]:
        from pyvo.samp import SAMPClient, SAMPHubError, SAMPHubProxy, conf

        messages, urls = self._messages, self.urls

        class Client(SAMPClient):  # type: ignore[misc]
            """Keeps messages for the page. The library's own handlers would answer, also with environment variables."""

            def receive_notification(self, private_key: str, *message: Any) -> str:
                return self._keep(private_key, "receiveNotification", message)

            def receive_call(self, private_key: str, *message: Any) -> str:
                return self._keep(private_key, "receiveCall", message)

            def _keep(self, private_key: str, method: str, message: Sequence[Any]) -> str:
                if private_key == self.get_private_key():  # only the hub knows it
                    parts = _texts(list(message))
                    messages.append({"samp.methodName": f"samp.client.{method}", "samp.params": parts})
                    parameters = parts[-1].get("samp.params") if isinstance(parts[-1], dict) else None
                    if isinstance(parameters, dict) and isinstance(parameters.get("url"), str):
                        urls.append(parameters["url"])
                return ""

        self.close()
        hub = SAMPHubProxy()
        try:
            hub.connect()
        except (SAMPHubError, KeyError):
            raise SampProblem(
                tr("No SAMP hub is running. Start TOPCAT, Aladin or another program with a hub, and connect again.")
            ) from None
        with conf.set_temp("use_internet", False):  # it would open google.com to learn this machine's name
            client = Client(hub, name="Spec-o3", addr="127.0.0.1")
        client.start()
        self._client = client
        client.register()
        self._key = secrets.token_urlsafe(24)
        ids = {"samp.self-id": client.get_public_id(), "samp.hub-id": client._hub_id}
        return {"samp.private-key": self._key, **ids}

    def close(self) -> None:
        """End the registration, if there is one."""
        client, self._client = self._client, None
        self._messages.clear()
        if client is None:
            return
        with suppress(Exception):  # of a hub that has gone
            client.unregister()
        client.stop()
        client.hub.disconnect()


def _texts(value: Any, depth: int = 0) -> Any:
    """Return a value as SAMP allows it: maps, lists and texts. XML-RPC could bring dates and numbers."""
    if isinstance(value, dict | list) and depth > DEEPEST:
        return ""
    if isinstance(value, dict):
        return {str(key): _texts(each, depth + 1) for key, each in value.items()}
    return [_texts(each, depth + 1) for each in value] if isinstance(value, list) else str(value)


def table_of(rows: Iterable[QueueRow], identities: Mapping[str, Identity]) -> bytes:
    """Return items as a VOTable, with the positions that their spectra state (degrees, ICRS).

    :param identities: by the SHA-256 of the spectrum
    """
    file = io.BytesIO()
    values = [(row, identities.get(row.spectrum_sha256 or "", Identity())) for row in rows]
    votable(TableData("items", "Items of Spec-o3", _COLUMNS, values, _value)).to_xml(file, tabledata_format="binary")
    return file.getvalue()


def _value(pair: tuple[QueueRow, Identity], column: str) -> Any:
    row, identity = pair
    return row.item_id if column == ITEM else getattr(identity if column in ("ra", "dec") else row, column)


def items_of(
    name: str, file: BinaryIO, rows: Sequence[QueueRow], identities: Mapping[str, Identity]
) -> list[int | None]:
    """Return the item of each row of a VOTable: that whose number and name it has, else the first of the same object
    (``agent.spectrum.objects``); None where no item is.

    :param rows: the items to choose from
    :raises SpectrumError: the file is no VOTable, or has neither names nor positions
    """
    raw = file.read(LARGEST_FILE + 1)
    tables = tables_of(name, raw) if len(raw) <= LARGEST_FILE else []
    if not tables:
        raise SpectrumError(
            name,
            tr("no table, or one of more than {size} MB", size=LARGEST_FILE // 10**6),
            tr("a VOTable with rows"),
        )
    theirs = tables[0]
    columns = {str(field.name or field.ID): theirs.array[field.ID] for field in theirs.fields}
    ucds = {str(field.name or field.ID): str(field.ucd or "").lower() for field in theirs.fields}

    def column(ucd: str, named: re.Pattern[str]) -> Any:
        by_ucd = (key for key in columns if ucds[key].startswith(ucd) and "meta.main" in ucds[key])
        key = next(by_ucd, None) or next(filter(named.fullmatch, columns), None)
        return None if key is None else columns[key]

    ra, dec, names = column("pos.eq.ra", _RA), column("pos.eq.dec", _DEC), column("meta.id", _NAME)
    ids = {key.lower(): values for key, values in columns.items() if key.lower() in ID_KEYS}
    ids |= {} if names is None else {"object": names}
    if not ids and (ra is None or dec is None):
        raise SpectrumError(
            name,
            tr("a table with the columns {columns}", columns=", ".join(columns)[:200]),
            tr("columns with positions (ra, dec) or names"),
        )
    length = len(theirs.array)
    of_rows = [{key: str(values[row]) for key, values in ids.items()} for row in range(length)]
    theirs_known = [
        identity_of("", texts, *place) for texts, place in zip(of_rows, _degrees(ra, dec, length), strict=True)
    ]
    ours = [identities.get(row.spectrum_sha256 or "", Identity()) for row in rows]
    groups = objects([*ours, *theirs_known]).tolist()
    first: dict[int, int] = {}
    for row, known, group in zip(rows, ours, groups[: len(rows)], strict=True):
        if known.is_known:
            first.setdefault(group, row.item_id)
    by_number: dict[tuple[int | None, str], int] = {(row.item_id, row.name): row.item_id for row in rows}
    numbers = columns.get(ITEM, [None] * length)
    return [
        by_number.get((_whole(number), texts.get("object", ""))) or first.get(group)
        for number, texts, group in zip(numbers, of_rows, groups[len(rows) :], strict=True)
    ]


def _degrees(ra: Any, dec: Any, length: int) -> list[tuple[float | None, float | None]]:
    """Return positions (n); (None, None) where there is none."""
    if ra is None or dec is None:
        return [(None, None)] * length
    try:
        values = np.ma.filled(np.ma.asarray([ra, dec], np.float64), np.nan)
    except (TypeError, ValueError):  # sexagesimal text
        return [(None, None)] * length
    known = np.isfinite(values).all(axis=0) & (values[0] >= 0) & (values[0] < 360) & (np.abs(values[1]) <= 90)
    return [(float(ra), float(dec)) if valid else (None, None) for ra, dec, valid in zip(*values, known, strict=True)]


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
