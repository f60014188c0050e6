"""Use cases: each command's work, from a typed request to a result. They join all other rooms."""
