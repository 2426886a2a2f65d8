//! Programs on the same machine that pretend to be the coordinator, or a page in the owner's browser.
