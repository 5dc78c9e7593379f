"""``spec-o3 withdraw``: withdraw a batch that came in by mistake, or restore it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result, refuse_ignored
from agent.cli.options import CHANGES_NOTHING, JsonOutput, argument, option
from agent.language import tr, trn
from reviewer.cli.common import Database, Person, database_of, opened, person_or_only_one

if TYPE_CHECKING:
    from reviewer.store import Store, Untouched

SHOWN = 20  # items that stay, printed for a person; --json has them all


@dataclass(kw_only=True)
class Options(Person, Database, JsonOutput):
    batch: str | None = argument("name of the batch; left out: list the batches")
    items: str = option("only these items of the batch, e.g. 12-48", default="", metavar="FIRST-LAST")
    restore: bool = option("restore withdrawn items instead")
    dry_run: bool = option(CHANGES_NOTHING)


def run(arguments: Options) -> int:
    if arguments.batch is None:
        refuse_ignored(arguments, tr("name the batch too"), "--items", "--restore", "--dry-run", "--by")
    with opened(database_of(arguments), must_exist=True) as store:
        if arguments.batch is None:
            return _list(arguments, store)
        return _withdraw(arguments, store)


def _list(arguments: Options, store: Store) -> int:
    batches = store.withdrawals.batches()
    lines = [
        trn(
            "{batch}: {n} item, {withdrawn} withdrawn",
            "{batch}: {n} items, {withdrawn} withdrawn",
            b.items,
            batch=b.name or tr("(no name)"),
            withdrawn=b.withdrawn,
        )
        for b in batches
    ]
    print_result(
        arguments,
        {"batches": [asdict(b) | {"added_at": b.added_at.isoformat()} for b in batches]},
        "\n".join(lines) or tr("no items yet"),
    )
    return DONE


def _withdraw(arguments: Options, store: Store) -> int:
    from reviewer.rules.item_numbers import item_numbers
    from reviewer.store import Selection

    if arguments.batch not in {batch.name for batch in store.withdrawals.batches()}:
        raise CannotRun(
            tr("found no batch {batch!r}; `spec-o3 withdraw` without a name lists the batches", batch=arguments.batch)
        )
    numbers = item_numbers(arguments.items)
    chosen = Selection(arguments.batch) if numbers is None else Selection(arguments.batch, *numbers)
    if arguments.dry_run:
        untouched = store.withdrawals.preview(chosen, arguments.by)
        items = untouched.withdrawn if arguments.restore else untouched.items
    elif arguments.restore:
        untouched, items = None, store.withdrawals.restore(person_or_only_one(store, arguments.by), chosen)
    else:
        untouched = store.withdrawals.withdraw(person_or_only_one(store, arguments.by), chosen)
        items = untouched.items
    stay = {} if untouched is None or arguments.restore else untouched.worked_on
    result = {"items": list(items), "worked_on": {str(item): what for item, what in stay.items()}}
    print_result(arguments, result | {"dry_run": arguments.dry_run}, _in_words(arguments, len(items), untouched))
    return CHECK_FAILED if stay else DONE


def _in_words(arguments: Options, count: int, untouched: Untouched | None) -> str:
    if arguments.restore and arguments.dry_run:
        lines = [trn("{n} item would be restored", "{n} items would be restored", count)]
    elif arguments.restore:
        lines = [trn("{n} item restored", "{n} items restored", count)]
    elif arguments.dry_run:
        lines = [trn("{n} item would be withdrawn", "{n} items would be withdrawn", count)]
    else:
        lines = [trn("{n} item withdrawn", "{n} items withdrawn", count)]
    stay = {} if untouched is None or arguments.restore else untouched.worked_on
    lines += [tr("stays: item {item} ({what})", item=item, what=tr(what)) for item, what in list(stay.items())[:SHOWN]]
    lines += [tr("and {n} more", n=len(stay) - SHOWN)] if len(stay) > SHOWN else []
    return "\n".join(lines)
