"""Texts of Python that stay English; docs/team/translating.md says which and why."""

from __future__ import annotations

import ast
import re
from functools import cache

from tests.support import messages

DOCUMENTS = (
    # Prompts, and what a tool answers: models were trained on these words.
    *("agent/conversation.py", "agent/tool.py", "agent/tasks/values.py", "agent/policies/local/chat_template.py"),
    *("agent/hints/measuring.py", "agent/sky/context.py", "agent/trajectory/forms.py", "agent/mcp/"),
    # Why a record of a catalogue has no answer is stored with it.
    *("agent/sky/columns.py", "agent/sky/tap.py", "agent/sky/local.py", "agent/sky/fetching.py"),
    # Refusals to draw are answers of the tool.
    "agent/plot/",
    # What a policy of the program writes, and the faults of form that a trace keeps.
    *("agent/policies/baseline/", "agent/policies/specialist/policy.py"),
    *("agent/trajectory/tags.py", "agent/trajectory/repair.py", "agent/trajectory/sharegpt.py", "agent/foreign/"),
    # The description of the API.
    *("reviewer/web/models/", "reviewer/web/openapi.py"),
    # Reports, figures, tables and cards.
    *(
        "agent/spectrum/table.py",
        "reviewer/figures.py",
        "agent/batch/report.py",
        "agent/batch/candidates.py",
        "agent/tables.py",
    ),
    *("training/bench/report.py", "training/bench/report_sections.py", "training/bench/gallery.py"),
    *("training/bench/behaviour.py", "training/bench/calibration.py"),
    *("training/bench/table.py", "training/bench/scores.py", "training/bench/parts.py"),
    *("training/bench/several_runs.py", "training/bench/run.py", "training/bench/build/record.py"),
    *("training/model_card/text.py", "training/data/card.py", "training/nano/package.py"),
    # Simulated spectra, and traces about them that a script writes.
    *("agent/simulate/", "training/nano/teacher.py"),
    *("training/miniature/spectra.py", "training/miniature/examples.py"),
    *("training/miniature/results.py", "training/miniature/stages.py"),
    # The alarm of a test of shift, which suspends a certificate in its file.
    "agent/trust/shift.py",
    # The report of blind scoring, for a referee, and the statistics that only it shows.
    *("reviewer/blind/report/", "reviewer/blind/analysis.py", "reviewer/agreement/clustered.py"),
    *("reviewer/agreement/davidson.py", "reviewer/agreement/distribution.py", "reviewer/agreement/mixed.py"),
    *("reviewer/agreement/ordinal.py", "reviewer/agreement/pairs.py", "reviewer/agreement/preference.py"),
    "reviewer/agreement/raters.py",
    # Patterns by which claims are read.
    "reviewer/similar/read_lines.py",
    # What a judge reads.
    *("reviewer/blind/judge/answers.py", "reviewer/blind/judge/measured.py", "reviewer/blind/judge/prompts.py"),
    # The catalogue, which is for a paper.
    "reviewer/catalogue/",
    # Descriptions of columns, tasks for other programs, the demo.
    *("reviewer/exchange/tables.py", "reviewer/exchange/dataset.py", "reviewer/exchange/annotations/tasks.py"),
    *("reviewer/drafting/demo.py", "reviewer/drafting/demo_trust.py"),
)
"""Files and folders whose texts are documents."""
CALLS = {"Remark", "_fault", "Dropped", "leave_out", "_case_insensitive"}
"""Calls whose texts are stored, faults of a trace and reasons of a data card, or are patterns."""
STORED = {
    # How an inspection, a case or a trial ended.
    *("policy failed", "no data", "not read", "turn limit", "no call and no answer", "no more jobs"),
    *("between the thresholds", "not certified", "trial failed", "trial untested", "trial not made", "not made"),
    *("assumed random", "not known"),
    # Whether a catalogue answered.
    *("not found", "not asked"),
    # Kinds of hints, claims, lines and templates.
    *("two maxima", "no band", "cannot be told", "absorption, hot stars' line", "arm join", "sky line", "hot subdwarf"),
    *("calcium triplet", "ca ii triplet"),
    # Settings of a trace.
    *("left out: not taken by the server", "described in words", "local model", "transformers, in process"),
    *("numpy, in process", "nano (demonstration model)", "Spec-o3", "1-D convolutional network"),
    *("held out", "training data", "run"),
    # Decisions, leases, plans, votes, backups; where a person sees one, a list of words has its translation.
    *("cannot tell", "leave out", "drawn anew", "title removed", "same spectra", "both bad", "own verdict"),
    *("by hand", "round over", "other kind", "when every question is answered", "not sent"),
    *("measured values", "text only"),
    # Versions of a blind session, why an item is left out of it, and what its sources are called.
    *("current, edited", "edited before import", "not approved", ", revised by people", ", approved unchanged"),
}
"""Values that are stored or compared."""
FORMS = {
    # SQL, and columns of tables.
    "reviewer/store/": re.compile(
        r"\b(SELECT|FROM|WHERE|AND|NOT|IN|IS|AS|ON|THEN|ORDER BY|GROUP BY|INSERT|UPDATE|VALUES|DROP|WITH|CREATE)\b"
        r"|\b(PRAGMA|AFTER)\b"
        r"|^(id|token|initials|decision)( \w+)+$|^scorer, place$"
    ),
    # Names of facts.
    "reviewer/similar/": re.compile(r"^[a-z]+: [a-z0-9 -]+$"),
    # Values of headers and attributes.
    "reviewer/web/": re.compile(r"^(private|public), max-age=|^attachment; filename|; charset=|^noopener|^img-src "),
}
"""Texts of a folder that are no messages, by their form."""
NO_MESSAGES: dict[str, set[str]] = {
    "reviewer/web/headers.py": {" allow-scripts allow-downloads; style-src 'unsafe-inline'; img-src data: blob:"},
    "agent/batch/on_ray.py": {"`ray_remote_args` is deprecated", "The minimum number of concurrent actors"},
    "agent/cli/old_spellings.py": {
        # The words of commands.
        *("bench build", "specialist train", "specialist predict", "model push", "blind report", "blind power"),
        *("blind draw", "annotations import", "annotations tasks"),
    },
    "reviewer/samp.py": {
        # Descriptions of columns.
        *("Number of the item", "File of the spectrum", "Class in question", "State of the review"),
        *("Right ascension, ICRS", "Signal-to-noise ratio per pixel, the median over the spectrum", "Items of Spec-o3"),
    },
    "agent/doctor/checks.py": {
        *(" -m pip install ", " -m playwright install chromium"),
        "--force-reinstall --no-deps --only-binary :all: matplotlib==",
    },
    "agent/hints/spans.py": {
        # Patterns.
        *("(?:equivalent width|EW)", "mean depth below the continuum", "flux ratio of band to continuum"),
        "rms deviation from a smooth continuum",
    },
    # Of a pydantic model: never shown as they are.
    "agent/sky/records.py": {"columns of different lengths", " with the detail "},
    "agent/loop.py": {
        # The answer of the tool.
        "Not run: the last allowed turn had been taken.",
    },
    "agent/policies/local/model.py": {"pip install 'spec-o3[local]'"},
    "agent/policies/native.py": {
        # Faults of a trace, which are stored.
        " before it had written anything: allow more, or a lower reasoning effort",
        "the server counted {tokens} tokens, fewer than the text alone has: it may not have taken the whole "
        "conversation, or no picture",
    },
    "agent/policies/nano/folder.py": {"problem() has found one of them"},
    "agent/policies/openai/client.py": {"model servers", "about servers"},
    "agent/policies/openai/endpoint.py": {"the server does not take ", ": it was left out"},
    "agent/policies/openai/history.py": {"I look at the picture."},
    "agent/policies/openai/pictures.py": {"cache miss"},
    "agent/policies/openai/probe.py": {
        # Sent to the model.
        *("Which number is written in the picture?", " Number only."),
    },
    "agent/policies/servers.py": {"url, urls", "api_key_env, api_key_file"},
    "agent/policies/spec_o3.py": {
        "cut at its limit of ",
        "cut by the server's content filter",
        "ended by the server: ",
    },
    "agent/settings_file.py": {"Value error, ", "Input should be "},
    # Names of layouts, columns and cards, kept in the meta of a spectrum.
    "agent/sky/curves.py": {
        # In a record, which is stored.
        *("objects within ", "its epochs", ": an answer in another form than SNAD's ("),
        *("it is in no file, and no service was to be queried", "no position of ZTF's sky, which ends at "),
    },
    "agent/spectrum/readers/columns.py": {" (no positive number)", " and higher"},
    "agent/spectrum/readers/fits.py": {" columns of "},
    "agent/spectrum/readers/fits_image.py": {", by the scatter of the flux)", "image of "},
    "agent/spectrum/readers/gaia.py": {
        *("GaiaXPy table", "336 to 1020 nm by 2", "column flux (", "column flux_error (sigma)"),
    },
    "agent/spectrum/readers/other.py": {"data central", ", by specutils"},
    "agent/spectrum/readers/parquet.py": {"Parquet table"},
    "agent/spectrum/readers/producers.py": {"PypeIt spec1d", "a space telescope"},
    "agent/spectrum/readers/sparcl.py": {"SPARCL record"},
    "agent/spectrum/readers/surveys/desi.py": {"DESI data model", "DESI coadd or spectra"},
    "agent/spectrum/readers/surveys/lamost.py": {"five rows", "inverse variance (ivar)", "LAMOST data model"},
    "agent/spectrum/readers/surveys/mwm.py": {"Astra mwmStar or mwmVisit", "Astra data model"},
    "agent/spectrum/readers/surveys/plate.py": {"SDSS spPlate"},
    "agent/spectrum/readers/surveys/sdss.py": {"SDSS spec", "SDSS spSpec", "SDSS data model"},
    "agent/spectrum/readers/text.py": {
        *("ECSV table", "AAS machine-readable table (MRT)", "CDS table", "IPAC table", "text table"),
        *("description of ", "column 3 (width of bins)"),
    },
    "agent/tasks/files.py": {"Analyze the provided spectrum to determine if it is ", "above, below", "index, feature"},
    "agent/trajectory/json_rows.py": {"Unterminated string"},
    "agent/trajectory/record.py": {"You are a helpful assistant."},
    "agent/trial/subjects.py": {
        "equivalent width|FWHM|mean depth|flux ratio",
        # What the baseline writes.
        *("probably yes", "probably no", "too close to decide", "probably is", "is not", "probably is not"),
        "is too close to decide",
    },
    "agent/trust/suspension.py": {"new case "},
    "training/cli/model.py": {"hf upload "},
    "training/data/damage.py": {
        *("lost characters (U+FFFD)", "control characters", "UTF-8 read in another encoding (as Ã… for Å)"),
    },
    "training/data/trajectory_rows.py": {"its form is not the published one"},
    "training/model.py": {"Found missing adapter keys"},
    "training/model_card/repository.py": {" filter=lfs diff=lfs merge=lfs -text\n"},
    "training/model_card/scores.py": {"Spectral vetting", "Spectral vetting: ", ", mean over tasks"},
    "training/nano/stages.py": {"Error: The specified wavelength range is invalid or outside the available data range"},
    "training/sft.py": {"not among the ", " trajectories selected with seed "},
    "reviewer/rules/workflow.py": {"a history begins with a version"},
    "reviewer/ui/page.py": {">; rel=preload; as=script", "<api/v1/me>; rel=preload; as=fetch; crossorigin"},
    # Errors of this program, not of a person.
    "reviewer/agreement/values.py": {
        *("an interval has two ends, and only about a value", "; a statistic without a value is None, with a reason"),
        "a value or an interval is missing and no reason is given",
        # In the details of a statistic, which the report shows.
        *("spectra and scorers like these", "spectra like these, these scorers"),
    },
    "reviewer/blind/titles.py": {"agent.plot draws a picture without axes or title"},
    "reviewer/store/sqlite/database.py": {"malformed database schema"},
    # Kinds of entries of the audit log that are chosen before the call.
    "reviewer/store/accounts.py": {"sessions ended", "leases ended"},
    "reviewer/store/audit/chain.py": {"clock set back"},
    "reviewer/store/waiting.py": {"clock set back"},
    "reviewer/store/blind/sessions.py": {"blind session opened", "blind session closed"},
    "reviewer/store/team/logins.py": {"sign-in name set", "sign-in name removed"},
    "reviewer/store/reviews.py": {"medium stated: "},
    "reviewer/store/team/bulk.py": {
        *("items decided", "items assigned", "items unassigned", "batch set", "bulk action undone"),
    },
    "reviewer/web/routes/audit.py": {
        *("items decided", "items assigned", "items unassigned", "batch set", "bulk action undone"),
        *("thread resolved", "thread reopened"),
    },
    # Notes of the schema, and pieces of SQL.
    "reviewer/store/sqlite/schema.py": {
        *("log begun", "first schema", "sky records", " are facts: append, never "),
    },
    "reviewer/store/sqlite/figures.py": {"state, batch, decided_at, compared, disagreement"},
    "reviewer/store/sqlite/migrations.py": {"database upgraded"},
    # Names of threads and of random streams; lines of protocols.
    "reviewer/backup/backups.py": {"daily backups"},
    "reviewer/blind/sampling.py": {" order of "},
    "reviewer/live/events.py": {": nothing new\n\n"},
    "reviewer/live/run.py": {"sample of "},
    "reviewer/similar/background.py": {"similar items, timer", "similar items"},
    "reviewer/web/routes/assets.py": {"compress plotly.js"},
    # Data of formats.
    "reviewer/blind/plan.py": {"spec-o3 blind session 1"},
    "reviewer/trust/certificates.py": {"(not installed)"},
    "reviewer/web/sky.py": {"light curve"},
    "reviewer/web/routes/blind_setup.py": {"all items"},
    # Sent to the judge.
    "reviewer/blind/judge/model.py": {"it was cut at its limit of ", " tokens, and so "},
    "reviewer/server.py": {"Spec-o3 review"},
    "reviewer/web/language.py": {
        "\ndocument.documentElement.lang = so_language.tag\nObject.defineProperty(navigator, 'language', "
        "{ get: () => so_language.tag, configurable: true })\n"
    },
}
"""Texts that look like sentences and are none that a person is shown, by file."""
PROGRAM_OF_A_PROBE = ("\nimport ", "import ")
"""How the small programs begin that another Python runs."""


@cache
def kinds_of_entries() -> frozenset[str]:
    """What the entries of the audit log are about, of every call that writes one."""
    found = set()
    for name in messages.files(".py"):
        if not name.startswith("reviewer/"):
            continue
        for node in ast.walk(ast.parse((messages.ROOT / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".log", ".log.note", "._log_answered")):
                found |= {
                    one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
                }
    return frozenset(found)


def stays_english(name: str, text: str) -> bool:
    """Whether a text of a file is a document, a stored value or no sentence."""
    if name.startswith(DOCUMENTS) or text.startswith(PROGRAM_OF_A_PROBE):
        return True
    if any(name.startswith(folder) and form.search(text) for folder, form in FORMS.items()):
        return True
    return text in STORED or text in NO_MESSAGES.get(name, ()) or text in kinds_of_entries()
