"""The words of argparse itself ("usage", "options", its errors) in the language of the command line.

argparse asks gettext for them, whose catalogues are compiled files of the system; ours are read as text.
"""

from __future__ import annotations

import argparse
from typing import Any

from agent.language import deferred, tr

_WORDS = (
    deferred("usage: "),
    deferred("positional arguments"),
    deferred("options"),
    deferred("show this help message and exit"),
    deferred("argument %(argument_name)s: %(message)s"),
    deferred("%(prog)s: error: %(message)s\n"),
    deferred("unrecognized arguments: %s"),
    deferred("the following arguments are required: %s"),
    deferred("one of the arguments %s is required"),
    deferred("not allowed with argument %s"),
    deferred("expected one argument"),
    deferred("expected at most one argument"),
    deferred("expected at least one argument"),
    deferred("expected %s argument"),
    deferred("expected %s arguments"),
    deferred("ambiguous option: %(option)s could match %(matches)s"),
    deferred("ignored explicit argument %r"),
    deferred("unexpected option string: %s"),
    deferred("invalid %(type)s value: %(value)r"),
    deferred("invalid choice: %(value)r (choose from %(choices)s)"),
    deferred("unknown parser %(parser_name)r (choices: %(choices)s)"),
)


def translate_argparse() -> None:
    """Have argparse take its words from our catalogue."""
    names: dict[str, Any] = vars(argparse)
    names["_"] = lambda message: tr(message) if message else message
    names["ngettext"] = lambda singular, plural, n: tr(singular if n == 1 else plural)
