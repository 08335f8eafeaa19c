"""Trained policies and published results. Everything here uses public names of kdenv only."""
