"""The report of a closed session: one HTML page, its numbers and raw answers as CSV, and ``session.json`` to run it
again. The same session gives the same bytes.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

from agent.errors import Refusal
from agent.language import tr
from agent.processes import one_thread
from reviewer.blind.fingerprints import fingerprints
from reviewer.blind.pictures import count_states
from reviewer.blind.plan import analysis_sha256
from reviewer.blind.report.answers import analysis_script, answers_csv, wrong_steps_csv
from reviewer.blind.report.method import ReportData
from reviewer.blind.report.names import counted_versions, report_names
from reviewer.blind.report.page import page
from reviewer.blind.report.scripts import with_scripts
from reviewer.blind.report.statistics import Statistics, all_statistics
from reviewer.blind.report.tables import judgements_csv, session_json, statistics_csv
from reviewer.blind.results import Results
from reviewer.store import Store

PAGE = "report.html"
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can store


class ReportError(Refusal):
    """A report that cannot be written: where, what was found and what was expected."""


def as_html(store: Store, by: str | None, session_id: int) -> str:
    """Return ``report.html`` alone.

    :param by: the coordinator; None: the owner of the file
    :raises NotAllowed: ``by`` is no coordinator, or the session is not closed, or was closed without having
        been open
    :raises NotFound: there is no such session
    """
    material, figures, _ = _collect(store, by, session_id)
    return with_scripts(page(material, figures))


def files(store: Store, by: str | None, session_id: int) -> dict[str, bytes]:
    """Return every file of the report by its name. :raises: as ``as_html``"""
    material, figures, content_hashes = _collect(store, by, session_id)
    results, called = material.results, material.names
    texts = {
        "answers.csv": answers_csv(results, called),
        PAGE: with_scripts(page(material, figures)),
        "statistics.csv": statistics_csv(figures.rows),
        "session.json": session_json(results, called, content_hashes, material.analysis_sha256),
    }
    if "scores" in results.plan.kinds:
        texts["wrong_steps.csv"] = wrong_steps_csv(results, called)
    if (script := analysis_script(results)) is not None:
        texts["analysis.R"] = script
    if results.judgements:
        texts["judgements.csv"] = judgements_csv(results, called)
    return {name: texts[name].encode("utf-8", "replace") for name in sorted(texts)}


def as_zip(store: Store, by: str | None, session_id: int) -> bytes:
    """Return the files as a zip. :raises: as ``as_html``"""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in files(store, by, session_id).items():
            entry = zipfile.ZipInfo(f"blind-session-{session_id}/{name}", _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            zipped.writestr(entry, content)
    return packed.getvalue()


def write(store: Store, by: str | None, session_id: int, folder: Path) -> tuple[Path, ...]:
    """Write the files into a new or empty folder: all of them, or nothing.

    :raises ReportError: the folder has something in it, or cannot be written
    :raises NotAllowed: and ``NotFound`` as ``as_html``
    """
    folder = folder.resolve()
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ReportError(
                tr("{folder}: found files in it, expected a new or an empty folder", folder=folder)
                if folder.is_dir()
                else tr("{folder}: found a file, expected a new or an empty folder", folder=folder)
            )
        content = files(store, by, session_id)
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for name, text in content.items():
                (part / name).write_bytes(text)
            part.chmod(0o755)
            if folder.exists():
                folder.rmdir()
            part.replace(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise ReportError(tr("{folder}: {error}; nothing was written", folder=folder, error=error.strerror)) from error
    return tuple(folder / name for name in content)


def _collect(store: Store, by: str | None, session_id: int) -> tuple[ReportData, Statistics, dict[int, str]]:
    results = store.blind.results.of_session(by, session_id)
    material = store.blind.results.report_material(by, session_id)
    called = report_names(results, material.names)
    analysis_hash = analysis_sha256(results.plan, results.rubric)  # of the stored plan, before scorers are renamed
    results = _comparison_renamed(results, called.results(results))
    shown = ((trace.source, trace.spectrum, material.trajectories[n]) for n, trace in sorted(results.traces.items()))
    traces = [results.traces[version] for version in counted_versions(results)]
    with one_thread():
        measured = fingerprints(
            [(trace.source, trace.spectrum, material.trajectories[trace.version]) for trace in traces]
        )
    data = ReportData(
        results,
        called,
        material.barred,
        count_states(store.spectra, shown),
        measured,
        store.blind.checks.history(by, session_id),
        analysis_hash,
        material.analysis_sha256,
    )
    return data, all_statistics(results, called), material.content_hashes


def _comparison_renamed(results: Results, renamed: Results) -> Results:
    """Return the renamed results with the sources of the primary comparison renamed too, where they are scorers."""
    called = {trace.source: renamed.traces[version].source for version, trace in results.traces.items()}
    plan = results.plan.analysis
    first, second = (None if name is None else called.get(name, name) for name in (plan.first, plan.second))
    return replace(renamed, plan=replace(renamed.plan, analysis=replace(plan, first=first, second=second)))
