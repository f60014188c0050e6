"""What each process does on each GPU: the shared account that several detectors read."""
