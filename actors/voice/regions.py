"""The names of regions for people."""

DISPLAY_NAMES = {
    "af-south": "Southern Africa",
    "ap-northeast": "North-East Asia",
    "ap-south": "South Asia",
    "ap-southeast": "South-East Asia",
    "au-east": "Eastern Australia",
    "ca-central": "Canada",
    "eu-central": "Central Europe",
    "eu-north": "Northern Europe",
    "eu-south": "Southern Europe",
    "eu-west": "Western Europe",
    "me-central": "Middle East",
    "sa-east": "South America",
    "us-central": "Central US",
    "us-east": "Eastern US",
    "us-west": "Western US",
}


def display_name(region: str) -> str:
    """The name of a region for people; the code itself where the table has no name for it."""
    return DISPLAY_NAMES.get(region, region)
