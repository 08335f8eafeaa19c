"""The numbers of the papers. Each paper has a module that says what the paper claims and measures the same here."""
