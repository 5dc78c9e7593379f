"""The reviewers' commands of the ``spec-o3`` program.

They import what they need when they run, so that ``--help`` does not wait for matplotlib and gradio.
"""

from agent.cli.command import Command
from reviewer.cli import app, backup, blind, draft, exchange, log
from reviewer.cli import backup as restore

DOCTOR_CHECKS = {"database": log.database_checks}
"""Checks that ``spec-o3 doctor`` adds to the agent's own, by capability."""

COMMANDS: tuple[Command, ...] = (
    Command("app", "Start the web app: review, revise, audit and vote in the browser.", app.add, app.run),
    Command("draft", "Let a policy inspect spectra and save its traces as drafts.", draft.add, draft.run),
    Command(
        "import",
        "Import drafts: our JSON lines, or ShareGPT rows with their pictures.",
        exchange.add_import,
        exchange.run_import,
    ),
    Command("export", "Write approved trajectories as training data.", exchange.add_export, exchange.run_export),
    Command("blind", "Plan, open, close and report blind scoring sessions.", blind.add, blind.run),
    Command(
        "backup",
        "Copy the database while people work, or write it as plain files.",
        backup.add,
        backup.run,
    ),
    Command(
        "restore",
        "Check a backup or a plain archive and replace the database with it.",
        restore.add_restore,
        restore.run_restore,
    ),
    Command("log", "Show the audit log and verify it.", log.add, log.run),
)
