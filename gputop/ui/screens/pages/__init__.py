"""Full-screen pages: GPU, process, findings, help, plugin panels."""
