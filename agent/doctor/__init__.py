"""Check what the program can do on this machine, what is missing, and which command installs it.

Packages are found without importing them, and GPUs are listed by their driver. Only the renderer is run, because its
pixels must be exact.
"""

from agent.doctor.capabilities import CAPABILITIES, CORE, Capability, Check, Diagnosis, DoctorOptions, diagnose
from agent.doctor.checks import Finding

__all__ = ["CAPABILITIES", "CORE", "Capability", "Check", "Diagnosis", "DoctorOptions", "Finding", "diagnose"]
