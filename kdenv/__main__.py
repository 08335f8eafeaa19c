"""`python -m kdenv` is the same as the command `kdenv`."""

from kdenv.cli import main

raise SystemExit(main())
