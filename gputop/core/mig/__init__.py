"""MIG layouts: model, planner and wording."""
