"""Stories in a real browser; each in light at 1280 pixels and in dark at 390."""
