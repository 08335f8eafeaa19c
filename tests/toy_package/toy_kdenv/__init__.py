"""Something of each kind that a package may add to kdenv. `import kdenv` imports none of it."""
