"""Use cases that read: snapshot, stream, watch, record, pick, inspect, doctor, and the screen."""
