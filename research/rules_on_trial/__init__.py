"""Every rule's buffer by direct simulation, and the calibrated theory that follows from it."""
