"""A campaign with hostile text in every field that a person, a model or a file can set."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from agent.spectrum import Spectrum
from agent.tasks import FOLDER
from agent.trajectory import Drafter
from agent.trajectory.steps import Answer, Think, Zoom
from reviewer.blind.plan import Plan
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store
from tests.support.campaign import Desk
from tests.support.drawn_traces import a_spectrum, a_trace, decide, revise

ELSEWHERE = "elsewhere.example"
MARKUP = (
    '<b class="planted">b</b><script>window.harmed=1</script>'
    f'<img src="http://{ELSEWHERE}/p.png" onerror="window.harmed=2">'
    f"![p](http://{ELSEWHERE}/m.png)[a](javascript:window.harmed=3)"
    '<a class="planted" href="javascript:window.harmed=4">a</a>'
    "${window.harmed=5}{{window.harmed=6}}${(()=>{window.harmed=7})()}"
    """"><i class='planted' onmouseover='window.harmed=8'></i>'><i class="planted"></i>"""
    f'<iframe src="//{ELSEWHERE}/f"></iframe><style>*{{display:none!important}}</style></script>'
    f"<link rel=stylesheet href=//{ELSEWHERE}/c.css><svg onload=window.harmed=9></svg>&lt;b&gt;"
)
"""Text that must not be interpreted: markup of every kind, ends of attributes, Markdown, templates."""
SHORT = "<img src=x onerror=harmed=10>${harmed=11}"
TURNED = "\u202egnp.exe\u2066 \u2067"
LONG = "W" * 4_000
"""One word without a possible line break."""
PASSWORD = "correct horse battery"
_keys = (f"hostile-{n}" for n in count())


def nasty(field: str) -> str:
    """Return the text of a field: its name, which tests search for, and all hostile text."""
    return f"zq-{field} {MARKUP} {TURNED} {LONG}"


def campaign(folder: Path) -> Path:
    """Six items: the first was revised and returned, items 3 to 6 were scored blind by SA and SB.

    CO coordinates, RE and AU review, SA and SB scored; all have the password ``PASSWORD``.
    """
    (folder / "tasks").mkdir()
    (folder / "tasks" / "nasty.toml").write_text(_task(), encoding="utf-8")
    store = Store.open(folder / "annotations.db")
    try:
        store.accounts.add_person("CO", SHORT, ["coordinator"], PASSWORD)
        for initials in ("RE", "AU", "SA", "SB"):
            store.accounts.add_person(initials, f"zq-name {SHORT}", ["reviewer", "auditor"], PASSWORD)
        store.settings.set_rules("CO", Rules(auditors=1))
        store.items.add_all(_draft(number, source) for number in range(3) for source in ("one", "two"))
        _reviewed(store)
        _scored(store)
    finally:
        store.close()
    return folder / "annotations.db"


def _task() -> str:
    """The task of carbon stars with hostile texts."""
    text = (FOLDER / "cc.toml").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        name, _, value = line.partition(" = ")
        if name == "key":
            line = 'key = "nasty"'
        elif name == "aliases":
            line = "aliases = []"
        elif name == "title":
            line = f"title = {json.dumps(nasty('title'))}"
        elif name == "question":
            question = f"Analyze the provided spectrum to determine if it is **{nasty('title')}**."
            line = f"question = {json.dumps(question)}"
        elif name in ("text", "why", "weight", "section"):
            line = f"{name} = {json.dumps(f'{json.loads(value)} {nasty(name)}')}"
        lines.append(line)
    return "\n".join(lines)


def _spectrum(number: int) -> Spectrum:
    return replace(
        a_spectrum(f"zq-name-{number} {MARKUP} {TURNED}.fits"),
        survey=f"zq-survey {SHORT}",
        ids={nasty("id"): nasty("id's value")},
        catalogue_class=nasty("class"),
        meta={nasty("header"): nasty("header's value"), "date_obs": nasty("date")},
    )


def _draft(number: int, source: str) -> Draft:
    spectrum = _spectrum(number)
    trace = a_trace(spectrum)
    steps: list[Any] = []
    for step in trace.steps:
        if isinstance(step, Think):
            steps.append(replace(step, text=f"{source} {number} {nasty('thought')}"))
        elif isinstance(step, Zoom):
            named = {**step.arguments, "label": nasty("label"), nasty("argument"): nasty("argument's value")}
            steps.append(replace(step, arguments=named, observation=nasty("observation")))
        elif isinstance(step, Answer):
            steps.append(replace(step, explanation=nasty("explanation")))
    trajectory = replace(
        trace,
        task="nasty",
        prompt=nasty("prompt"),
        steps=tuple(steps),
        drafter=Drafter("model", f"zq-drafter-{source} {SHORT}", {nasty("setting"): nasty("setting's value")}),
    )
    return Draft(trajectory, spectrum, batch=f"zq-batch {MARKUP}")


def _reviewed(store: Store) -> None:
    """Item 1: kept, revised, submitted, returned by an auditor, each with a comment."""
    decide(store, "RE", 1, "keep", comment=nasty("kept"))
    revise(store, "RE", 1, nasty("revision"), nasty("why revised"))
    decide(store, "RE", 1, "submit", comment=nasty("submitted"))
    Desk(store).mark("AU", 1, mark="hallucinated feature", note=nasty("note"))
    decide(store, "AU", 1, "return", comment=nasty("returned"))


def _scored(store: Store) -> None:
    """Session 1, closed with its report, and session 2, open for AU and RE."""
    plan = Plan(nasty("session")[:4_000], ("SA", "SB"), mode="both", items=(3, 4, 5, 6))
    first = store.blind.sessions.create("CO", plan, next(_keys)).id
    store.blind.sessions.open("CO", first, next(_keys))
    for person in ("SA", "SB"):
        for work in store.blind.scoring.assignments(person):
            about = {"person": person, "token": work.token, "key": next(_keys), "comment": nasty("scored")}
            if work.kind == "pair":
                store.blind.scoring.prefer(preference="left", **about)
            else:
                store.blind.scoring.score(coherence=3, consistency=2, **about)
    store.blind.sessions.close("CO", first, next(_keys))
    again = replace(plan, name=f"again {SHORT}", scorers=("AU", "RE"), each=1)
    store.blind.sessions.open("CO", store.blind.sessions.create("CO", again, next(_keys)).id, next(_keys))
