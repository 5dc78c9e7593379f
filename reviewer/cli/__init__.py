"""The reviewers' commands of the ``spec-o3`` program, imported when they are needed."""

from agent.cli import SKY
from agent.cli.command import Command

COMMANDS = (
    Command("app", "Start the web app: review, revise, audit and vote in the browser.", "reviewer.cli.app"),
    Command("draft", "Let a policy inspect spectra and save its traces as drafts.", "reviewer.cli.draft"),
    Command(
        "tasks",
        "List the tasks and their prompts, or import the published prompts.",
        "reviewer.cli.tasks",
        subcommands=(
            Command(
                "import",
                "Read the prompt of each class from SpecVI-Bench's rows, and store it next to annotations.db.",
                "reviewer.cli.tasks",
            ),
        ),
    ),
    Command(
        "import", "Import drafts: Spec-o3 JSON Lines, or ShareGPT rows with their pictures.", "reviewer.cli.exchange"
    ),
    Command("export", "Write approved trajectories as training data.", "reviewer.cli.exchange"),
    Command(
        "catalogue",
        "Make the catalogue of a class: tables, figures and methods text for a paper.",
        "reviewer.cli.catalogue",
        subcommands=(
            Command(
                "verify",
                "Make every file of a catalogue anew from its data, and name what differs.",
                "reviewer.cli.catalogue",
            ),
        ),
    ),
    Command("verdicts", "Copy a log of another agent with people's verdicts on its traces.", "reviewer.cli.exchange"),
    Command("tables", "Write every decision and inspection as tables (CSV, FITS, VOTable).", "reviewer.cli.exchange"),
    Command(
        "annotations",
        "Write tasks for Label Studio, and import the annotations made there.",
        subcommands=(
            Command("import", "Import annotations of Label Studio as comments.", "reviewer.cli.annotations"),
            Command("tasks", "Write items as tasks for Label Studio.", "reviewer.cli.annotations"),
        ),
    ),
    Command("certify", "Certify error bounds of a policy's verdicts on labelled spectra.", "reviewer.cli.certify"),
    Command("trial", "Put the evidence of traces on trial: edit the spectrum and continue.", "reviewer.cli.trial"),
    Command("withdraw", "Withdraw a batch that came in by mistake, or restore it.", "reviewer.cli.withdraw"),
    Command(
        "blind",
        "Plan, open, close and report blind scoring sessions.",
        subcommands=(
            Command("power", "Calculate the power of a planned session.", "reviewer.cli.blind_power"),
            Command("draw", "Plan a session: sample its traces, scorers and orders.", "reviewer.cli.blind_draw"),
            Command("giveaways", "Show where a session's texts reveal their authors.", "reviewer.cli.blind"),
            Command("open", "Open a session for its scorers.", "reviewer.cli.blind"),
            Command("status", "Show a session and the progress of its scorers.", "reviewer.cli.blind"),
            Command("close", "Close a session for good.", "reviewer.cli.blind"),
            Command("judge", "Let a model judge the traces of a session.", "reviewer.cli.blind_judge"),
            Command("report", "Write the report of a closed session: page and tables.", "reviewer.cli.blind"),
            Command("list", "List all sessions.", "reviewer.cli.blind"),
        ),
    ),
    Command("backup", "Copy the database while people work, or write it as plain files.", "reviewer.cli.backup"),
    Command("restore", "Check a backup or a plain archive and replace the database with it.", "reviewer.cli.backup"),
    Command(
        "spectra", "Show where spectra are stored, move them to files, and check the files.", "reviewer.cli.spectra"
    ),
    Command(
        "sky",
        "Ask catalogues about the objects of spectra.",
        subcommands=(
            *SKY,
            Command("import", "Add the answers of catalogues to the spectra in the database.", "reviewer.cli.sky"),
        ),
    ),
    Command("mcp", "Serve the spectrum tools to an agent, over MCP; its verdicts become drafts.", "reviewer.cli.mcp"),
    Command("log", "Show the audit log and verify it.", "reviewer.cli.log"),
    Command(
        "doctor",
        "Check what works on this machine, what is missing, and which command installs it.",
        "reviewer.cli.log",
    ),
)
