"""A TAP service of a synthetic catalogue: a real HTTP server that reads the queries of ``agent.sky.tap``, and
misbehaves on demand in every way that a service can.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

import numpy as np
from astropy.io.votable import from_table, parse, writeto
from astropy.io.votable.tree import Info
from astropy.table import Table

from agent.sky.maps import QUANTITIES, CatalogueMap
from tests.support.cli import free_port

_QUERY = re.compile(
    r"SELECT t\.target_number, (?P<columns>.+) FROM TAP_UPLOAD\.targets AS t, (?P<table>\S+) AS c WHERE "
    r"1=CONTAINS\(POINT\('ICRS', c\.(?P<ra>\w+), c\.(?P<dec>\w+)\), "
    r"CIRCLE\('ICRS', t\.target_ra, t\.target_dec, (?P<radius>[\d.]+)\)\)(?P<rest>.*) ORDER BY target_number"
)
_MOTION = re.compile(
    r" AND \(3600\*DISTANCE\(.*?\)\) <= (?P<near>[\d.]+) OR .* \+ t\.years\*(?P<factor>[\d.e-]+)\*"
    r"SQRT\(c\.(?P<pm_ra>\w+)\*.*\+c\.(?P<pm_dec>\w+)\*.*\)\)"
)
_CONDITION = re.compile(r" AND c\.(?P<name>\w+) = (?P<value>\d+)")

Fault = Callable[["Reply", np.random.Generator], None]


@dataclass
class Reply:
    """An answer before it is sent; a fault changes it."""

    table: Table
    targets: int
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/x-votable+xml"})
    infos: list[tuple[str, str]] = field(default_factory=lambda: [("QUERY_STATUS", "OK")])
    binary: bool = True
    body: bytes | None = None
    shorten: int = 0
    is_held: bool = False
    is_reset: bool = False

    def content(self) -> bytes:
        if self.body is not None:
            return self.body
        document, out = from_table(self.table), BytesIO()
        document.resources[0].type = "results"
        for name, value in self.infos:
            info = Info(name=name, value=value)
            info.content = "said by the service"
            document.resources[0].infos.append(info)
        writeto(document, out, tabledata_format="binary2" if self.binary and len(self.table) else "tabledata")
        return out.getvalue()[: -self.shorten or None]


def catalogue_table(catalogue: CatalogueMap, ra: Any, dec: Any, **quantities: Any) -> Table:
    """Return the table that a map describes, with its canary as the last row; quantities that are not given are drawn,
    and columns that tell a class are there too.
    """
    assert catalogue.service is not None
    assert catalogue.service.canary is not None
    ra, dec = np.append(ra, catalogue.service.canary[0]), np.append(dec, catalogue.service.canary[1])
    rng, n = np.random.default_rng(len(ra)), len(ra)
    table = Table({catalogue.ra: ra, catalogue.dec: dec, "mode": np.ones(n, dtype=int)})
    for name in (catalogue.ra, catalogue.dec):
        table[name].unit = "deg"
    identifiers = 10**15 + np.arange(n)
    table[catalogue.id] = identifiers if catalogue.id in ("source_id", "objID", "OID") else identifiers.astype(str)
    for name, column in catalogue.columns.items():
        drawn = np.full(n, catalogue.epoch) if name == "epoch" else rng.uniform(10, 20, n)
        if name.startswith("pm_"):
            drawn = np.zeros(n)
        if name in quantities:
            drawn = np.append(quantities[name], drawn[-1])
        table[column.column] = (drawn - column.offset) / column.factor
        if QUANTITIES[name] and not column.offset and column.factor == 1:
            table[column.column].unit = QUANTITIES[name]
    for column_name in catalogue.texts.values():
        if column_name != catalogue.id:
            table[column_name] = [f"T{row}" for row in range(n)]
    for column_name in catalogue.class_bearing:
        table[column_name] = rng.integers(0, 9, n)
    return table


class FakeTap:
    """The service. ``requests`` are the targets of each query so far; ``fault`` changes the answers."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = dict(tables)
        self.requests: list[tuple[str, list[tuple[float, float]]]] = []
        self.agents: set[str] = set()
        self.fault: Fault | None = None
        self.rng = np.random.default_rng(0)
        self.most_rows = 10**6
        self.held = threading.Event()
        self.released = threading.Event()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/tap"

    def reply(self, query: str, upload: Table, url: str) -> Reply:
        matched = _QUERY.fullmatch(query)
        assert matched is not None, query
        catalogue, names = self.tables[matched["table"]], [name[2:] for name in matched["columns"].split(", ")]
        self.requests.append((matched["table"], list(zip(upload["target_ra"], upload["target_dec"], strict=True))))
        if missing := [name for name in names if name not in catalogue.colnames]:
            reply = Reply(Table({"none": [0]}), len(upload), 400, infos=[("QUERY_STATUS", "ERROR")])
            reply.body = reply.content().replace(b"said by the service", f"unknown column {missing[0]}".encode())
            return reply
        ra, dec = (np.radians(np.asarray(catalogue[matched[name]], dtype=float)) for name in ("ra", "dec"))
        rest = matched["rest"]
        motion, condition = _MOTION.match(rest), _CONDITION.search(rest)
        assert rest == "" or motion or condition, rest
        rows, numbers = [], []
        for target in upload:
            ra0, dec0 = np.radians(target["target_ra"]), np.radians(target["target_dec"])
            cos = np.sin(dec) * np.sin(dec0) + np.cos(dec) * np.cos(dec0) * np.cos(ra - ra0)
            sine = np.hypot(
                np.cos(dec) * np.sin(ra - ra0),
                np.sin(dec) * np.cos(dec0) - np.cos(dec) * np.sin(dec0) * np.cos(ra - ra0),
            )
            apart = np.degrees(np.arctan2(sine, cos))
            near = apart <= float(matched["radius"])
            if motion:
                speed = np.hypot(
                    *(np.ma.filled(catalogue[motion[name]].astype(float), np.nan) for name in ("pm_ra", "pm_dec"))
                )
                far = float(motion["near"]) + target["years"] * float(motion["factor"]) * speed
                near &= (apart * 3600 <= float(motion["near"])) | (apart * 3600 <= far)
            if condition:
                near &= np.asarray(catalogue[condition["name"]]) == int(condition["value"])
            rows += np.flatnonzero(near).tolist()
            numbers += [int(target["target_number"])] * int(near.sum())
        table = catalogue[rows][names]
        table.add_column(np.array(numbers, dtype=np.int32), name="target_number", index=0)
        reply = Reply(table, len(upload))
        if len(table) > self.most_rows:
            reply.table, reply.infos = table[: self.most_rows], [("QUERY_STATUS", "OVERFLOW")]
        if self.fault is not None:
            self.fault(reply, self.rng)
        return reply


@contextmanager
def serving(tables: Mapping[str, Table]) -> Iterator[FakeTap]:
    service = FakeTap(tables)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"content-type": "text/html"}, b"<html><body>Please log in</body></html>")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            message = BytesParser(policy=HTTP).parsebytes(
                b"content-type: " + self.headers["content-type"].encode() + b"\r\n\r\n" + body
            )
            parts = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
            upload = parse(BytesIO(parts["targets"].get_payload(decode=True))).get_first_table().to_table()
            service.agents.add(self.headers["user-agent"])
            reply = service.reply(str(parts["QUERY"].get_content()).strip(), upload, self.path)
            if reply.is_held:
                service.held.set()
                service.released.wait()
            if reply.is_reset:
                return
            self._send(reply.status, reply.headers, reply.content())

        def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"content-length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", service.port), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that has gone
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield service
    finally:
        service.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _column(reply: Reply, rng: np.random.Generator) -> str:
    return str(rng.choice([name for name in reply.table.colnames if name != "mode"]))


def _numeric(reply: Reply, rng: np.random.Generator) -> str:
    names = [name for name in reply.table.colnames if reply.table[name].unit is not None]
    return str(rng.choice(names))


def _status(reply: Reply, rng: np.random.Generator) -> None:
    reply.status = int(rng.choice([400, 401, 403, 404, 408, 410, 413, 429, 500, 501, 502, 503, 504, 507]))
    reply.body = [b"", b"<html>Sorry</html>", rng.bytes(200)][int(rng.integers(3))]
    if rng.random() < 0.5:
        reply.headers["retry-after"] = str(rng.choice(["0", "30", "86400", "Wed, 21 Oct 2099 07:28:00 GMT"]))


def _status_with_table(reply: Reply, rng: np.random.Generator) -> None:
    reply.status = int(rng.choice([400, 500, 503]))


def _held(reply: Reply, _: np.random.Generator) -> None:
    reply.is_held = True


def _reset(reply: Reply, _: np.random.Generator) -> None:
    reply.is_reset = True


def _html(reply: Reply, rng: np.random.Generator) -> None:
    reply.headers["content-type"] = str(rng.choice(["text/html", "application/x-votable+xml", "text/xml"]))
    reply.body = rng.choice(
        [b"<html><body>Maintenance</body></html>", b"<!DOCTYPE html>\n<html></html>", b"", b"a,b\n1,2\n"]
    )


def _redirect(reply: Reply, rng: np.random.Generator) -> None:
    reply.status, reply.body = int(rng.choice([301, 302, 303])), b""
    reply.headers["location"] = "/login"


def _promised_more(reply: Reply, rng: np.random.Generator) -> None:
    reply.headers["content-length"] = str(len(reply.content()) + int(rng.integers(1, 500)))


def _renamed(reply: Reply, rng: np.random.Generator) -> None:
    name = _column(reply, rng)
    reply.table.rename_column(name, f"{name}_{rng.integers(9)}")


def _missing(reply: Reply, rng: np.random.Generator) -> None:
    reply.table.remove_column(_column(reply, rng))


def _refused(reply: Reply, rng: np.random.Generator) -> None:
    reply.infos = [("QUERY_STATUS", "ERROR")]
    reply.status = int(rng.choice([200, 400]))


def _failed_late(reply: Reply, rng: np.random.Generator) -> None:
    reply.infos = [("QUERY_STATUS", "OK"), ("QUERY_STATUS", "ERROR")]


def _other_type(reply: Reply, rng: np.random.Generator) -> None:
    name = _numeric(reply, rng)
    reply.table[name] = [f"{value}h" for value in reply.table[name]]


def _other_unit(reply: Reply, rng: np.random.Generator) -> None:
    units = {"deg": ["rad", "arcsec", "mas"], "mas": ["arcsec", "deg"], "mas / yr": ["arcsec / yr", "mas"]}
    name = _numeric(reply, rng)
    reply.table[name].unit = str(rng.choice(units.get(str(reply.table[name].unit), ["Jy", "erg", "s"])))


def _overflow(reply: Reply, rng: np.random.Generator) -> None:
    reply.table = reply.table[: rng.integers(len(reply.table))]
    reply.infos = [("QUERY_STATUS", "OK"), ("QUERY_STATUS", "OVERFLOW")]


def _cut_rows(reply: Reply, rng: np.random.Generator) -> None:
    last = np.asarray(reply.table["target_number"]) == reply.targets - 1
    reply.table = reply.table[: max(0, int(np.argmax(last)) - int(rng.integers(3)))]


def _cut_bytes(reply: Reply, rng: np.random.Generator) -> None:
    reply.shorten = int(rng.integers(2, len(reply.content()) - 600))


def _empty(reply: Reply, _: np.random.Generator) -> None:
    reply.table = reply.table[:0]


def _without_canary(reply: Reply, _: np.random.Generator) -> None:
    reply.table = reply.table[np.asarray(reply.table["target_number"]) < reply.targets - 1]


def _far(reply: Reply, rng: np.random.Generator) -> None:
    name = reply.table.colnames[3] if rng.random() < 0.5 else reply.table.colnames[2]
    row = rng.integers(len(reply.table))
    reply.table[name][row] -= rng.choice([-1, 1]) * rng.uniform(0.2, 5)


def _not_sent(reply: Reply, rng: np.random.Generator) -> None:
    reply.table["target_number"][-1] = rng.choice([reply.targets, 10**6, -1])
    reply.table["target_number"][0] = -1 if reply.table["target_number"][-1] < 0 else 0


def _twice(reply: Reply, rng: np.random.Generator) -> None:
    row = rng.integers(len(reply.table))
    reply.table.insert_row(row, list(reply.table[row]))


def _no_position(reply: Reply, rng: np.random.Generator) -> None:
    reply.table[reply.table.colnames[int(rng.integers(2, 4))]][rng.integers(len(reply.table))] = np.nan


def _shuffled(reply: Reply, _: np.random.Generator) -> None:
    reply.table = reply.table[::-1]


def _other_table(reply: Reply, rng: np.random.Generator) -> None:
    reply.table = Table({"a": [1.0], "target_number": [0]})


def _garbage(reply: Reply, rng: np.random.Generator) -> None:
    reply.body = reply.content()[:400] + rng.bytes(300)


def _no_results(reply: Reply, _: np.random.Generator) -> None:
    reply.body = b'<?xml version="1.0"?><VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"></VOTABLE>'


FAULTS: dict[str, Fault] = {
    "HTTP status": _status,
    "HTTP status with a table": _status_with_table,
    "no answer in time": _held,
    "connection closed": _reset,
    "HTML": _html,
    "redirect to a login page": _redirect,
    "fewer bytes than promised": _promised_more,
    "column renamed": _renamed,
    "column missing": _missing,
    "query refused": _refused,
    "failed after the rows": _failed_late,
    "texts for numbers": _other_type,
    "other unit": _other_unit,
    "OVERFLOW": _overflow,
    "rows cut": _cut_rows,
    "bytes cut": _cut_bytes,
    "no rows": _empty,
    "no canary": _without_canary,
    "row outside the radius": _far,
    "target that was not sent": _not_sent,
    "row twice": _twice,
    "row without a position": _no_position,
    "other order": _shuffled,
    "other table": _other_table,
    "garbage": _garbage,
    "no results": _no_results,
}
"""Ways in which the service misbehaves. That it cannot be reached (refused, TLS) is a matter of its address."""
