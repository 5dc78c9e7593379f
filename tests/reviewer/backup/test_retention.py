"""Which backups are kept: properties over any times, and years of daily backups, day by day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reviewer.backup.backups import backup_name, backup_time, retained

NOW = datetime(2026, 11, 21, 16, 8, 39, tzinfo=UTC)
DATABASE = Path("annotations.db")
past = st.datetimes(datetime(2020, 1, 1), NOW.replace(tzinfo=None), timezones=st.just(UTC))
anywhen = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))


@given(st.sets(past, min_size=1, max_size=80))
def test_the_newest_is_kept_and_never_more_than_seventeen(times: set[datetime]) -> None:
    stay = retained(times, NOW)
    assert stay <= times
    assert max(times) in stay
    assert len(stay) <= 7 + 4 + 6


@given(st.sets(past, max_size=80))
def test_what_was_kept_once_is_kept_if_asked_again(times: set[datetime]) -> None:
    stay = retained(times, NOW)
    assert retained(stay, NOW) == stay


@given(st.sets(past, max_size=80))
def test_the_last_of_each_of_the_last_seven_days_that_have_one_is_kept(times: set[datetime]) -> None:
    days = sorted({at.date() for at in times}, reverse=True)[:7]
    assert {max(at for at in times if at.date() == day) for day in days} <= retained(times, NOW)


@given(st.sets(anywhen, min_size=1, max_size=40))
def test_one_from_a_clock_that_went_wrong_costs_no_other_its_place(times: set[datetime]) -> None:
    past_ones = {at for at in times if at <= NOW + timedelta(minutes=5)}
    stay = retained(times, NOW)
    assert stay == retained(past_ones, NOW) | (times - past_ones)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=60),
    st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC)),
)
def test_pruning_after_each_backup_ends_as_pruning_once_would(gaps: list[int], first: datetime) -> None:
    at, every, there = first, set(), set()
    for gap in gaps:
        at += timedelta(days=gap)
        every.add(at)
        there = retained(there | {at}, at)
    assert there == retained(every, at)


def test_after_two_years_of_days_there_are_the_last_week_four_weeks_and_six_months() -> None:
    there: set[datetime] = set()
    for day in range(731):
        at = datetime(2024, 11, 21, 6, 30, tzinfo=UTC) + timedelta(days=day)
        there = retained(there | {at}, at)
    assert [f"{at:%Y-%m-%d}" for at in sorted(there)] == [
        # the ends of months, of weeks, and the last seven days
        *("2026-06-30", "2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31"),
        *("2026-11-01", "2026-11-08"),
        *(f"2026-11-{day}" for day in range(15, 22)),
    ]


@given(anywhen)
def test_a_name_tells_its_time_to_the_second(at: datetime) -> None:
    assert backup_time(DATABASE, backup_name(DATABASE, at)) == at.replace(microsecond=0)


def test_other_files_are_nobodys_backup() -> None:
    for name in ("annotations", "annotations-", "annotations-20261321T160839Z", "thesis-20261121T160839Z"):
        assert backup_time(DATABASE, name) is None
    assert backup_time(DATABASE, "annotations-20261121T160839Z.db") is None
    assert backup_time(Path("a.b.db"), "a.b-20261121T160839Z") == NOW
    assert backup_time(Path("a+b.db"), "a+b-20261121T160839Z") == NOW
