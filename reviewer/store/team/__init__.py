"""Teamwork: bulk actions, batches, assignments."""
"""What people do together: comments, assignments, bulk actions, views, tokens and webhooks."""
"""Teamwork: search, views, bulk actions, comments, tokens, sign-in names and webhooks."""
