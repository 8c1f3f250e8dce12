"""What users say of answers: a rating with its comment, and the ratings of traces that may still be in this process."""
