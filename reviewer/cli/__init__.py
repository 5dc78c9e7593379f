"""The reviewers' commands of the ``spec-o3`` program, imported when they are needed."""

from agent.cli.command import lazy

COMMANDS = (
    lazy("app", "Start the web app: review, revise, audit and vote in the browser.", "reviewer.cli.app"),
    lazy("draft", "Let a policy inspect spectra and save its traces as drafts.", "reviewer.cli.draft"),
    lazy("tasks", "List the tasks and their prompts, or import the published prompts.", "reviewer.cli.tasks"),
    lazy(
        "import",
        "Import drafts: Spec-o3 JSON Lines, or ShareGPT rows with their pictures.",
        "reviewer.cli.exchange",
        "add_import",
        "run_import",
    ),
    lazy(
        "export",
        "Write approved trajectories as training data.",
        "reviewer.cli.exchange",
        "add_export",
        "run_export",
    ),
    lazy(
        "tables",
        "Write every decision and inspection as tables (CSV, FITS, VOTable).",
        "reviewer.cli.exchange",
        "add_tables",
        "run_tables",
    ),
    lazy(
        "annotations",
        "Write tasks for Label Studio, and import the annotations made there.",
        "reviewer.cli.annotations",
    ),
    lazy("certify", "Certify error bounds of a policy's verdicts on labelled spectra.", "reviewer.cli.certify"),
    lazy("trial", "Put the evidence of traces on trial: edit the spectrum and continue.", "reviewer.cli.trial"),
    lazy("withdraw", "Withdraw a batch that came in by mistake, or restore it.", "reviewer.cli.withdraw"),
    lazy("blind", "Plan, open, close and report blind scoring sessions.", "reviewer.cli.blind"),
    lazy("backup", "Copy the database while people work, or write it as plain files.", "reviewer.cli.backup"),
    lazy(
        "restore",
        "Check a backup or a plain archive and replace the database with it.",
        "reviewer.cli.backup",
        "add_restore",
        "run_restore",
    ),
    lazy("spectra", "Show where spectra are stored, move them to files, and check the files.", "reviewer.cli.spectra"),
    lazy("log", "Show the audit log and verify it.", "reviewer.cli.log"),
    lazy(
        "doctor",
        "Check what works on this machine, what is missing, and which command installs it.",
        "reviewer.cli.log",
        "add_doctor",
        "run_doctor",
    ),
)
