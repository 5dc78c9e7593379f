"""Blind scoring sessions as plain values and pure functions: plan, sampling, rubric, leaks, and the sheet that a scorer
sees. No clock, no database, no web page; ``judge`` and ``report`` are built on the store.
"""
