"""Certified verdicts on the side of the reviewers: labels and cases of decided items, skill of the annotators."""
