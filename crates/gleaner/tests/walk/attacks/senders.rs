//! Clients and agents that send slowly, endlessly, or what is not theirs.
