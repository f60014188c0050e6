"""Use cases: what the commands do, from a typed request to a result. They join all other rooms."""
