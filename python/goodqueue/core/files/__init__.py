"""Files of users: read up to a limit, written whole, and replaced only if they are our own."""
