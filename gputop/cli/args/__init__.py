"""Options, value types and exit statuses that the commands share."""
