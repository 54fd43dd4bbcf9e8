"""A guest: one command on the kernel of virtual time; it needs no rights and leaves nothing behind."""
