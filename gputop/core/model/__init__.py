"""What is measured: metrics, samples, frames, findings, Xids, units."""
