"""Evidence on trial: edit the spectrum behind a tool call, continue the inspection, compare what the policy writes."""
