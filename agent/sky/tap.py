"""Catalogues of TAP services: one upload of positions per batch, and every way in which a service does not answer.

The upload ends with the catalogue's canary, and the rows come in the order of the upload: an answer without the canary
as the last target is empty for a wrong reason, or was cut.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import tr
from agent.sky.columns import NoAnswer, Rows, rows_of
from agent.sky.maps import CatalogueMap, Service
from agent.sky.matching import Target, distances, reach
from agent.sky.records import RADIUS, SkyError, Source
from agent.text import one_line

FASTEST = 10.4
"""arcsec/yr, of Barnard's star (Gaia DR3 4472832130942575872): no star outside the solar system moves faster."""
CAMPAIGN = 12.0
"""Years within which a survey observed the sources that have an epoch of their own."""
SLACK = 0.01
"""Arcseconds by which a service's separation may differ from ours."""
MOST_ROWS = 200_000
MOST_BYTES = 2**29


class Overflow(NoAnswer):
    """The service has more rows than it returns: fewer targets may fit."""


@dataclass(frozen=True)
class Manners:
    """How a service is treated. Times in seconds.

    :param pause: between two requests of one service
    :param tries: of a request that the service refused for now, or that did not arrive
    :param first_wait: before the second try; it doubles each time up to ``longest_wait``, which also bounds the
        service's Retry-After
    """

    pause: float = 1.0
    timeout: float = 300.0
    tries: int = 4
    first_wait: float = 2.0
    longest_wait: float = 120.0


def radius_of(catalogue: CatalogueMap, targets: Sequence[Target]) -> float:
    """Return the radius in arcseconds within which the catalogue's position of a source can be that has come, or will
    come, within ``RADIUS`` of one of the targets.
    """
    if catalogue.has_motion:
        return RADIUS + max(reach(target, catalogue.epoch, FASTEST) for target in targets)
    years = CAMPAIGN if "epoch" in catalogue.columns else 1.0
    return RADIUS + max(math.hypot(*target.motion) / 1000 * years for target in targets)


def adql(catalogue: CatalogueMap, service: Service, radius: float) -> str:
    """Return the query: sources within ``radius`` arcseconds of the uploaded targets; where the catalogue has proper
    motions, only those that can come within ``RADIUS`` by their own.

    The join is written with a comma, which every service takes; IRSA takes no other.
    """
    point = f"POINT('ICRS', c.{catalogue.ra}, c.{catalogue.dec})"
    center = "t.target_ra, t.target_dec"
    conditions = [f"1=CONTAINS({point}, CIRCLE('ICRS', {center}, {radius / 3600:.9f}))"]
    if catalogue.has_motion:
        apart = f"3600*DISTANCE({point}, POINT('ICRS', {center}))"
        ra, dec = (f"c.{catalogue.columns[name].column}" for name in ("pm_ra", "pm_dec"))
        factor = catalogue.columns["pm_ra"].factor / 1000
        # Without a motion the second condition is neither true nor false.
        conditions.append(
            f"({apart} <= {RADIUS:g} OR {apart} <= {RADIUS:g} + t.years*{factor:g}*SQRT({ra}*{ra}+{dec}*{dec}))"
        )
    conditions += [service.condition] if service.condition else []
    columns = ", ".join(f"c.{name}" for name in catalogue.columns_read)
    return (
        f"SELECT t.target_number, {columns} FROM TAP_UPLOAD.targets AS t, {service.table} AS c "
        f"WHERE {' AND '.join(conditions)} ORDER BY target_number"
    )


class TapClient:
    """Asks services, one request at a time."""

    def __init__(self, manners: Manners = Manners()) -> None:
        self.manners = manners
        self._last: dict[str, float] = {}

    def sources(self, catalogue: CatalogueMap, targets: Sequence[Target]) -> tuple[list[list[Source]], str]:
        """Return the sources near each target and the query.

        :raises NoAnswer: the service did not answer, or its answer is not one; ``Overflow`` if it is cut
        :raises SkyError: pyvo is not installed, or the map names no service or no canary
        """
        service = catalogue.service
        if service is None or service.canary is None:
            raise SkyError(tr("{key}: found no service with a canary in the map; give a file", key=catalogue.key))
        canary = Target("canary", *service.canary, epochs=(catalogue.epoch, catalogue.epoch))
        sent = [*targets, canary]
        radius = radius_of(catalogue, sent)
        query = adql(catalogue, service, radius)
        numbers, rows = self._rows(catalogue, service, query, sent)
        _check(catalogue, sent, numbers, rows, radius)
        near: list[list[Source]] = [[] for _ in sent]
        for row, number in enumerate(numbers.tolist()):
            near[number].append(rows.source(row))
        return near[:-1], query

    def _rows(
        self, catalogue: CatalogueMap, service: Service, query: str, sent: Sequence[Target]
    ) -> tuple[NDArray[np.int64], Rows]:
        table = _answer(self._body(service.url, query, _upload(catalogue, sent)))
        columns = {name: table[name] for name in table.colnames}
        units = {name: table[name].unit for name in table.colnames}
        rows = rows_of(catalogue, columns, units)
        numbers = next((of for name, of in columns.items() if name.lower() == "target_number"), None)
        if numbers is None or np.ma.asarray(numbers).dtype.kind not in "iu" or np.ma.is_masked(numbers):
            raise NoAnswer("found no column target_number with whole numbers; expected those of the upload")
        return np.asarray(numbers, dtype=np.int64), rows

    def _body(self, url: str, query: str, upload: Any) -> bytes:
        """Return the body of the answer. :raises NoAnswer: there is none, or the service says that it failed"""
        import requests
        from pyvo.dal import TAPQuery

        wait = self._last.get(url, -np.inf) + self.manners.pause - time.monotonic()
        time.sleep(max(0.0, wait))
        try:
            job = TAPQuery(url, query, maxrec=MOST_ROWS, uploads={"targets": upload}, session=self._session)
            with job.submit() as response:
                body = b"".join(_bounded(response))
        except requests.RequestException as error:
            raise NoAnswer(_why(error)) from error
        finally:
            self._last[url] = time.monotonic()
        is_votable = b"<VOTABLE" in body[:5000] or b":VOTABLE" in body[:5000]
        if response.status_code >= 400 and not is_votable:
            raise NoAnswer(f"the service answered HTTP {response.status_code} {response.reason}")
        if not is_votable:
            kind = response.headers.get("content-type", "no type")
            way = f" after a redirect to {response.url}" if response.history else ""
            raise NoAnswer(f"the service answered {kind}{way}, expected a VOTable: {one_line(repr(body[:200]), 60)}")
        if response.status_code >= 400:
            _answer(body)  # has the reason
            raise NoAnswer(f"the service answered HTTP {response.status_code} {response.reason} with a table")
        return body

    @cached_property
    def _session(self) -> Any:
        try:
            from pyvo.utils.http import create_session
        except ImportError as error:
            raise SkyError(
                tr("pyvo is not installed, with which services are asked; expected: {command}", command=INSTALL)
            ) from error
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        manners = self.manners

        class Adapter(HTTPAdapter):
            def send(self, *args: Any, **settings: Any) -> Any:
                return super().send(*args, **settings | {"timeout": (min(30.0, manners.timeout), manners.timeout)})

        retry = Retry(
            manners.tries - 1,
            read=1,
            allowed_methods=None,  # a query changes nothing
            status_forcelist=(408, 429, 500, 502, 503, 504),
            backoff_factor=manners.first_wait,
            backoff_max=manners.longest_wait,
            retry_after_max=int(manners.longest_wait),
            raise_on_status=False,
        )
        session = create_session()
        session.headers["User-Agent"] = f"spec-o3/{_version('spec-o3')} pyvo/{_version('pyvo')}"
        for scheme in ("http://", "https://"):
            session.mount(scheme, Adapter(max_retries=retry))
        return session


INSTALL = 'pip install "spec-o3[sky]"'


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "0"


def _bounded(response: Any) -> Any:
    size = 0
    for chunk in response.iter_content(2**16):
        size += len(chunk)
        if size > MOST_BYTES:
            raise NoAnswer(f"the service answered more than {MOST_BYTES >> 20} MB, expected some rows per target")
        yield chunk


def _why(error: Exception) -> str:
    """Return in one sentence why a request failed: the innermost reason."""
    reason = getattr(error.args[0], "reason", error.args[0]) if error.args else error
    return f"the service could not be reached ({type(error).__name__}): {one_line(str(reason), 200)}"


def _upload(catalogue: CatalogueMap, sent: Sequence[Target]) -> Any:
    from astropy.table import Table

    return Table(
        {
            "target_number": np.arange(len(sent), dtype=np.int32),
            "target_ra": [target.ra for target in sent],
            "target_dec": [target.dec for target in sent],
            "years": [reach(target, catalogue.epoch, 1.0) for target in sent],
        }
    )


def _answer(body: bytes) -> Any:
    """Return the table of an answer. :raises NoAnswer: it is no VOTable, is cut, or says that the query failed"""
    from astropy.io.votable import parse

    try:
        with warnings.catch_warnings(action="ignore"):
            document = parse(BytesIO(body), verify="ignore")
            results = next((each for each in document.resources if each.type == "results"), None)
            stated = [*document.infos, *(results.infos if results else ())]
            tables = list(results.tables) if results else []
            stated += [info for table in tables for info in table.infos]
            states = [(str(info.value).upper(), info) for info in stated if info.name == "QUERY_STATUS"]
            if failure := next((info for state, info in states if state not in ("OK", "OVERFLOW")), None):
                raise NoAnswer(f"the service refused the query: {one_line(str(failure.content or failure.value), 200)}")
            if any(state == "OVERFLOW" for state, _ in states):
                raise Overflow("the service has more rows than it returns (OVERFLOW)")
            if not tables:
                raise NoAnswer("found a VOTable without results, expected a table")
            return tables[0].to_table(use_names_over_ids=True)
    except NoAnswer:
        raise
    except Exception as error:  # astropy raises many kinds, of expat and of its own
        raise NoAnswer(f"found a damaged VOTable ({one_line(str(error), 120)})") from error


def _check(
    catalogue: CatalogueMap, sent: Sequence[Target], numbers: NDArray[np.int64], rows: Rows, radius: float
) -> None:
    """:raises NoAnswer: the rows are not those that were asked for"""
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(sent)):
        raise NoAnswer(f"found a row of target {numbers.max()}, which was not sent; expected 0 to {len(sent) - 1}")
    if not (np.isfinite(rows.ra).all() and np.isfinite(rows.dec).all()):
        raise NoAnswer("found a row without a position")
    if (np.diff(numbers) < 0).any():
        raise NoAnswer("found rows in another order than asked for, which hides whether some are missing")
    if not (numbers == len(sent) - 1).any():
        raise NoAnswer("found nothing at a position where the catalogue has a source: the answer is empty or was cut")
    if len({*zip(numbers.tolist(), rows.ids, rows.ra.tolist(), rows.dec.tolist(), strict=True)}) < len(numbers):
        raise NoAnswer("found a row twice")
    ra, dec = (np.array([getattr(target, name) for target in sent])[numbers] for name in ("ra", "dec"))
    allowed = np.full(len(numbers), radius)
    if catalogue.has_motion:
        years = np.array([reach(target, catalogue.epoch, 1.0) for target in sent])[numbers]
        allowed = np.minimum(radius, RADIUS + years * rows.speed)
    farthest = (distances(ra, dec, rows.ra, rows.dec) - allowed).max(initial=0)
    if farthest > SLACK:
        raise NoAnswer(f"found a row {farthest:.3g}″ outside the radius that was asked for")
