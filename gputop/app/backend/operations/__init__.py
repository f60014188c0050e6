"""Operations on each kind of box: changes, and questions that a sample does not answer."""
