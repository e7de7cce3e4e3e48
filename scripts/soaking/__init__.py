"""Hours of a mixed load of all domains on a server of its own, with faults in between, and a judgement at the end."""
