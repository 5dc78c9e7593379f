"""What is asked: read, and held against the test data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from training.data import Card, DataError, Dropped, card, questions, refuse_leaks, without
from training.grpo.settings import GrpoSettings
from training.records import Question


@dataclass(frozen=True)
class Prepared:
    """Questions to ask, and the card that counts them and what was left out."""

    questions: tuple[Question, ...]
    card: Card


def prepare(settings: GrpoSettings) -> Prepared:
    """Read the questions; no spectrum is drawn yet.

    :raises DataError: nothing to ask, data that cannot be used, or sources of the test data in it
    """
    if not settings.data:
        raise DataError("data: found nothing, wanted SpecVI Parquet, JSON lines or spectra (--data)")
    dropped: list[Dropped] = []
    labels = None if settings.labels is None else Path(settings.labels)
    spectra = None if settings.spectra_folder is None else Path(settings.spectra_folder)
    wanted = settings.tasks or ()
    found = questions(
        settings.data,
        labels=labels,
        task=wanted[0] if len(wanted) == 1 else None,
        part="train",
        spectra=spectra,
        dropped=dropped,
    )
    if wanted:
        found = [one for one in found if one.task.key in wanted]
        missing = [key for key in wanted if all(one.task.key != key for one in found)]
        if missing:
            raise DataError(f"tasks: found no question of {', '.join(missing)} in {', '.join(settings.data)}")
    if settings.test:
        test = questions(settings.test, labels=labels, part="test", spectra=spectra)
        if settings.drop_leaks:
            found, leaks = without(found, {one.source for one in test})
            dropped += [Dropped(one.key, "its spectrum is in the test data") for one in leaks]
        refuse_leaks(found, test)
    return Prepared(tuple(found), card(found, dropped=dropped))
