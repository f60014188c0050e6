"""The transport of frames and commands: lines of JSON on a pipe."""
