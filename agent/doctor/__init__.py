"""What this machine can do of what the program can, what is missing, and the command that installs it.

Nothing heavy is loaded: packages are looked up, not imported, and the driver is asked about the GPU. Only the
renderer is tried, since its pixels matter.
"""

from agent.doctor.capabilities import CAPABILITIES, CORE, Capability, Diagnosis, diagnose
from agent.doctor.finding import Finding

__all__ = ["CAPABILITIES", "CORE", "Capability", "Diagnosis", "Finding", "diagnose"]
