"""The pure rules: workflow and people."""

from itertools import count, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.rules.people import (
    Person,
    PersonError,
    clean_initials,
    clean_name,
    clean_roles,
    hash_password,
    new_token,
    password_matches,
    token_hash,
)
from reviewer.rules.workflow import (
    REASONS,
    STATES,
    VERBS,
    Decision,
    Rules,
    RulesError,
    VersionMade,
    barred,
    incomplete,
    refusal,
    standing,
    undo_refusal,
    work_refusal,
)

RULES = Rules()
DRAFT = VersionMade(1, 1, None)
ALL_PEOPLE = ("RE", "AU", "AX", "VO", "CO", "JU")


def person(initials: str, *roles: str, active: bool = True) -> Person:
    return Person(initials, initials, frozenset(roles or ("coordinator",)), active)


class Story:
    """A history that grows: each decision is in the current round and on the current version."""

    def __init__(self, rules: Rules = RULES) -> None:
        self.rules = rules
        self.facts = [DRAFT]
        self.ids = count(1)

    @property
    def now(self):
        return standing(self.facts, self.rules)

    def version(self, author: str) -> "Story":
        number = self.now.version + 1
        self.facts.append(VersionMade(number, number, author))
        return self

    def decides(self, who: str, verb: str, comment: str = "", reason: str = "") -> "Story":
        now = self.now
        given = {"reason": reason, "comment": comment, "rules": self.rules}
        self.facts.append(Decision(next(self.ids), now.version_id, who, now.round or "vote", verb, **given))
        return self

    def undoes(self, who: str) -> "Story":
        now = self.now
        self.facts.append(Decision(next(self.ids), now.version_id, who, now.last.round, "undo", withdraws=now.last.id))
        return self


def at_audit(rules: Rules = RULES) -> Story:
    return Story(rules).decides("RE", "keep").version("RE").decides("RE", "submit")


def at_vote(rules: Rules = RULES) -> Story:
    story = at_audit(rules)
    for auditor in ("AU", "AX", "JU")[: rules.auditors]:
        story.decides(auditor, "pass")
    return story


def test_an_item_is_kept_revised_audited_voted_on_and_approved():
    story = Story()
    seen = [story.now.progress]
    for who, verb in [("RE", "keep"), ("RE", "submit"), ("AU", "pass"), ("AX", "pass"), ("VO", "approve")]:
        seen.append(story.decides(who, verb).now.progress)
    assert seen == ["screening", "revision", "audit 0 of 2", "audit 1 of 2", "vote 0 of 2", "vote 1 of 2"]
    now = story.decides("AU", "approve").now
    assert (now.state, now.round, now.decided_by, now.missing) == ("approved", None, ("VO", "AU"), 0)


@pytest.mark.parametrize("story", [Story(), Story().decides("RE", "keep")], ids=["screening", "revision"])
def test_one_rejection_before_the_audit_is_enough(story):
    now = story.decides("RE", "reject").now
    assert (now.state, now.decided_by) == ("rejected", ("RE",))


@pytest.mark.parametrize(
    ("start", "people", "reasons", "state"),
    [
        (Story, ["RE"], ["cannot_tell"], "cannot tell"),
        (at_audit, ["AU"], ["cannot_tell"], "audit"),
        (at_audit, ["AU", "AX"], ["cannot_tell", "cannot_tell"], "cannot tell"),
        (at_audit, ["AU", "AX"], ["cannot_tell", "bad_data"], "rejected"),
        (at_vote, ["VO", "CO"], ["cannot_tell", "cannot_tell"], "cannot tell"),
        (at_vote, ["VO", "CO"], ["wrong_class", "cannot_tell"], "rejected"),
    ],
)
def test_an_item_is_cannot_tell_if_all_who_rejected_it_gave_this_reason(start, people, reasons, state):
    story = start()
    for who, reason in zip(people, reasons, strict=True):
        story.decides(who, "reject", reason=reason)
    assert story.now.state == state
    if state != "audit":
        assert (story.now.round, story.now.needed, set(story.now.decided_by)) == (None, 0, set(people))
        assert story.undoes(people[-1]).now.state != state


@pytest.mark.parametrize(
    ("start", "verbs", "state"),
    [
        (at_audit, ["pass"], "audit"),
        (at_audit, ["return"], "returned"),
        (at_audit, ["pass", "return"], "returned"),
        (at_audit, ["reject"], "audit"),
        (at_audit, ["pass", "pass"], "vote"),
        (at_audit, ["reject", "reject"], "rejected"),
        (at_audit, ["pass", "reject"], "adjudication"),
        (at_audit, ["reject", "pass"], "adjudication"),
        (at_vote, ["approve"], "vote"),
        (at_vote, ["approve", "approve"], "approved"),
        (at_vote, ["reject", "reject"], "rejected"),
        (at_vote, ["approve", "reject"], "adjudication"),
        (at_vote, ["approve", "abstain"], "adjudication"),
        (at_vote, ["abstain", "abstain"], "adjudication"),
    ],
)
def test_the_decisions_of_an_audit_and_a_vote_give_the_state(start, verbs, state):
    story = start()
    for who, verb in zip(("AU", "AX") if start is at_audit else ("VO", "CO"), verbs, strict=False):
        story.decides(who, verb)
    assert story.now.state == state


@pytest.mark.parametrize(("verb", "state"), [("approve", "approved"), ("reject", "rejected"), ("return", "returned")])
def test_one_adjudication_decides(verb, state):
    now = at_vote().decides("VO", "approve").decides("CO", "reject").decides("JU", verb).now
    assert now.state == state
    assert now.decided_by == (() if verb == "return" else ("JU",))


def test_a_new_version_makes_the_audits_of_the_old_one_stale():
    story = at_audit().decides("AU", "pass").decides("AX", "return", "wrong line").version("RE")
    now = story.now
    assert [(d.person, d.verb) for d in now.stale] == [("AU", "pass"), ("AX", "return")]
    assert now.decisions == ()
    now = story.decides("RE", "submit").now
    assert now.progress == "audit 0 of 2"
    assert refusal(now, RULES, person("AX", "auditor"), "pass", now.version_id) is None


def test_a_returned_version_has_to_change_before_it_is_submitted_again():
    story = at_audit().decides("AU", "return")
    now = story.now
    assert "change it" in refusal(now, RULES, person("RE", "reviewer"), "submit", now.version_id)
    assert story.decides("RE", "submit").now.state == "returned"
    now = story.version("RE").now
    assert refusal(now, RULES, person("RE", "reviewer"), "submit", now.version_id) is None


def test_disagreement_is_two_opposite_decisions_in_one_round():
    assert not at_audit().decides("AU", "pass").now.disagreement
    assert at_audit().decides("AU", "pass").decides("AX", "return").now.disagreement
    assert not at_audit().decides("AU", "pass").now.compared
    assert at_vote().now.compared
    assert not at_vote().decides("VO", "approve").decides("CO", "abstain").now.disagreement
    assert at_vote().decides("VO", "approve").decides("CO", "reject").decides("JU", "approve").now.disagreement


# ---- who may do what


@pytest.mark.parametrize("verb", ["pass", "return", "reject"])
def test_the_author_of_a_version_may_not_audit_it(verb):
    now = at_audit().now
    assert refusal(now, RULES, person("RE"), verb, now.version_id) == (
        "RE wrote a version of this item, so another person has to audit it."
    )


def test_no_person_audits_or_votes_twice_but_an_auditor_may_vote():
    now = at_audit().decides("AU", "pass").now
    assert "already audited version 2" in refusal(now, RULES, person("AU"), "pass", now.version_id)
    now = at_vote().decides("VO", "approve").now
    assert "already voted on version 2" in refusal(now, RULES, person("VO"), "reject", now.version_id)
    assert refusal(now, RULES, person("AU", "auditor"), "approve", now.version_id) is None


def test_an_adjudicator_has_neither_written_audited_nor_voted():
    now = at_vote().decides("VO", "approve").decides("CO", "reject").now
    for initials in ("RE", "AU", "AX", "VO", "CO"):
        assert refusal(now, RULES, person(initials), "approve", now.version_id)
    assert refusal(now, RULES, person("JU", "auditor"), "approve", now.version_id) is None
    assert set(barred(now, RULES)) == {"RE", "AU", "AX", "VO", "CO"}


@pytest.mark.parametrize(
    ("story", "role"), [(Story(), "auditor"), (Story().decides("RE", "keep"), "auditor"), (at_audit(), "reviewer")]
)
def test_a_round_is_closed_to_other_roles(story, role):
    assert f"JU is {role}" in work_refusal(story.now, RULES, person("JU", role))


def test_text_is_edited_in_revision_only():
    allowed = {
        state: refusal(story.now, RULES, person("CO"), "edit", story.now.version_id) is None
        for state, story in {
            "screening": Story(),
            "revision": Story().decides("RE", "keep"),
            "returned": at_audit().decides("AU", "return"),
            "audit": at_audit(),
            "vote": at_vote(),
            "rejected": Story().decides("RE", "reject"),
        }.items()
    }
    assert [state for state, yes in allowed.items() if yes] == ["revision", "returned"]


def test_a_refusal_names_the_current_round_of_the_item():
    now = at_vote().now
    assert "in vote now" in refusal(now, RULES, person("CO"), "pass", now.version_id)
    assert "already rejected" in work_refusal(Story().decides("RE", "reject").now, RULES, person("CO"))
    now = Story().decides("RE", "reject", reason="cannot_tell").now
    assert work_refusal(now, RULES, person("CO")) == "This item is already decided: nobody can tell from these data."


def test_an_older_version_and_an_inactive_person_are_refused():
    now = at_audit().now
    assert "version 2 is the current one" in refusal(now, RULES, person("AU"), "pass", 1)
    assert "no longer active" in refusal(now, RULES, person("AU", active=False), "pass", now.version_id)


def test_one_person_working_alone_decides_every_round():
    alone = Rules(solo=True)
    story = Story(alone)
    for verb in ("keep", "submit", "pass", "approve"):
        now = story.now
        assert refusal(now, alone, person("ME", "reviewer", "auditor", "coordinator"), verb, now.version_id) is None
        story.decides("ME", verb)
    assert story.now.state == "approved"


@pytest.mark.parametrize(
    ("verb", "given", "missing"),
    [
        ("reject", {}, "reason"),
        ("reject", {"reason": "ugly"}, "reason"),
        ("reject", {"reason": "other"}, "comment"),
        ("reject", {"reason": "other", "comment": "not a star"}, None),
        ("reject", {"reason": "duplicate"}, None),
        ("return", {"comment": "  "}, "comment"),
        ("return", {"comment": "Hβ is not there"}, None),
        ("approve", {"reason": "duplicate"}, "comment"),
        ("pass", {}, None),
    ],
)
def test_reject_needs_a_reason_and_return_a_comment(verb, given, missing):
    sentence = incomplete(verb, **given)
    assert sentence is None if missing is None else missing in sentence
    assert "other" in REASONS


@pytest.mark.parametrize(
    "numbers",
    [{"auditors": 0}, {"votes": 1}, {"votes": 3, "approve_at": 2, "reject_at": 1}, {"votes": 0, "approve_at": 0}],
)
def test_rules_that_could_decide_two_ways_or_never_are_refused(numbers):
    with pytest.raises(RulesError):
        Rules(**numbers)


def test_new_rules_apply_to_open_rounds_and_not_to_closed_ones():
    story = at_vote(Rules(auditors=1))
    assert standing(story.facts, Rules(auditors=3)).state == "vote"
    story = at_audit().decides("AU", "pass")
    assert standing(story.facts, Rules(auditors=1)).state == "vote"
    assert standing(story.facts, Rules(auditors=3)).progress == "audit 1 of 3"


# ---- undo


def test_an_item_is_withdrawn_and_restored_unless_a_person_wrote_a_version_of_it():
    story = Story().decides("CO", "withdraw")
    assert story.now.state == "withdrawn"
    assert story.decides("CO", "restore").decides("RE", "keep").now.state == "revision"
    assert Story().version("RE").decides("CO", "withdraw").now.state == "screening"


def test_undo_withdraws_the_latest_decision_and_then_the_one_before_it():
    story = Story().decides("RE", "keep").decides("RE", "submit")
    assert story.undoes("RE").now.state == "revision"
    assert story.undoes("RE").now.state == "screening"
    assert undo_refusal(story.now, person("RE")) is not None


def test_a_decision_followed_by_other_work_cannot_be_undone():
    story = at_audit().decides("AU", "pass").decides("AX", "pass")
    assert "AX's" in undo_refusal(story.now, person("AU"))
    returned = at_audit().decides("AU", "return")
    assert undo_refusal(returned.now, person("AU")) is None
    assert undo_refusal(returned.version("RE").now, person("AU")) is not None


def test_a_forged_undo_changes_nothing():
    story = at_vote().decides("VO", "approve")
    before = story.now
    forged = Decision(99, before.version_id, "CO", "vote", "undo", withdraws=before.last.id)
    assert standing([*story.facts, forged], RULES) == before


# ---- properties


@st.composite
def some_rules(draw: st.DrawFn) -> Rules:
    auditors, votes, spare = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(0, 2))
    approve_at, reject_at = votes - min(spare, votes // 2), votes - min(spare, (votes - 1) // 2)
    decisive = approve_at + reject_at > votes
    return Rules(auditors, votes, *((approve_at, reject_at) if decisive else (votes, votes)))


@pytest.mark.parametrize(("round_", "start"), [("audit", at_audit), ("vote", at_vote)])
@given(some_rules(), st.data())
def test_decisions_in_any_order_have_one_outcome(round_, start, rules, data):
    most = rules.votes if round_ == "vote" else rules.auditors
    verbs = data.draw(st.lists(st.sampled_from(VERBS[round_]), min_size=1, max_size=most))
    people = ALL_PEOPLE if round_ == "vote" else ("AU", "AX", "JU")
    outcomes = set()
    for order in permutations(list(zip(people, verbs, strict=False))):
        story = start(rules)
        version = story.now.version_id
        story.facts += [
            Decision(100 + n, version, who, round_, verb, rules=rules) for n, (who, verb) in enumerate(order)
        ]
        outcomes.add(story.now.state)
    assert len(outcomes) == 1


decisions = st.lists(
    st.tuples(st.sampled_from(ALL_PEOPLE), st.sampled_from([*VERBS["vote"], *VERBS["audit"], "keep", "submit"])),
    max_size=12,
)


@given(decisions, decisions)
def test_surplus_votes_never_change_a_result(first, surplus):
    story = Story()
    for who, verb in first:
        story.decides(who, verb)
    decided = story.now
    if decided.round is not None:
        story = at_vote().decides("VO", "approve").decides("CO", "approve")
        decided = story.now
    for who, verb in surplus:
        story.facts.append(Decision(next(story.ids), decided.version_id, who, "vote", verb))
    now = story.now
    assert (now.state, now.decided_by, now.decisions) == (decided.state, decided.decided_by, decided.decisions)
    assert len(now.surplus) == len(decided.surplus) + len(surplus)


@given(decisions, st.lists(st.sampled_from([None, "RE", "AU"]), max_size=4))
def test_every_history_has_one_standing(history, authors):
    story = Story()
    for n, (who, verb) in enumerate(history):
        story.decides(who, verb)
        if n < len(authors):
            story.version(authors[n] or "CO")
    now = story.now
    assert now == standing(tuple(story.facts), RULES)
    assert now.state in STATES
    assert len(now.cast) <= now.needed or now.needed == 0


@given(decisions)
def test_every_allowed_decision_counts(history):
    story = Story()
    for who, verb in history:
        now = story.now
        allowed = refusal(now, RULES, person(who), verb, now.version_id) is None
        story.decides(who, verb)
        counted = len(story.now.surplus) == len(now.surplus)
        assert counted or not allowed
        if not allowed:
            story.facts.pop()


@given(decisions)
def test_undo_restores_the_standing_before_the_decision(history):
    story = Story()
    for who, verb in history:
        now = story.now
        if refusal(now, RULES, person(who), verb, now.version_id) is None:
            assert story.decides(who, verb).undoes(who).now == now
            story.decides(who, verb)


def test_a_history_without_a_version_is_refused():
    with pytest.raises(ValueError, match="begins with a version"):
        standing([], RULES)


@pytest.mark.parametrize(("typed", "kept"), [("ab", "AB"), (" ÅsL ", "ÅSL"), ("WXYZ", "WXYZ")])
def test_initials_are_two_to_four_letters_in_capitals(typed, kept):
    assert clean_initials(typed) == kept


@pytest.mark.parametrize("typed", ["", "a", "abcde", "a1", "a b", "<b>"])
def test_other_initials_are_refused_and_shown(typed):
    with pytest.raises(PersonError, match=r"^Initials need two to four letters; found"):
        clean_initials(typed)


@pytest.mark.parametrize("roles", [[], ["king"], ["reviewer", "king"]])
def test_unknown_roles_are_refused(roles):
    with pytest.raises(PersonError, match="expected one or more of reviewer, auditor, coordinator"):
        clean_roles(roles)


def test_a_name_loses_superfluous_spaces_and_may_not_be_empty():
    assert clean_name("  Annie  Jump Cannon ") == "Annie Jump Cannon"
    with pytest.raises(PersonError):
        clean_name("  ")


def test_a_password_matches_its_own_hash_only():
    kept = hash_password("Hβ at 4861.3 Å")
    assert password_matches("Hβ at 4861.3 Å", kept)
    for password, known in (("Hβ at 4861.4 Å", kept), ("", None), ("anything", None)):
        assert not password_matches(password, known)


@pytest.mark.usefixtures("slow_passwords")
def test_two_hashes_of_one_password_differ_and_hold_their_parameters():
    first, second = hash_password("parallax"), hash_password("parallax")
    assert first != second
    assert first.split("$")[:4] == ["scrypt", "15", "8", "3"]
    assert "parallax" not in first


def test_a_hash_made_with_other_parameters_still_matches():
    # scrypt("password", "NaCl", N=1024, r=8, p=16), RFC 7914 section 12, the first 32 of its 64 bytes.
    rfc7914 = "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
    assert password_matches("password", f"scrypt$10$8$16${b'NaCl'.hex()}${rfc7914}")


def test_tokens_differ_and_their_hashes_do_not_hold_them():
    first, second = new_token(), new_token()
    assert first != second
    assert first not in token_hash(first)
