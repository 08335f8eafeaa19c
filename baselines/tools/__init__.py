"""Programs for developers of kdenv: mutation testing, and the tables of README files that take minutes. They may use private names."""
