"""The text of a model card from its facts: metadata of the Hugging Face hub, then Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.batch.report import escaped
from agent.tables import markdown_table
from training.data.card import UNKNOWN_SURVEY
from training.model_card.licences import licence
from training.model_card.scores import TASK_TYPE, cell, results

BEGIN = "<!-- Your own text: it is kept when the card is renewed. -->"
END = "<!-- End of your own text. -->"
KINDS = {
    "sft": "Supervised fine-tuning (SFT) on reviewed reasoning traces of a spectral-vetting agent, with `spec-o3 sft`.",
    "grpo": "Reinforcement learning from labels (GRPO) by inspecting spectra, with `spec-o3 grpo`.",
    "nano": "A very small model, trained from random weights on simulated spectra alone, with `spec-o3 nano`.",
    "specialist": "A 1-D convolutional network for one class of spectra, with `spec-o3 specialist train`.",
}
_TEXTS = ("sft", "grpo", "nano")
"""The kinds that read pictures and write text."""


def metadata(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata at the top of the card."""
    kind, adapter = facts["kind"], facts["adapter"]
    values: dict[str, Any] = licence(facts["stages"], facts["base"], facts.get("license"))
    if facts["base"]:
        values |= {"base_model": facts["base"], "base_model_relation": "adapter" if adapter else "finetune"}
    if kind in _TEXTS:
        values |= {"library_name": "peft" if adapter else "transformers", "pipeline_tag": TASK_TYPE, "language": ["en"]}
    values["tags"] = ["spec-o3", "astronomy", "spectroscopy", kind, *(["lora"] if adapter else [])]
    known = {data["dataset"] for stage in facts["stages"] for data in stage.get("data", ()) if "dataset" in data}
    if datasets := sorted({*known, *facts.get("datasets", ())}):
        values["datasets"] = datasets
    if index := results(facts["scores"], facts["name"]):
        values["model-index"] = index
    return values


def card_text(facts: Mapping[str, Any], own: str = "", certificate: str = "none") -> str:
    """Return the card as Markdown.

    :param own: a person's text, to stand between the marks
    :param certificate: the certificate of the model, "none" without one
    """
    import yaml

    top = yaml.safe_dump(metadata(facts), sort_keys=False, allow_unicode=True, width=1000)
    sections = [
        f"# {escaped(facts['name'])}",
        KINDS.get(facts["kind"], f"A model of the stage `{facts['kind']}`."),
        "\n\n".join(filter(None, (BEGIN, own, END))),
        *_licence(facts),
        *_about(facts),
        *_scores(facts),
        f"Certificate: {certificate}",
        *_data(facts),
        *_training(facts),
        *_limits(facts),
    ]
    return f"---\n{top}---\n\n" + "\n\n".join(sections) + "\n"


def _licence(facts: Mapping[str, Any]) -> Iterator[str]:
    values = licence(facts["stages"], facts["base"], facts.get("license"))
    base = f"[{facts['base']}](https://huggingface.co/{facts['base']})" if facts["base"] else ""
    yield "## Licence"
    if values["license"] == "unknown":
        of = f"the base model {base}" if base else "the base model, which is not on the Hugging Face hub"
        yield (
            f"Unknown, because this program does not know that of {of}. State it with `spec-o3 model card FOLDER "
            "--license NAME`, or before training with the setting `model.license`."
        )
        return
    name = values.get("license_name", values["license"])
    link = f" ([text]({values['license_link']}))" if "license_link" in values else ""
    yield f"{name}{link}" + (f", the licence of the base model {base}." if base else ".")


def _about(facts: Mapping[str, Any]) -> Iterator[str]:
    """The sections that a kind of model writes itself; those of the nano model have its scores."""
    if facts.get("about"):
        yield str(facts["about"]).strip()


def _scores(facts: Mapping[str, Any]) -> Iterator[str]:
    scores: Sequence[Mapping[str, Any]] = facts["scores"]
    if not scores and facts.get("about"):
        return
    yield "## Scores"
    if not scores:
        yield "None yet: `spec-o3 bench` measures them, and `spec-o3 model card FOLDER --bench REPORT` adds them."
        return
    yield (
        "Percent, with 95 % bootstrap intervals by spectrum. F1 is that of the class YES; in the row *all*, F1 and "
        "accuracy are means over tasks."
    )
    for score in scores:
        yield f"### {escaped(score['name'])}"
        yield _conditions(score)
        rows = [["all", str(score["questions"]), "", cell(score["f1"]), "", "", cell(score["accuracy"])]]
        for task in score["tasks"]:
            measured = [cell(task[name]) for name in ("f1", "precision", "recall", "accuracy")]
            rows.append([escaped(task["task"]), str(task["n"]), str(task["positives"]), *measured])
        yield markdown_table(["task", "questions", "positives", "F1", "precision", "recall", "accuracy"], rows)


def _conditions(scored: Mapping[str, Any]) -> str:
    """Describe on what, and how, the scores were measured."""
    kind = {"yes": "simulated spectra", "partly": "partly simulated spectra", "no": "spectra"}[scored["simulated"]]
    parts = [
        f"{scored['questions']} questions about {scored['spectra']} {kind} ({escaped(scored['data'])})",
        f"majority of {scored['samples']} samples" if scored["samples"] > 1 else "one sample per question",
        f"{'with' if scored['with_tool'] else 'without'} the tool, {scored['max_turns']} turns at most",
    ]
    if scored["failed"]:
        parts.append(f"{scored['failed']} counted as wrong because the policy failed")
    if missing := scored["unread"] + scored["left_out"]:
        parts.append(f"{missing} labelled spectra left out")
    return "; ".join(parts) + "."


def _data(facts: Mapping[str, Any]) -> Iterator[str]:
    yield "## Training data"
    data = facts["data"]
    if data is not None:
        simulated = f", {data['simulated']:,} of them simulated" if data["simulated"] else ""
        kind = "traces" if data["kind"] == "examples" else "questions"
        yield f"{data['rows']:,} {kind}{simulated}, of {data['sources']:,} spectra."
        labels = [name for name in ("YES", "NO", "none") if any(name in of for of in data["classes"].values())]
        rows = [[escaped(task), *(str(of.get(label, 0)) for label in labels)] for task, of in data["classes"].items()]
        yield markdown_table(["task", *labels], rows)
        yield markdown_table(["survey", "rows"], [[escaped(name), str(rows)] for name, rows in data["surveys"].items()])
        if left_out := data.get("left_out"):
            yield markdown_table(["left out", "rows"], [[escaped(row["reason"]), str(row["rows"])] for row in left_out])
    inputs = [(stage, row) for stage in facts["stages"] for row in stage.get("data", ())]
    if inputs:
        rows = [
            [
                escaped(str(stage["kind"])),
                escaped(row["name"]),
                row["kind"],
                _size(row),
                f"`{row['sha256']}`" if "sha256" in row else "–",
            ]
            for stage, row in inputs
        ]
        yield markdown_table(["stage", "input", "kind", "content", "SHA-256"], rows)
        if any(row["kind"] == "export" for _, row in inputs):
            yield "The hash of an export is that of its manifest, which has the hash of each of its files."
    elif data is None:
        yield "No files: the data were made by the program while it trained."


def _size(record: Mapping[str, Any]) -> str:
    if record["kind"] == "export":
        reviewers = record["reviewers"]
        return (
            f"{record['traces']:,} traces, {reviewers} {'reviewer' if reviewers == 1 else 'reviewers'}, "
            f"{record['decisions']:,} decisions; {record['by_one_person']:,} traces approved by one person alone"
        )
    files = f"{record['files']:,} files, " if "files" in record else ""
    return f"{files}{record['bytes']:,} bytes"


def _training(facts: Mapping[str, Any]) -> Iterator[str]:
    import yaml

    yield "## Training"
    if facts["stages"]:
        yield markdown_table(
            ["stage", "name", "from", "method", "seed"], [_lineage_row(stage) for stage in facts["stages"]]
        )
    if rows := list(_curve_rows(facts["curve"], "epochs" if facts["kind"] == "specialist" else "steps")):
        yield markdown_table(["", ""], rows)
    if facts["kind"] in ("sft", "grpo"):
        yield f"Command: `spec-o3 {facts['kind']} --config settings.yaml`; settings, of paths only the last part:"
    if facts["settings"]:
        yield f"```yaml\n{yaml.safe_dump(facts['settings'], sort_keys=False, allow_unicode=True).rstrip()}\n```"
    if facts["environments"]:
        yield _environment(facts["environments"])


def _lineage_row(stage: Mapping[str, Any]) -> list[str]:
    start = stage.get("from", {})
    before = " + ".join(str(start[name]) for name in ("model", "adapter") if start.get(name))
    cells = (stage.get("kind"), stage.get("name"), before, start.get("method"), stage.get("seed"))
    return [escaped("" if cell is None else str(cell)) for cell in cells]


def _curve_rows(curve: Mapping[str, Any], steps: str) -> Iterator[list[str]]:
    if curve.get("steps"):
        yield [steps, str(curve["steps"])]
    for name in ("loss", "reward"):
        if name in curve:
            yield [f"{name}, first and last", f"{_number(curve[name]['first'])}, {_number(curve[name]['last'])}"]
    for name, words in (
        ("eval_loss", "loss on held-out data, lowest"),
        ("validation_reward", "validation, best reward"),
    ):
        if name in curve:
            values = curve[name]
            f1 = f", F1 {_number(values['f1'])}" if "f1" in values else ""
            at = f"{steps.removesuffix('s')} {values['step']}"
            yield [
                words,
                f"{_number(values['best'])}{f1} at {at}, of {values['times']} measurements",
            ]


def _number(value: float) -> str:
    return f"{value:.4g}"


def _environment(environments: Sequence[Mapping[str, Any]]) -> str:
    last = environments[-1]
    packages = ", ".join(f"{name} {version}" for name, version in last.get("packages", {}).items())
    devices = ", ".join(last.get("devices", ())) or "no device recorded"
    several = f" Starts: {len(environments)}; these are of the last one." if len(environments) > 1 else ""
    return escaped(
        f"Python {last.get('python')} on {last.get('platform')}; {packages}; program at commit "
        f"{last.get('commit') or 'not known'}; {devices}; processes: {last.get('processes', 1)}.{several}"
    )


def _limits(facts: Mapping[str, Any]) -> Iterator[str]:
    yield "## Limits"
    data = facts["data"]
    lines = []
    if data is not None:
        tasks = ", ".join(map(escaped, data["classes"]))
        surveys = ", ".join(escaped(name) for name in data["surveys"] if name != UNKNOWN_SURVEY)
        on = f", on spectra of {surveys}" if surveys else ""
        lines.append(f"Trained for {tasks}{on}. Other classes and surveys were not trained.")
        if data["simulated"]:
            lines.append("Some or all of its training spectra are simulated; real ones can differ in every respect.")
    if facts.get("about"):
        lines.append("Its scores are those of the tables in this card; nothing more is known about its quality.")
    elif not facts["scores"]:
        lines.append("It has no scores here: nothing is known about its quality.")
    elif all(fact["simulated"] == "yes" for fact in facts["scores"]):
        lines.append("All scores are of simulated spectra: they say little about real ones.")
    if facts["kind"] in _TEXTS:
        lines.append(
            "It needs the tool and the loop of spec-o3 (`spec-o3 inspect`, `spec-o3 bench`), which draw the spectrum "
            "and each window; with other pictures its answers mean little."
        )
        lines.append("What it writes is no proof of how it came to its answer. A person decides about an object.")
    yield "\n".join(f"- {line}" for line in lines)
