"""Training of learned policies: the way the shipped models were made, and tools to make others."""
