"""The explanation of a job or process that makes no progress: the sources that know where it hangs, and the verdict."""
