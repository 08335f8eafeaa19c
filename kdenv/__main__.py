"""`python -m kdenv` is the same as the command `kdenv`."""

from kdenv.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
