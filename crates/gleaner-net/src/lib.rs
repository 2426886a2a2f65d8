//! Keys, certificates and tokens, and the client side of a connection.
