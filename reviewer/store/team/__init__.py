"""What people do together: search, views, comments, assignments, bulk actions, tokens and webhooks."""
