"""Who uses a GPU: programs, jobs, containers, the columns of the process table."""
