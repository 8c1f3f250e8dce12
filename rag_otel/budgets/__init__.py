"""What judging may cost: limits in dollars, tokens and evaluations, shared by processes through a ledger."""
