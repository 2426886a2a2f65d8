//! Tasks that do not obey the owner.
