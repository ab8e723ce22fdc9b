//! Lexicons: frozen, versioned, checksummed document frequencies.
