"""The vocabulary: frozen data classes and enums that every other room speaks in."""
