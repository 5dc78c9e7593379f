"""Drafts with planted errors, corrected through the review store, are what the miniature proof learns from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PIL import Image

from agent.tasks import load as load_tasks
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Think, Zoom
from reviewer.exchange.exports import export
from reviewer.store import Draft, Store
from tests.support.drawn_traces import a_store, decide
from training.data import examples
from training.miniature.examples import Errors, inspected, script_of
from training.miniature.spectra import TASKS, questions


def same(image: Image.Image) -> Image.Image:
    return image


def written(trajectory: Trajectory) -> list[object]:
    """What the assistant writes: thoughts, windows with their labels, and the verdict."""
    names = {Think: "text", Zoom: "arguments", Answer: "verdict"}
    return [getattr(step, names[type(step)]) for step in trajectory.steps]


def correct(store: Store, item_id: int, corrected: Trajectory) -> None:
    """Revise an item to the corrected steps, and approve it through all rounds."""
    decide(store, "AA", item_id, "keep")
    version = store.items.get(item_id).version
    lease = store.leases.take("AA", item_id)
    store.reviews.save_version(
        person="AA",
        item_id=item_id,
        base_version_id=version.id,
        trajectory=replace(version.trajectory, steps=corrected.steps),
        reason="misread line",
        key=f"revise-{item_id}",
        lease_token=lease.token,
    )
    store.leases.release(lease.token)
    for person, verb in zip(
        ("AA", "BB", "CC", "BB", "CC"), ("submit", "pass", "pass", "approve", "approve"), strict=True
    ):
        decide(store, person, item_id, verb)


def test_drafts_corrected_in_review_are_the_corrected_examples(tmp_path: Path) -> None:
    given = questions("sft", 6)
    errors = Errors(misread=0.6, astray=0.6)
    drafts = [inspected(question, script_of(question, n, errors), same, True) for n, question in enumerate(given)]
    corrected = [inspected(question, script_of(question, n, Errors()), same, True) for n, question in enumerate(given)]
    assert sum(written(a.trajectory) != written(b.trajectory) for a, b in zip(drafts, corrected, strict=True)) >= 3
    with a_store(tmp_path / "annotations.db") as store:
        added = store.items.add_all(
            [Draft(draft.trajectory, question.spectrum()) for draft, question in zip(drafts, given, strict=True)]
        )
        for item, right in zip(added, corrected, strict=True):
            correct(store, item.item_id, right.trajectory)
        folder = export(store, "corrected").folder
    learned = {example.trajectory.spectrum_name: example for example in examples([folder], load_tasks(TASKS))}
    assert len(learned) == len(given)
    for right in corrected:
        example = learned[right.trajectory.spectrum_name]
        assert written(example.trajectory) == written(right.trajectory)
        pictures = zip(example.pictures(), right.pictures(), strict=True)
        assert all(a.convert("RGB").tobytes() == b.convert("RGB").tobytes() for a, b in pictures)
