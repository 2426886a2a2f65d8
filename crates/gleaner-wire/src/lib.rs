//! The versioned types of the journal, of the agents' sessions and of the HTTP API.
