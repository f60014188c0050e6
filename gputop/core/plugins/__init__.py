"""What a plugin can add, and the tables of what plugins added."""
