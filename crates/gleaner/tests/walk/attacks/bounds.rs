//! Requests that are small on the wire and large in memory or time.
