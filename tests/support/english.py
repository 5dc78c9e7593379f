"""Texts of ``agent`` and ``training`` that stay English; docs/team/translating.md says which and why."""

from __future__ import annotations

DOCUMENTS = (
    # Prompts, and what a tool answers: models were trained on these words.
    *("agent/conversation.py", "agent/tool.py", "agent/tasks/values.py", "agent/policies/local/chat_template.py"),
    # Refusals to draw are answers of the tool.
    "agent/plot/",
    # What a policy of the program writes, and the faults of form that a trace keeps.
    *("agent/policies/baseline/rule.py", "agent/policies/specialist/policy.py"),
    *("agent/trajectory/tags.py", "agent/trajectory/repair.py", "agent/trajectory/sharegpt.py"),
    # Reports, tables and cards.
    *("agent/batch/report.py", "agent/batch/candidates.py"),
    *("training/bench/report.py", "training/bench/report_sections.py", "training/bench/gallery.py"),
    *("training/bench/behaviour.py", "training/bench/calibration.py", "training/bench/reliability_figure.py"),
    *("training/bench/table.py", "training/bench/scores.py", "training/bench/parts.py"),
    *("training/bench/several_runs.py", "training/bench/run.py", "training/bench/build/record.py"),
    *("training/model_card/text.py", "training/data/card.py", "training/nano/package.py"),
    # Simulated spectra, and traces about them that a script writes.
    *("agent/simulate/", "training/nano/teacher.py", "training/nano/features.py"),
    *("training/miniature/spectra.py", "training/miniature/examples.py"),
    *("training/miniature/results.py", "training/miniature/stages.py"),
    # The alarm of a test of shift, which suspends a certificate in its file.
    "agent/trust/shift.py",
)
"""Files and folders whose texts are documents."""
CALLS = {"Remark", "_fault", "Dropped", "leave_out"}
"""Calls whose texts are stored: faults of a trace, reasons of a data card."""
STORED = {
    # How an inspection, a case or a trial ended.
    *("policy failed", "no data", "not read", "turn limit", "no call and no answer", "no more jobs"),
    *("between the thresholds", "not certified", "trial failed", "trial untested", "trial not made", "not made"),
    *("assumed random", "not known"),
    # Kinds of hints, claims, lines and templates.
    *("two maxima", "no band", "cannot be told", "absorption, hot stars' line", "arm join", "hot subdwarf"),
    *("calcium triplet", "ca ii triplet"),
    # Settings of a trace.
    *("left out: not taken by the server", "described in words", "local model", "transformers, in process"),
    *("numpy, in process", "nano (trained on simulations)", "Spec-o3", "1-D convolutional network"),
    *("held out", "training data", "run"),
}
"""Values that are stored or compared."""
NO_MESSAGES: dict[str, set[str]] = {
    "agent/batch/on_ray.py": {"`ray_remote_args` is deprecated", "The minimum number of concurrent actors"},
    "agent/doctor/checks.py": {
        *(" -m pip install ", " -m playwright install chromium"),
        "--force-reinstall --no-deps --only-binary :all: matplotlib==",
    },
    "agent/hints/spans.py": {
        # Patterns.
        *("(?:equivalent width|EW)", "mean depth below the continuum", "flux ratio of band to continuum"),
        "rms deviation from a smooth continuum",
    },
    "agent/loop.py": {
        # The answer of the tool.
        "Not run: the last allowed turn had been taken.",
    },
    "agent/policies/local/model.py": {"pip install 'spec-o3[local]'"},
    "agent/policies/nano/folder.py": {"problem() has found one of them"},
    "agent/policies/openai/client.py": {"model servers", "about servers"},
    "agent/policies/openai/endpoint.py": {"the server does not take ", ": it was left out"},
    "agent/policies/openai/pictures.py": {"cache miss"},
    "agent/policies/servers.py": {"url, urls", "api_key_env, api_key_file"},
    "agent/policies/spec_o3.py": {
        "cut at its limit of ",
        "cut by the server's content filter",
        "ended by the server: ",
    },
    "agent/settings_file.py": {"Value error, ", "Input should be "},
    "agent/spectrum/readers/other.py": {"data central"},
    "agent/spectrum/readers/surveys/desi.py": {"DESI data model"},
    "agent/tasks/files.py": {"Analyze the provided spectrum to determine if it is ", "above, below"},
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
    "training/data/trajectory_rows.py": {"its form is not the published one"},
    "training/model.py": {"Found missing adapter keys"},
    "training/model_card/repository.py": {" filter=lfs diff=lfs merge=lfs -text\n"},
    "training/model_card/scores.py": {"Spectral vetting", "Spectral vetting: ", ", mean over tasks"},
    "training/nano/stages.py": {"Error: The specified wavelength range is invalid or outside the available data range"},
    "training/sft.py": {"not among the ", " trajectories selected with seed "},
}
"""Texts that look like sentences and are none that a person is shown, by file."""
PROGRAM_OF_A_PROBE = ("\nimport ", "import ")
"""How the small programs begin that another Python runs."""


def stays_english(name: str, text: str) -> bool:
    """Whether a text of a file is a document, a stored value or no sentence."""
    if name.startswith(DOCUMENTS) or text.startswith(PROGRAM_OF_A_PROBE):
        return True
    return text in STORED or text in NO_MESSAGES.get(name, ())
