"""How the box is read: alone knows pynvml and /proc."""
