"""What keeps an application safe from us: guards, suppressed tracing, privacy switches, forks."""
