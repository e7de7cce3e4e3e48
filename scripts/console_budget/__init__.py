"""What the console costs a browser and the server, measured: times and frames are benchmarks, counts are tests."""
