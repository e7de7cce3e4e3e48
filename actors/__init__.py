"""The domains: pure rules, and the actors that run them where state is live. No HTTP, no SQL, no status codes."""

from compiled.finding import use

use()
