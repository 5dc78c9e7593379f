"""The training commands of the ``spec-o3`` program, one module each.

They import what they need when they run: ``--help`` is not to wait for torch.
"""

from agent.cli.command import Command
from training.cli import bench, grpo, miniature, sft, specialist

COMMANDS: tuple[Command, ...] = (
    sft.COMMAND,
    grpo.COMMAND,
    bench.COMMAND,
    specialist.COMMAND,
    miniature.COMMAND,
)
