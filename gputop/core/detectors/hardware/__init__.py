"""The detector of hardware trouble: memory errors, links, Xids, lost GPUs."""
