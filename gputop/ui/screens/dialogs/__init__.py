"""Dialogs: questions that end with an answer."""
