"""The panels of the main screen: each draws the frame that it is given."""
