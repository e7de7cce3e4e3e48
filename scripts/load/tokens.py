"""Tokens for thousands of users: signed here with a key that the server accepts, or printed by a command.

The server's own key lies in its data directory. Who can read the key can sign in as any user: a load test is for your
own server only.
"""

import secrets
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import jwt

from routes.edge.identity.keys import SIGNING_FILE, KeyFault, open_keys

TTL_SECONDS = 86_400

Sign = Callable[[str, str, int], str]
"""`sign(user id, name, now in epoch seconds) -> token`, valid for a day."""


class NoTokens(Exception):
    """No way to make tokens was found; the message says what to do."""


def by_secret(secret: str, issuer: str | None, audience: str | None) -> Sign:
    """Make a `Sign` by a shared secret (HS256) that the server lists in `PARTYLINE_JWT_ISSUERS`."""
    fixed = {claim: value for claim, value in (("iss", issuer), ("aud", audience)) if value}

    def sign(user_id: str, name: str, now_seconds: int) -> str:
        claims = {"sub": user_id, "name": name, "iat": now_seconds, "exp": now_seconds + TTL_SECONDS}
        return jwt.encode({**fixed, **claims}, secret, algorithm="HS256")

    return sign


def by_own_key(data_dir: Path) -> Sign:
    """Make a `Sign` by the server's own key, read from its data directory.

    Raises:
        NoTokens: the directory has no key, or the key cannot be read.
    """
    if not (data_dir / "keys" / SIGNING_FILE).exists():
        raise NoTokens(
            f"no key below {data_dir / 'keys'}: name the server's data directory with --data-dir, "
            "or give --jwt-secret or --token-command"
        )
    try:
        keys = open_keys(data_dir)
    except KeyFault as error:
        raise NoTokens(str(error)) from error

    def sign(user_id: str, name: str, now_seconds: int) -> str:
        now_ms = now_seconds * 1000
        minted = keys.mint_user_token(
            user_id, name, now_ms=now_ms, ttl_seconds=TTL_SECONDS, random_bytes=secrets.token_bytes
        )
        return minted.token

    return sign


def by_command(command: str) -> Sign:
    """Make a `Sign` that runs a command which prints a token; `{id}` and `{name}` in the command are filled in.

    Raises:
        NoTokens: the text is no command line.
    """
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise NoTokens(f"--token-command is no command line: {error}") from error
    if not parts:
        raise NoTokens("--token-command names no command")

    def sign(user_id: str, name: str, _now_seconds: int) -> str:
        words = [word.replace("{id}", user_id).replace("{name}", name) for word in parts]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoTokens(f"{words[0]} printed no token: {error}") from error
        token = done.stdout.strip()
        if done.returncode or token.count(".") != 2:
            raise NoTokens(f"{words[0]} printed no token: {(done.stderr or done.stdout).strip()[:200]}")
        return token

    return sign
