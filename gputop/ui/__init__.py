"""The screen: alone knows textual and rich."""
