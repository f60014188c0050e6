"""Files that gputop writes: where they lie, and how no other user can redirect them."""
