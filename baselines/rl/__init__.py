"""Learned policies: how the shipped models were made, and tools for one's own."""
