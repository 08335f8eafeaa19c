"""Learned policies: how the shipped models were made, and tools to make your own."""
