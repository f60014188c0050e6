"""Use cases on another host, by ssh: the screen, and any command."""
