"""Statistics of blind scoring and of review: pure functions over plain arrays, no database.

Each returns ``Estimate`` values: number, interval, n and definition, or the reason why there is none. Intervals are
percentile bootstrap by item with a seed. scipy, scikit-learn and choix are imported at first use.
"""
