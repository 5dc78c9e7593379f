"""Statistics of blind scoring and of review: pure functions over plain arrays, no database.

Each returns ``Estimate`` values: number, interval, n, definition and the population for which the interval holds; or
the reason why there is none. scipy and scikit-learn are imported at first use.
"""
