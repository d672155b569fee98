"""Other engines, each a program that speaks one protocol, and the processes that take turns."""
