"""``sky_context``: its answer, and an inspection that asks for it, wherever the trace and its picture go."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

import app
from agent.batch.journal import Journal
from agent.batch.report import markdown, pictures
from agent.batch.run import Job, Plan, inspect_one
from agent.cli.command import CannotRun
from agent.cli.policy_options import PolicyOptions, choice_from, roster_from
from agent.conversation import PolicyError, Stop
from agent.hints import hints, windows_after
from agent.loop import run
from agent.plot import pixels_sha256, png_bytes
from agent.policies.examples import Examples
from agent.policies.giveaways import mentions_label
from agent.policies.local.model import Weights
from agent.policies.native import Native
from agent.policies.openai.endpoint import Endpoint
from agent.policies.roster import Replay, Roster
from agent.policies.servers import Server
from agent.simulate import simulate
from agent.sky import context
from agent.sky.records import Sky
from agent.sky.table import SkyTable, write_table
from agent.tasks import load
from agent.tool import MEASURE_SCHEMA, SKY_SCHEMA, TOOL_BLOCK, TOOL_SCHEMA, tool_block, tool_schemas
from agent.trajectory import Trajectory, TrajectoryError
from agent.trajectory.forms import QWEN3_5, SPEC_O3
from agent.trial.run import trial
from agent.trust.certificate import CertifiedPolicy
from reviewer.blind.judge.prompts import _step
from reviewer.blind.leaks import leaks_in_steps
from reviewer.blind.pictures import list_pictures, neutral_picture, revealing_pictures
from reviewer.blind.sheet import trace_of
from reviewer.exchange.annotations.tasks import trace_in_words
from reviewer.exchange.exports import export
from reviewer.exchange.imports import import_file
from reviewer.exchange.item import ApprovedItem, NotTrainable
from reviewer.exchange.item import pictures as pictures_of_item
from reviewer.pictures import revise
from reviewer.similar.of_texts import facts_of_texts
from reviewer.store import Draft
from tests.agent.sky.sky_records import DWARF, FAR, Catalogues, Scripted, calling_sky, gaia
from tests.support.certificates import certificate
from tests.support.cli import parsed
from tests.support.drawn_traces import a_store, approve
from tests.support.model_server import BadServer, answer, look, talking
from training.bench.run import added
from training.data.export_folder import stated_in
from training.data.pictures import DataError, Drawn

ITEM, TASK = simulate("cv", "LAMOST", 30, 3), load()["cv"]
SKY = Sky.of([gaia((0.3, 0.2, DWARF), (4.0, -3.0, FAR))])
SOURCE = Catalogues(ITEM, SKY)
MEASURING = calling_sky(feature="Hα").replace("sky_context", "measure")
TURNS = (look(6400, 6700), calling_sky(label="luminosity"), MEASURING, calling_sky(window=[1, 2]), answer("YES"))


@pytest.fixture(scope="module")
def outcome():
    policy = Scripted(*TURNS, sky=SOURCE, measure=True)
    return inspect_one(Job("a", Path("a.fits")), _Read(), Plan(TASK, lambda _: policy), policy, Stop())


class _Read:
    def spectrum(self):
        return ITEM


@pytest.fixture(scope="module")
def trace(outcome) -> Trajectory:
    return outcome.trajectory


def test_the_answer_has_the_numbers_of_the_facts_and_one_picture_of_fixed_bytes():
    seen = context.call(SKY, ITEM, {"label": "x"})
    assert (seen.ok, seen.window, seen.image.size, seen.image.mode) == (True, None, (900, 450), "RGBA")
    # G 15.2 at 5.017 mas; three neighbours, of which two are missing.
    for part in ("M_G 8.70 +- 0.02", "within 10 arcsec: 2", "arcsec and G: 5.0, 15.20; -9999, -9999;"):
        assert part in seen.text
    with ThreadPoolExecutor(2) as threads:
        again = list(threads.map(lambda _: context.call(SKY, ITEM, {}), range(2)))
    assert {(a.text, a.picture) for a in again} == {(seen.text, seen.picture)}
    assert context.has_own_titles(seen.image)
    assert not context.has_own_titles(Image.new("RGBA", (900, 450), "white"))


def test_each_case_of_the_plane_is_a_picture_of_its_own():
    high, no_colour = {"G": -9.0}, {k: v for k, v in DWARF.items() if k != "BP"}
    cases = [DWARF, FAR, DWARF | {"BP": 23.0, "G": 29.0}, DWARF | high, FAR | high, no_colour, {"BP": 15.0, "RP": 14.0}]
    seen = [context.call(Sky.of([gaia((0.3, 0.2, case))]), ITEM, {}) for case in cases]
    assert len({s.picture for s in seen}) == len(seen)
    assert all(context.has_own_titles(s.image) for s in seen)
    # Nothing of one object is left in the picture of the next.
    assert context.call(Sky.of([gaia((0.3, 0.2, cases[0]))]), ITEM, {}).picture == seen[0].picture


def test_a_trace_is_whole_everywhere(trace):
    zoom, sky, _, wrong = trace.zooms
    assert [z.tool for z in trace.zooms[1:]] == ["sky_context", "measure", "sky_context"]
    assert (sky.ok, sky.drawn, sky.window, sky.window_observed, sky.label) == (True, True, None, None, "luminosity")
    assert (wrong.ok, wrong.picture, wrong.observation[:13]) == (False, None, "Error: found ")
    assert (trace.faults, trace.problems(), trace.sky) == ((), [], True)
    assert Trajectory.from_json(json.loads(json.dumps(trace.to_json()))) == trace
    assert trace.pictures == (trace.overview, zoom.picture, sky.picture)
    row = trace.to_sharegpt(["a.png", "b.png", "c.png"])
    system = row["conversations"][0]["value"]
    assert system.endswith(tool_block(measure=True, sky=True))
    assert stated_in(system) == TOOL_SCHEMA
    assert Trajectory.from_sharegpt(row, trace.pictures).steps == trace.steps
    assert hints(ITEM, sky, TASK) == ()
    assert windows_after(trace, zoom) == ()
    assert "Catalogues: luminosity. Star catalogues at" in trace_in_words(trace)
    report = markdown(trace, ITEM, {}, {})
    assert r"**Tool: sky\_context**: luminosity" in report
    assert "The tool answered: Star catalogues at" in report
    assert "what catalogues measured of the object, called “luminosity”. The tool answered: " in _step(
        next(step for step in trace_of(trace).steps if step.tool == "sky_context")
    )
    assert not {"zoom: no window", "zoom: no label"} & set(facts_of_texts(trace))
    assert leaks_in_steps(trace.steps) == ()
    again = run(ITEM, TASK, Replay(trace, SOURCE))
    assert again.steps == trace.steps
    with pytest.raises(PolicyError, match="needs the records of its object"):
        Replay(trace)


def test_without_the_offer_a_call_is_a_fault_and_the_published_answer():
    trace = run(ITEM, TASK, Scripted(*TURNS[1:2], answer("NO")))
    assert trace.faults[0] == "turn 1: a call of 'sky_context', which was not offered"
    assert trace.zooms[0].observation == "Error when executing tool: 'sky_context'"
    assert not trace.sky
    assert "tool" not in trace.to_json()["steps"][1]


def test_without_the_tool_every_text_is_that_of_before():
    assert tool_schemas() == [TOOL_SCHEMA]
    assert tool_schemas(True) == [TOOL_SCHEMA, MEASURE_SCHEMA]
    assert tool_schemas(sky=True) == [TOOL_SCHEMA, SKY_SCHEMA]
    assert tool_block() == TOOL_BLOCK == SPEC_O3.tools()
    assert "sky_context" in QWEN3_5.tools(sky=True)
    assert "sky_context" not in QWEN3_5.tools(True) + SPEC_O3.tools(True)


def test_an_export_and_its_import_keep_the_text_and_the_picture(outcome, trace, tmp_path):
    sky, step = trace.zooms[1].picture, trace.zooms[1].id
    assert [pixels_sha256(_image(png)) for png in outcome.pictures.values()] == list(outcome.pictures) == [sky]
    with a_store(tmp_path / "annotations.db") as store:
        item = store.items.add_all([Draft(trace, ITEM, pictures=outcome.pictures)])[0].item_id
        approve(store, item)
        version = store.items.get(item).version.trajectory
        exported = export(store, "one", folder=tmp_path)
        rows = exported.folder / "trajectories.jsonl"
    with a_store(tmp_path / "again.db") as again:
        (copy,) = import_file(again, exported.folder).added
        back = again.items.get(copy).version.trajectory
        assert back.content_hash() == version.content_hash()
        assert again.spectra.picture(sky) == outcome.pictures[sky]
        (known,) = Examples(exported.folder).candidates
        assert known.shown.exchanges[1].observation.picture == sky
        assert not Examples(exported.folder).chosen("cv", simulate("wd", "SDSS", 9, 1))
    with a_store(tmp_path / "sharegpt.db") as again:
        (copy,) = import_file(again, exported.folder / "train_sharegpt.json").added
        assert again.items.get(copy).version.trajectory.zooms[1].picture == sky
        assert again.spectra.picture(sky) is not None
    row = json.loads(rows.read_text(encoding="utf-8"))
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({k: v for k, v in row.items() if k != "pictures"}) + "\n", encoding="utf-8")
    with a_store(tmp_path / "bare.db") as again:
        problems = import_file(again, bare).problems
    assert [(p.field, p.reason) for p in problems] == [
        ("pictures", f"the picture of step {step} is of the sky and is not in the file; import the pictures with it")
    ]


def _image(png: bytes) -> Image.Image:
    import io

    return Image.open(io.BytesIO(png)).convert("RGBA")


def test_results_of_a_run_have_the_picture_and_are_imported_with_it(outcome, tmp_path):
    results = tmp_path / "results.jsonl"
    with Journal(results, {}) as journal:
        journal.add(outcome, {"spectrum_data": ITEM.to_json()})
    sky = outcome.trajectory.zooms[1].picture
    assert json.loads(results.read_text(encoding="utf-8"))["pictures"] == {sky: f"results.jsonl.pictures/{sky}.png"}
    with a_store(tmp_path / "annotations.db") as store:
        import_file(store, results)
        assert store.spectra.picture(sky) == outcome.pictures[sky]
    seen, folder = set(outcome.trajectory.pictures), tmp_path / "results.jsonl.pictures"
    assert set(pictures(outcome.trajectory, ITEM)) == seen - {sky}
    assert set(pictures(outcome.trajectory, ITEM, folder)) == seen


def test_a_draft_with_sky_is_stored_with_its_picture(table, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    spectrum = tmp_path / "star.json"
    spectrum.write_text(json.dumps(ITEM.to_json()))
    turns = talking((calling_sky(), answer("YES")))
    with BadServer(turns, models=["gpt"]) as server:
        given = ["draft", spectrum, "--task", "cv", "--policy", "openai", "--model", "gpt", "--server", server.url]
        assert app.main([*map(str, given), "--sky", str(table), "--out", str(tmp_path / "d.jsonl")]) == 0
        assert server.chats[0].body["tools"] == [TOOL_SCHEMA, SKY_SCHEMA]
        assert json.dumps(server.chats[-1].body).count("data:image/png;base64,") == 2
    with a_store(tmp_path / "annotations.db") as store:
        (item,) = import_file(store, tmp_path / "d.jsonl").added
        trace = store.items.get(item).version.trajectory
        assert [zoom.tool for zoom in trace.zooms] == ["sky_context"]
        assert store.spectra.picture(trace.zooms[0].picture) is not None


def test_nobody_draws_the_picture_from_the_spectrum(outcome, trace):
    sky = trace.zooms[1].picture
    with pytest.raises(NotTrainable, match="of the sky and is not stored"):
        pictures_of_item(ApprovedItem(1, trace, ITEM, {}, {}))
    stored = pictures_of_item(ApprovedItem(1, trace, ITEM, outcome.pictures, {}))
    assert [(p.sha256 == sky, p.drawn) for p in stored] == [(False, True), (False, True), (True, False)]
    with pytest.raises(DataError, match="of the sky and is not in the file"):
        Drawn("a", trace, lambda: ITEM, {})()
    spectra = SimpleNamespace(exists=lambda _: True, get=lambda _: ITEM, picture=outcome.pictures.get)
    shown = [neutral_picture(spectra, p, ITEM.sha256, None) for p in list_pictures(trace)]
    assert [s.state for s in shown] == ["drawn anew", "drawn anew", "unchanged"]
    assert pixels_sha256(shown[2].image) == sky
    assert revealing_pictures(spectra, ITEM.sha256, trace) == ()
    foreign = SimpleNamespace(**vars(spectra) | {"picture": lambda _: png_bytes(Image.new("RGBA", (900, 450), "red"))})
    assert [p.name for p in revealing_pictures(foreign, ITEM.sha256, trace)] == [sky]


def test_a_reviewer_can_name_or_remove_a_call_but_not_make_up_its_answer(trace):
    gallery = SimpleNamespace(spectrum=lambda sha256: ITEM)
    steps = trace.to_json()["steps"]
    assert revise(trace, steps, gallery) == trace
    at = trace.steps.index(trace.zooms[1])
    steps[at] |= {"arguments": {"label": "giant or dwarf"}, "observation": "M_G -9.", "picture": None}
    assert revise(trace, steps, gallery).steps[at] == replace(trace.steps[at], arguments={"label": "giant or dwarf"})
    for change in ({"arguments": {"window": 1}}, {"id": "s99"}):
        with pytest.raises(TrajectoryError, match="cannot be added here"):
            revise(trace, [*steps[:at], steps[at] | change, *steps[at + 1 :]], gallery)
    assert revise(trace, [*steps[:at], *steps[at + 1 :]], gallery).zooms[1:] == trace.zooms[2:]


def test_numbers_of_catalogues_are_no_giveaway_and_classes_are():
    for text in (
        "the catalogue gives M_G 5.1",
        "The catalogue gives no parallax",
        "the catalogue lists a proper motion",
    ):
        assert mentions_label(text) is None
    for text in ("the catalogue gives a white dwarf", "the catalogue class G", "the catalogue says it is a CV"):
        assert mentions_label(text)


def test_a_trial_of_the_spectrum_keeps_the_records_of_the_object(trace):
    policy = Scripted(*TURNS, sky=SOURCE, measure=True)
    result = trial(trace, None, ITEM, TASK, policy, edits=("remove", "flip", "shift", "inject"), placebos=0)
    of_sky = {zoom.id for zoom in trace.zooms if zoom.shows_sky}
    assert not of_sky & {outcome.step for outcome in result.outcomes}
    answers = {c.exchanges[1].observation.picture for c in policy.seen if len(c.exchanges) > 1}
    assert answers == {trace.zooms[1].picture}
    assert any(c.spectrum.sha256 != ITEM.sha256 for c in policy.seen)


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "sky.parquet"
    write_table(path, [(ITEM.sha256, record) for record in SKY])
    return path


def test_with_sky_a_policy_is_another_one_with_a_row_and_a_certificate_of_its_own(table):
    source = SkyTable(table)
    with BadServer(models=["gpt", "runs-sft"]) as server:
        mine = Server(key="mine", url=server.url, model="gpt", dialect="native")
        roster = Roster([mine, mine.model_copy(update={"key": "own", "dialect": "spec-o3", "model": "runs-sft"})])
        made = [(roster.policy(key, sky=source), roster.policy(key)) for key in ("mine", "own")]
        settings_of = [[policy.drafter.settings for policy in pair] for pair in made]
    for (with_sky, plain), (settings, bare) in zip(made, settings_of, strict=True):
        assert (with_sky.sky, plain.sky) == (source, None)
        assert (settings["sky"], settings["sky_catalogues"], len(settings["sky_sha256"])) == (True, "gaia_dr3", 64)
        assert not any("sky" in name for name in bare)
        policies = [CertifiedPolicy("model", "m", of) for of in (settings, bare)]
        pairs = [(certificate(policy=of), now) for of in policies for now in policies]
        refusals = [of.refusal("cv", of.prompt_sha256, now, 1) for of, now in pairs]
        assert [bool(refusal) for refusal in refusals] == [False, True, True, False]
        assert all("sky was" in refusal for refusal in refusals[1:3])
        assert (added(settings), added(bare)) == ("with sky", "")


def test_a_published_checkpoint_never_gets_it(table):
    server = Server(key="spec-o3", url="http://127.0.0.1:9/v1")
    checkpoint = server.model_copy(update={"key": "b", "model": "Maxwell-Jia/spec-o3-7b"})
    roster = Roster([server, checkpoint], Weights("Maxwell-Jia/spec-o3-3b"))
    for key in ("spec-o3", "b", "local"):
        with pytest.raises(PolicyError, match="cannot be offered the sky_context tool"):
            roster.policy(key, sky=SkyTable(table))


def test_the_option_gives_the_table_to_every_process(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    given = ("--policy", "openai", "--model", "gpt", "--server", "http://127.0.0.1:9/v1", "--sky")
    options = parsed(PolicyOptions, *given, table.name)
    choice = pickle.loads(pickle.dumps(choice_from(options, roster_from(options))))
    monkeypatch.chdir("/")
    assert choice().sky(ITEM.sha256) == SKY
    assert choice().sky("0" * 64) == Sky()
    monkeypatch.chdir(tmp_path)
    wrong = tmp_path / "x.parquet"
    wrong.write_text("no table")
    with pytest.raises(CannotRun, match="found no readable Parquet file"):
        choice_from(parsed(PolicyOptions, *given, wrong.name), roster_from(options))
    for policy in ("nano", "specialist"):
        with pytest.raises(CannotRun, match=f"--sky has no effect with --policy {policy}"):
            choice_from(parsed(PolicyOptions, "--policy", policy, "--sky", table.name), roster_from(options))


def test_an_object_without_records_is_offered_the_tool_and_gets_no_hint_of_why():
    policy = Scripted(calling_sky(), answer("NO"), sky=Catalogues(simulate("wd", "SDSS", 9, 1), SKY))
    trace = run(ITEM, TASK, policy)
    assert (trace.faults, trace.zooms[0].tool, trace.zooms[0].observation) == ((), "sky_context", context.NOT_QUERIED)
    native = Native(Endpoint("http://127.0.0.1:9/v1", "m"))
    assert "tool sky_context" in native.messages(policy.seen[0])[0]["content"]
