"""How lines become cells on the terminal."""
