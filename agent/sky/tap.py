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
from importlib import metadata
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
"""arcsec/yr, of Barnard's star (Gaia DR3 4472832130942575872): no other star moves faster."""
CAMPAIGN = 12.0
"""Years within which a survey observed the sources that have an epoch of their own."""
SLACK = 0.01
"""Arcseconds by which a service's separation may differ from ours."""
MOST_ROWS = 200_000


class Overflow(NoAnswer):
    """The service has more rows than it returns: fewer targets may fit."""


@dataclass(frozen=True)
class Manners:
    """How a service is treated; times in seconds.

    :param pause: between two requests of one service
    :param tries: of a request that did not arrive or was refused for now
    :param first_wait: before the second try; it doubles up to ``longest_wait``, which also bounds Retry-After
    """

    pause: float = 1.0
    timeout: float = 300.0
    tries: int = 4
    first_wait: float = 2.0
    longest_wait: float = 120.0


def radius_of(catalogue: CatalogueMap, targets: Sequence[Target]) -> float:
    """Return the radius in arcseconds around the targets that has, at the catalogue's epoch, every source that comes
    within ``RADIUS`` of one of them.
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
    point, center = f"POINT('ICRS', c.{catalogue.ra}, c.{catalogue.dec})", "t.target_ra, t.target_dec"
    conditions = [f"1=CONTAINS({point}, CIRCLE('ICRS', {center}, {radius / 3600:.9f}))"]
    if catalogue.has_motion:
        apart = f"3600*DISTANCE({point}, POINT('ICRS', {center}))"
        ra, dec = (f"c.{catalogue.columns[name].column}" for name in ("pm_ra", "pm_dec"))
        moves = f"t.years*{catalogue.columns['pm_ra'].factor / 1000:g}*SQRT({ra}*{ra}+{dec}*{dec})"
        # Without a motion the second condition is neither true nor false.
        conditions.append(f"({apart} <= {RADIUS:g} OR {apart} <= {RADIUS:g} + {moves})")
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

    def sources(self, catalogue: CatalogueMap, targets: Sequence[Target]) -> tuple[list[list[Source] | None], str]:
        """Return the sources near each target (never None), and the query.

        :raises NoAnswer: the service did not answer, or its answer is not one; ``Overflow`` if it is cut
        :raises SkyError: pyvo is not installed, or the map names no service or no canary
        """
        service = catalogue.service
        if service is None or service.canary is None:
            raise SkyError(tr("{key}: found no service with a canary in the map; give a file", key=catalogue.key))
        sent = [*targets, Target("canary", *service.canary, epochs=(catalogue.epoch, catalogue.epoch))]
        years = np.array([reach(target, catalogue.epoch, 1.0) for target in sent])
        ra, dec = np.array([(target.ra, target.dec) for target in sent]).T
        upload = {
            "target_number": np.arange(len(sent), dtype=np.int32),
            "target_ra": ra,
            "target_dec": dec,
            "years": years,
        }
        radius = radius_of(catalogue, sent)
        query = adql(catalogue, service, radius)
        table = _table_in(self._body(service.url, query, upload))
        rows = rows_of(catalogue, dict(table.columns), {name: table[name].unit for name in table.colnames})
        numbers = _numbers_in(table, len(sent))
        _check(numbers, rows, len(sent))
        allowed = np.full(len(numbers), radius)
        if catalogue.has_motion:
            allowed = np.minimum(radius, RADIUS + years[numbers] * rows.speed)
        excess = (distances(ra[numbers], dec[numbers], rows.ra, rows.dec) - allowed).max()
        if excess > SLACK:
            raise NoAnswer(f"found a row {excess:.3g}″ outside the radius that was asked for")
        near: list[list[Source]] = [[] for _ in sent]
        for row, number in enumerate(numbers.tolist()):
            near[number].append(rows.source(row))
        return [*near[:-1]], query

    def _body(self, url: str, query: str, upload: dict[str, Any]) -> bytes:
        """Return the body of an answer. :raises NoAnswer: there is none, or it is no VOTable"""
        session = self._session
        import requests
        from astropy.table import Table
        from pyvo.dal import TAPQuery

        time.sleep(max(0.0, self._last.get(url, -math.inf) + self.manners.pause - time.monotonic()))
        try:
            job = TAPQuery(url, query, maxrec=MOST_ROWS, uploads={"targets": Table(upload)}, session=session)
            answer = job.submit()
            body: bytes = answer.content
        except requests.RequestException as error:
            reason = getattr(error.args[0], "reason", error.args[0]) if error.args else error
            text = f"the service could not be reached ({type(error).__name__}): {one_line(str(reason), 200)}"
            raise NoAnswer(text) from error
        finally:
            self._last[url] = time.monotonic()
        is_votable = b"VOTABLE" in body[:5000]
        if answer.status_code >= 400:
            if is_votable:
                _table_in(body)  # says why
            raise NoAnswer(f"the service answered HTTP {answer.status_code} {answer.reason}")
        if not is_votable:
            kind = answer.headers.get("content-type", "no type")
            way = f" after a redirect to {answer.url}" if answer.history else ""
            raise NoAnswer(f"the service answered {kind}{way}, expected a VOTable: {one_line(repr(body[:200]), 60)}")
        return body

    @cached_property
    def _session(self) -> Any:
        try:
            from pyvo.utils.http import create_session
        except ImportError as error:
            raise SkyError(tr('found no pyvo, which asks services; expected: pip install "spec-o3[sky]"')) from error
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
        session.headers["User-Agent"] = " ".join(f"{name}/{metadata.version(name)}" for name in ("spec-o3", "pyvo"))
        for scheme in ("http://", "https://"):
            session.mount(scheme, Adapter(max_retries=retry))
        return session


def _table_in(body: bytes) -> Any:
    """Return the table of an answer. :raises NoAnswer: it is no VOTable, is cut, or says that the query failed"""
    from astropy.io.votable import parse

    try:
        with warnings.catch_warnings(action="ignore"):
            document = parse(BytesIO(body), verify="ignore")
            results = [each for each in document.resources if each.type == "results"]
            tables = [table for each in results for table in each.tables]
            infos = [info for part in (document, *results, *tables) for info in part.infos]
            # A failure or an overflow may follow the rows.
            states = {str(info.value).upper(): info for info in infos if info.name == "QUERY_STATUS"}
            if failed := sorted(states.keys() - {"OK", "OVERFLOW"}):
                reason = one_line(str(states[failed[0]].content or failed[0]), 200)
                raise NoAnswer(f"the service refused the query: {reason}")
            if "OVERFLOW" in states:
                raise Overflow("the service has more rows than it returns (OVERFLOW)")
            if not tables:
                raise NoAnswer("found a VOTable without results, expected a table")
            return tables[0].to_table(use_names_over_ids=True)
    except NoAnswer:
        raise
    except Exception as error:  # of many kinds, of expat and of astropy
        raise NoAnswer(f"found a damaged VOTable ({one_line(str(error), 120)})") from error


def _numbers_in(table: Any, sent: int) -> NDArray[np.int64]:
    """Return the number of each row's target. :raises NoAnswer: they are not those of the upload"""
    name = next((name for name in table.colnames if name.lower() == "target_number"), None)
    numbers = None if name is None else np.ma.asarray(table[name])
    if numbers is None or numbers.dtype.kind not in "iu" or np.ma.is_masked(numbers):
        raise NoAnswer("found no column target_number with whole numbers; expected those of the upload")
    if foreign := sorted(set(numbers.tolist()) - set(range(sent))):
        raise NoAnswer(f"found a row of target {foreign[0]}, which was not sent; expected 0 to {sent - 1}")
    return np.asarray(numbers, dtype=np.int64)


def _check(numbers: NDArray[np.int64], rows: Rows, sent: int) -> None:
    """:raises NoAnswer: rows are missing, or have no position"""
    if not np.isfinite([rows.ra, rows.dec]).all():
        raise NoAnswer("found a row without a position")
    if (np.diff(numbers) < 0).any():
        raise NoAnswer("found rows in another order than asked for, which hides whether some are missing")
    if not (numbers == sent - 1).any():
        raise NoAnswer("found nothing at a position where the catalogue has a source: the answer is empty or was cut")
    if len({*zip(numbers.tolist(), rows.ids, rows.ra.tolist(), rows.dec.tolist(), strict=True)}) < len(numbers):
        raise NoAnswer("found a row twice")
