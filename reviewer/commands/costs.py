"""Options of a command that asks a model for money: what its tokens cost, and where to stop."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any


def add_costs(parser: ArgumentParser) -> Any:
    """Declare the options; their group, for what a command adds of its own."""
    group = parser.add_argument_group("what it may cost")
    group.add_argument(
        "--budget", type=_amount, metavar="AMOUNT", help="begin nothing that might exceed this"
    )
    group.add_argument("--price-in", type=_amount, metavar="X", help="of a million tokens read")
    group.add_argument(
        "--price-cached", type=_amount, metavar="X", help="of those that the server had cached"
    )
    group.add_argument("--price-out", type=_amount, metavar="X", help="of a million tokens written")
    return group


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise ArgumentTypeError(f"found {text!r}, wanted an amount, 0 or more")
    return amount
