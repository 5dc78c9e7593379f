"""What people do together: search, views, comments, assignments, bulk actions, tokens and webhooks."""
"""Parts of the store for work on many items at once: search, views, bulk actions, comments, traces by number."""
