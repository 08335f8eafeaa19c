"""The searches themselves, compiled: they work in arrays that the caller brings, and know neither policies nor the clock."""
