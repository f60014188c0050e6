"""How frames and commands travel: lines of JSON on a pipe."""
