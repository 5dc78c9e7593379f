"""Inspect many spectra, in threads or processes, with results that survive an interruption."""
