"""The compiled searches. They work in arrays that the caller owns, and know neither policies nor the clock."""
