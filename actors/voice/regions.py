"""What regions are called."""

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
    """What people call a region: the code itself where the table has none."""
    return DISPLAY_NAMES.get(region, region)
