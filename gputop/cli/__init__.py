"""The command line: arguments in, exit status out. Start reading in `gputop.cli.main`."""
