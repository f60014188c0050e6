"""The probe page."""
