"""Friends over HTTP and live (service description §4 Friends, contract §5).

streams.py    friends live
channels.py   the channel of friends on /v1/social/live
"""
