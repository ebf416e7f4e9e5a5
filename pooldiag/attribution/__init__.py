"""From outcomes to readings, and from readings to what they establish; pure."""
