"""Statistics of blind scoring and of review: pure functions over plain arrays, no database.

Each returns an ``Estimate`` or a few by name: the value with its interval, what it rests on and its
definition; where there is none, the reason in words. Intervals are percentile bootstrap, resampled by item
and seeded (``Resampling``). scipy, scikit-learn and choix are imported by the functions that use them, on
first use.
"""
