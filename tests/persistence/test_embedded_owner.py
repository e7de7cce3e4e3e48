"""A cluster that is not its user's, as after a copy by root: said in one line, with what to do."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
import trio

from persistence.embedded.account import account_for, name_of
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.postgres import choose_home, embedded_postgres
from tests.support.privileges import without_privileges

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders of several users")


@pytest.mark.slow
async def test_a_data_folder_that_root_has_copied_says_whose_it_has_to_be(data_dir: Path) -> None:
    async with embedded_postgres(data_dir):
        pass
    copied = data_dir.with_name("copied by root")
    shutil.copytree(data_dir, copied)
    home = copied / "postgres"
    user = name_of(account_for(home / "data").uid)
    cure = f"chown -R {user} {shlex.quote(str(home))}"
    for part in (home / "data", home / "data" / "global" / "pg_control"):
        says = f"{part} belongs to root, and PostgreSQL runs as {user} here"
        with pytest.raises(ClusterFaulty, match=f"^{re.escape(f'{says}: {cure}')}$"):
            async with embedded_postgres(copied):
                pass
        shutil.chown(part, user)  # by hand, and without what is below
    await trio.run_process(shlex.split(cure))
    async with embedded_postgres(copied):
        pass


def test_a_cluster_of_root_is_not_an_ordinary_users(data_dir: Path) -> None:
    (data_dir / "postgres" / "data").mkdir(parents=True)
    with (
        without_privileges(),
        pytest.raises(ClusterFaulty, match="/postgres belongs to root, and PostgreSQL"),
    ):
        choose_home(data_dir)
