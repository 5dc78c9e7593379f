"""Blind scoring sessions as plain values and pure functions: the plan, the drawing, the rubric, what a text
gives away, what a scorer may see. No clock, no database, no page.
"""
