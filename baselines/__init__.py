"""Trained policies and published results. All but `baselines.tools` uses public names of kdenv only."""
