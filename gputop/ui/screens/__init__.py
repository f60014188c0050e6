"""The screens that lie over the main one."""
