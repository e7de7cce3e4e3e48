"""Paths that strangers try: each as it stands in the request line, below `/v1/public/modrinth/`."""

import itertools
from urllib.parse import quote

DOTS = (
    "..",
    ".",
    "%2e%2e",
    "%2E%2E",
    ".%2e",
    "%2e.",
    "%252e%252e",
    "..%00",
    "..;",
    "...",
    "%c0%ae%c0%ae",
    "．．",
)
SLASHES = ("/", "//", "%2f", "%2F", "%5c", "\\", "%255c", "%252f", "/./", "%2f%2f", "∕")
AIMS = ("admin", "user", "v3/project/lanterns", "auth/init", "project/lanterns/follow")

CLIMBING = tuple(
    f"{start}{slash}{dots}{slash}{aim}"
    for (dots, slash), (start, aim) in zip(
        itertools.product(DOTS, SLASHES),
        itertools.cycle(itertools.product(("project", "tag", "project/lanterns", "version"), AIMS)),
        strict=False,
    )
)

HOSTS = tuple(
    template.format(host)
    for host in ("evil.example", "127.0.0.1:1", "[::1]", "169.254.169.254")
    for template in (
        "@{}", "//{}/", "/{}", "\\\\{}", "https://{}/", "https:%2f%2f{}", "project/@{}", "project/a@{}",
        "project/lanterns@{}:80", "search%3f@{}", "project/%40{}", "search;@{}",
    )
)  # fmt: skip

CUTTING = tuple(
    f"{start}{cut}{rest}"
    for start in ("search", "project/lanterns", "tag/loader")
    for cut, rest in (
        ("%0d%0a", "Host:%20evil"),
        ("%0a", "x"),
        ("%0d", "x"),
        ("%00", ""),
        ("%20HTTP/1.1%0d%0aX:", "y"),
        ("%23", "x"),
        ("%3f", "ids=x"),
        ("%26", "a=b"),
        (";", "jsessionid=1"),
        ("%7f", ""),
        ("%e2%80%ae", "x"),
        ("%ff", ""),
        ("%ed%a0%80", ""),
        ("%u002e", "x"),
        ("%", ""),
        ("%zz", ""),
        ("%09", "x"),
        ("%c2%85", "x"),
    )
)

LONG = (
    "project/" + "a" * 65,
    "project/" + "a" * 5_000,
    "a/" * 240 + "b",
    "a/" * 400 + "b",
    "search/" * 20,
    "%41" * 1_000,
    "%2e%2e%2f" * 300,
    "project/" + quote("ü" * 64),
)

OTHER = (
    "Search", "SEARCH", "search/", "/search", "tag", "tag/", "tag/loader/", "tag//loader", "tag/loaders", "users",
    "user/me", "project", "project/", "project/ab", "project/lanterns/", "project/lanterns/versions",
    "project/lanterns/version/1", "project/lanterns/version/", "tags", "dependencies", "members", "modrinth/search",
    "project//version", "version/short", "version_file/abc", "version_files", "versions/", "statistics", "maven",
    "oauth/token", "{*path}", "{path}", "<rest:path>", "$(id)", "`id`", "'%20or%201=1--", "%3Cscript%3E",
    "project/lanterns.json%00.png", "project/~root", "project/%7e", "project/lanterns!", "project/$%7bjndi:ldap:x%7d",
)  # fmt: skip

PATHS = tuple(dict.fromkeys((*CLIMBING, *HOSTS, *CUTTING, *LONG, *OTHER)))
