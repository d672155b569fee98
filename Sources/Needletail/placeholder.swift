// Needletail
