//! The coordinator of the live grid: journal, agents' sessions, HTTP API.
