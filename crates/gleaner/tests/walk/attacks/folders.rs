//! Tasks that leave hostile folders behind.
