"""Every part that a module of `routes` makes is listed by its domain, so that it is open when it is asked for."""

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import routes
from routes.domains import DOMAINS
from routes.part import Part


def test_every_part_is_listed_by_one_domain():
    made: dict[Part, str] = {}
    for module in walk_packages([str(Path(routes.__file__).parent)], "routes."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, Part):
                made[value] = name
    listed = [part for domain in DOMAINS for part in domain.parts]
    assert {made[part] for part in listed} == set(made.values())
    assert len(listed) == len(set(listed)) == len(made)


def test_parts_have_names_of_their_own():
    names = [part.name for domain in DOMAINS for part in domain.parts]
    assert len(names) == len(set(names))
