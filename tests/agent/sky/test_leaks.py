"""What reaches a policy from catalogues: whitelisted numbers in words that are the same for every object."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from astropy.table import Table
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from agent.loop import inspect
from agent.policies.native import Native
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import messages
from agent.simulate import CLASSES, KINDS, simulate
from agent.simulate.sky import sky_of
from agent.sky import context
from agent.sky.facts import SKY_QUANTITIES
from agent.sky.local import LocalFile
from agent.sky.maps import AGENT_QUANTITIES, QUANTITIES, CatalogueMap, bundled
from agent.sky.matching import Target, on_sky, record_of
from agent.sky.records import Sky, Source
from agent.tasks import load
from tests.agent.sky.sky_records import DWARF, FAR, POSITION, Catalogues, Scripted, calling_sky, gaia, silent
from tests.support.model_server import answer

ITEM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def blanked(text: str) -> str:
    return NUMBER.sub("#", text)


WORDS = blanked(context.call(Sky.of([gaia()]), ITEM, {}).text)


@pytest.mark.parametrize("catalogue", bundled().values(), ids=lambda catalogue: catalogue.key)
def test_of_every_column_of_every_map_only_whitelisted_quantities_reach_a_policy(catalogue: CatalogueMap):
    values = {name: float(number) for number, name in enumerate(QUANTITIES)}
    record = record_of(catalogue, Target("", *POSITION), [Source("a name", *POSITION, 0.0, values, {"type": "CV*"})])
    (seen,) = [source for shown in context.for_agent(Sky.of([record])) for source in shown.sources] or [None]
    allowed = {name for name, column in catalogue.columns.items() if column.agent}
    assert (seen is None) == (not allowed)
    if seen is not None:
        assert (seen.id, seen.texts, seen.curve) == ("0", {}, None)
        assert seen.values.keys() == allowed <= AGENT_QUANTITIES
    # A column that tells a class is not read at all.
    assert not {c.lower() for c in catalogue.class_bearing} & {c.lower() for c in catalogue.columns_read}


def test_every_number_of_the_text_is_a_whitelisted_quantity_or_an_offset():
    slots = set(re.findall(r"\{(\w+):\d\}", context.TEXT))
    numbers = {f"{name}{end}" for name in (*SKY_QUANTITIES, "G") for end in ("", "_error")}
    about = {"separation", "sources", "fibre", "blend", "constant", "E", "A_G"}
    about |= {f"{kind}{n}" for kind in ("apart", "g") for n in range(1, context.NEIGHBOURS + 1)}
    assert slots <= numbers | about
    assert set(SKY_QUANTITIES) <= slots


def records_with(tells: str, curve: object) -> Sky:
    record = gaia((0.3, 0.2, DWARF), (4.0, -3.0, FAR))
    hidden = [dataclasses.replace(s, id=tells, texts={"type": tells}, curve=curve) for s in record.sources]
    names = dataclasses.replace(record, catalogue="simbad", sources=tuple(hidden))
    return Sky.of([dataclasses.replace(record, sources=tuple(hidden)), names])


def conversation_of(sky: Sky, item=ITEM):
    policy = Scripted(calling_sky(label="luminosity"), answer("NO"), sky=Catalogues(item, sky))
    list(inspect(item, TASK, policy))
    return policy.seen[-1]


def test_names_types_identifiers_and_light_curves_change_no_byte_of_what_a_policy_gets():
    (one, curve), *others = (("AM Her", gaia((0, 0, DWARF)).sources[0].curve), ("M giant", None), ("17", None))
    native = Native(Endpoint("http://127.0.0.1:9/v1", "m"))
    first = conversation_of(records_with(one, curve))
    assert [exchange.observation.ok for exchange in first.exchanges] == [True]
    for tells, curve_of in others:
        other_class = dataclasses.replace(ITEM, catalogue_class=tells)
        again = conversation_of(records_with(tells, curve_of), other_class)
        assert again.exchanges[0].observation.text == first.exchanges[0].observation.text
        assert again.exchanges[0].observation.picture == first.exchanges[0].observation.picture
        assert messages(again) == messages(first)
        assert native.messages(again) == native.messages(first)
    told = str(native.messages(first)) + str(messages(first))
    for word in ("AM Her", "CV*", "M giant", ITEM.name, str(POSITION[0]), ITEM.catalogue_class or "cataclysmic"):
        assert word not in told.replace(TASK.prompt, "").replace(repr(TASK.prompt)[1:-1], "")


def test_permuted_columns_that_tell_a_class_change_no_byte(tmp_path):
    catalogue = bundled()["gaia_dr3"]
    places = [on_sky(*POSITION, 0.3 * n, 0.2 * n) for n in range(4)]
    columns = {"source_id": range(4), "ra": [ra for ra, _ in places], "dec": [dec for _, dec in places]}
    for name, column in catalogue.columns.items():
        usual = catalogue.epoch if name == "epoch" else 1.0
        columns[column.column] = [DWARF.get(name, usual), *[FAR.get(name, usual)] * 3]
    rng, seen = np.random.default_rng(2), set()
    for number in range(3):
        told = {name: rng.permutation(["CV", "M giant", "WD", "QSO"]) for name in catalogue.class_bearing}
        path = tmp_path / f"{number}.csv"
        Table(columns | told).write(path)
        target = Target("", *POSITION, (2016.0, 2016.0))
        ((sources,), _) = LocalFile(path).sources(catalogue, [target])
        answer_of = context.call(Sky.of([record_of(catalogue, target, sources)]), ITEM, {})
        seen.add((answer_of.ok, answer_of.text, answer_of.picture))
    assert len(sources) == 4
    assert [ok for ok, _, _ in seen] == [True]


MAGNITUDE = st.floats(-2.0, 23.0)
AROUND = st.floats(-11.0, 11.0)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("G", "BP", "RP"), MAGNITUDE),
        **dict.fromkeys(("G_error", "BP_error", "RP_error"), st.floats(0.0, 1.0)),
        "parallax": st.floats(-50.0, 800.0),
        **dict.fromkeys(("parallax_error", "pm_ra_error", "pm_dec_error"), st.floats(0.0, 5.0)),
        **dict.fromkeys(("pm_ra", "pm_dec"), st.floats(-10_000.0, 10_000.0)),
        "ruwe": st.floats(0.0, 100.0),
        "g_observations": st.integers(0, 2000).map(float),
        "g_flux_over_error": st.floats(0.0, 30_000.0),
        "bp_rp_excess": st.floats(0.0, 50.0),
    },
)
PLACED = st.lists(st.tuples(AROUND, AROUND, VALUES), max_size=6)
SURVEYS = st.sampled_from(["LAMOST", "SDSS", "DESI", "of one's own", ""])


@given(PLACED, st.sampled_from([(1998.0, 2027.0), (2016.0, 2016.0)]), SURVEYS)
@settings(max_examples=60)
def test_the_words_are_the_same_for_every_object(placed, epochs, survey):
    # The picture is another matter, and slow.
    record = gaia(*placed, epochs=epochs)
    facts = context.facts_of(context.for_agent(Sky.of([record])), dataclasses.replace(ITEM, survey=survey))
    text = context.text_of(facts)
    assert blanked(text) == WORDS
    assert len(text) <= context.MAX_TEXT


@pytest.mark.parametrize(
    ("sky", "text"),
    [
        (Sky(), context.NOT_QUERIED),
        (Sky.of([silent("not asked")]), context.NOT_QUERIED),
        (Sky.of([silent("failed")]), context.NO_ANSWER),
    ],
)
def test_without_an_answer_of_the_catalogue_the_error_says_nothing_of_the_object(sky, text):
    for item in (ITEM, simulate("gm", "SDSS", 5, 1)):
        seen = context.call(sky, item, {"label": "luminosity"})
        assert (seen.ok, seen.text, seen.image, seen.window) == (False, text, None, None)


@pytest.mark.parametrize("arguments", [None, [], "x", 3, {"wavelength_range": [1, 2]}, {"x" * 5000: 1}])
def test_a_wrong_argument_is_an_answer_in_words(arguments):
    seen = context.call(Sky.of([gaia((0, 0, DWARF))]), ITEM, arguments)
    assert (seen.ok, seen.image, seen.text[:13]) == (False, None, "Error: found ")
    assert len(seen.text) < 300


@pytest.fixture(scope="module")
def simulated():
    """A spectrum of each kind of simulated object, with its records."""
    items = [simulate(kind, "LAMOST", 12, 3) for kind in KINDS]
    return [(item, sky_of(item)) for item in items]


def test_a_classifier_on_the_words_knows_no_class(simulated):
    facts = [context.facts_of(context.for_agent(sky), item) for item, sky in simulated]
    words = [blanked(context.text_of(of)) for of in facts]
    assert len({context.text_of(of) for of in facts}) > len(facts) // 2
    labels = [item.meta["kind"] in CLASSES for item, _ in simulated]
    classifier = make_pipeline(
        CountVectorizer(analyzer="char", ngram_range=(1, 3)), LogisticRegression(class_weight="balanced")
    )
    folds = StratifiedGroupKFold(4)
    objects = [item.meta["kind"] for item, _ in simulated]
    scores = cross_val_predict(classifier, words, labels, groups=objects, cv=folds, method="decision_function")
    assert roc_auc_score(labels, np.round(scores, 9)) == 0.5


def test_no_name_class_or_identifier_of_a_simulated_object_reaches_a_policy(simulated):
    for item, sky in simulated:
        text = context.text_of(context.facts_of(context.for_agent(sky), item))
        sources = [source for record in sky for source in record.sources]
        tells = {item.catalogue_class, item.name, *(source.id for source in sources)}
        tells |= {word for source in sources for word in source.texts.values()}
        assert not [word for word in tells if word and len(word) > 2 and word.lower() in text.lower()]
        assert not [s for s in sources if f"{s.ra:.3f}" in text or f"{s.dec:.3f}" in text]
