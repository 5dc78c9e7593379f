"""The methods text of a catalogue, and the numbers in it, each recomputable from the facts.

The text is Markdown of pandoc, with the keys of the bibliography. It is English, as the paper is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.trust.certificate import Certificate
from reviewer.agreement.reliability import round_agreement
from reviewer.agreement.values import Estimate
from reviewer.catalogue.facts import Json
from reviewer.catalogue.objects import FLAGS, Rows
from reviewer.catalogue.references import Bibliography, Cited

_ROUNDS = ("screening", "revision", "audit", "vote", "adjudication")


def numbers_of(rows: Rows) -> Json:
    """Return every number of the text."""
    items = rows.facts.items
    decided = [item for item in items if "decisions" in item]
    decisions = [(item, decision) for item in decided for decision in item["decisions"]]
    by_person: defaultdict[str, Counter[str]] = defaultdict(Counter)
    inspected: defaultdict[str, set[int]] = defaultdict(set)
    for item, decision in decisions:
        by_person[decision["person"]][decision["round"]] += 1
        inspected[decision["person"]].add(item["item"])
    own = list(rows.facts.rows)
    return {
        "selected_items": len(items),
        "selected_spectra": len({item["spectrum"] for item in items if item["spectrum"]}),
        "decided_items": len(decided),
        "items_in_catalogue": len(own),
        "objects": len(rows.objects),
        "objects_with_several_spectra": sum(entry.epochs > 1 for entry in rows.objects),
        "spectra_of_objects": sum(entry.epochs for entry in rows.objects),
        "left_out": dict(sorted(Counter(item["out"] for item in items if item["out"]).items())),
        "decisions_by_round": dict(sorted(Counter(decision["round"] for _, decision in decisions).items())),
        "decisions_by_person": {person: dict(sorted(rounds.items())) for person, rounds in sorted(by_person.items())},
        "items_by_person": {person: len(of) for person, of in sorted(inspected.items())},
        "texts_revised_by_people": sum(item["version"]["number"] > 1 for item in own),
        "disagreed": sum(item["disagreement"] for item in own),
        "agreement": {name: _agreement(decided, name) for name in ("audit", "vote")},
        "drafters": dict(sorted(Counter(item["drafter"]["name"] for item in own).items())),
        "verdicts_of_policy": dict(sorted(Counter(row["PolVerdict"] for row in rows.rows).items())),
        "chosen_by_ordered_queue": sum(item["chosen"] for item in own),
        "with_p_yes": sum(item["p_yes"] is not None for item in own),
        "certified_verdicts": dict(sorted(Counter(row["Certified"] for row in rows.rows if row["Certified"]).items())),
        "with_inspection": sum(bool(item["inspection"]) for item in own),
        "with_redshift": sum(row["z"] is not None for row in rows.rows),
        "with_sky_records": sum(entry.best["spectrum"] in rows.facts.skies for entry in rows.objects),
        "flags": {flag: n for flag in FLAGS if (n := sum(flag in row["Flags"] for row in rows.rows))},
    }


def _agreement(decided: Sequence[Json], name: str) -> Json:
    """Return the agreement of people in a round, over versions on which two or more decided."""
    seen: dict[tuple[str, str], str] = {}
    for item in decided:
        for decision in item["decisions"]:
            if decision["round"] == name and decision["verb"] != "abstain":
                seen[f"{item['item']}.{decision['version']}", decision["person"]] = decision["verb"]
    shared = Counter(version for version, _ in seen)
    kept = [(version, person, verb) for (version, person), verb in seen.items() if shared[version] > 1]
    if not kept:
        return {"items": 0}
    versions, people, verbs = ([*column] for column in zip(*kept, strict=True))
    agreed = round_agreement(versions, people, verbs)
    return {"items": len({*versions}), "raw": _estimate(agreed.raw), "alpha": _estimate(agreed.alpha)}


def _estimate(estimate: Estimate) -> Json:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def methods_text(rows: Rows, numbers: Mapping[str, Any], cited: Cited, bibliography: Bibliography) -> str:
    """Return the text of ``methods.jinja``: selection, inspection, agreement, purity, measurements, software."""
    from jinja2 import Environment, StrictUndefined

    template = Path(__file__).with_name("methods.jinja").read_text(encoding="utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"cite": bibliography.cite, "count": _count}
    environment.filters |= {"listed": _listed, "value": _value}
    certificates = [row for row in rows.facts.campaign["certificates"] if not row["suspended"]]
    read = [(row["file"], Certificate.from_json(row["certificate"])) for row in certificates]
    text = environment.from_string(template).render(
        campaign=rows.facts.campaign,
        numbers=numbers,
        cited=cited,
        rounds=_ROUNDS,
        flags=FLAGS,
        certificates=[(file, c) for file, c in read if (c.yes.threshold, c.no.threshold) != (None, None)],
        suspended=len(rows.facts.campaign["certificates"]) - len(certificates),
    )
    return re.sub(r"(?<=\S)\n(?=[^\n|#])", " ", text)  # a line per paragraph


def _value(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return "undefined"
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    return f"{value:.2f}" + ("" if low is None else f" (95 % interval {low:.2f} to {high:.2f})")


def abstract(rows: Rows, numbers: Mapping[str, Any]) -> str:
    """Return what the catalogue is, in two sentences."""
    objects = _count(numbers["objects"], "object", "objects")
    spectra = _count(numbers["spectra_of_objects"], "spectrum", "spectra")
    items = _count(numbers["selected_items"], "item was", "items were")
    return (
        f"{objects} of the class {rows.facts.campaign['task']['title']}, decided by people who inspected each "
        f"spectrum; {items} considered. The table of spectra lists {spectra}, all of these objects."
    )


def paragraphs(text: str) -> str:
    """Join the paragraphs of a methods text, without headings, tables and marks; citations are (Hou2020)."""
    kept = " ".join(line for line in text.split("\n") if line and not line.startswith(("#", "|")))
    cited = re.sub(r"\[@([^]]*)\]", lambda keys: f"({keys[1].replace('; @', ', ')})", kept)
    return cited.replace("**", "").replace("`", "")


def _count(n: int, singular: str, plural: str) -> str:
    return f"{n} {singular if n == 1 else plural}"


def _listed(parts: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *first, last = [*parts] or [""]
    return f"{', '.join(first)} and {last}" if first else last
