"""Where answers come from outside of the application: dialects of spans, the collector, jobs, stored traces."""
