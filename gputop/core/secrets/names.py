"""Names of variables, options and fields that hold secrets.

Sets of words and no expressions: to compile those would take a tenth of a snapshot's time.
"""

import re
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import Final

_MOST_REMEMBERED: Final = 2048  # hosts have few names, and many processes share them
_SHORT_SESSION: Final = 8  # XDG_SESSION_ID=c2 is no secret
_LONGEST_PLAIN: Final = 48
_LONGEST_WORD: Final = 15

# Words after which a name holds a property of a secret and not the secret.
_PROPERTIES: Final = frozenset({
    "FILE", "FILES", "FILENAME", "PATH", "PATHS", "DIR", "DIRS", "DIRECTORY", "FOLDER", "SOCK", "SOCKET", "TYPE",
    "TYPES", "MODE", "COUNT", "SIZE", "LEN", "LENGTH", "LIMIT", "NAME", "NAMES", "HOST", "PORT", "TTL", "TIMEOUT",
    "EXPIRY", "EXPIRES", "EXPIRATION", "ENABLED", "DISABLED", "ALGORITHM", "ALGO", "ENV", "VAR", "PROVIDER",
    "METHOD", "PARALLELISM", "LAYOUT", "HEADS", "DIM", "DTYPE", "FORMAT", "SCOPE", "SCOPES", "AGE", "INTERVAL",
    "VERSION", "BUDGET", "ID", "IDS", "IDX", "INDEX", "POLICY", "CLASS", "CLASSIFICATION", "BACKEND", "MASK",
    "RATE", "RATIO", "DROPOUT", "PROB", "WEIGHT", "LOSS", "STRATEGY", "MEMORY", "MANAGER", "LEVEL", "ISSUER",
    "AUDIENCE", "REALM", "ENDPOINT", "URL", "URI", "ADDRESS", "MAP", "PROCESS", "PROCESSOR", "HELPER", "STORE",
    "PREFIX", "SUFFIX", "PADDING", "STRIDE", "WINDOW", "THRESHOLD", "BATCH", "STEP", "STEPS", "OFFSET", "POOLING",
    "EMBEDDING", "EMBEDDINGS", "DISPATCHER",
})  # fmt: skip
_SWITCHES: Final = frozenset({"NO", "SKIP", "DISABLE", "ENABLE"})
# EOS_TOKEN is a word of a language model.
_OF_MODELS: Final = frozenset({
    "EOS", "BOS", "PAD", "UNK", "MASK", "SEP", "CLS", "IMAGE", "VIDEO", "AUDIO", "SPECIAL", "STOP", "START",
    "END", "MAX", "MIN", "NUM", "PER", "FIRST", "LAST", "NEXT", "NEW", "THINK", "DRAFT", "PLACEHOLDER",
    "INITIALIZER", "INIT", "CLASS", "TRIGGER", "LANG", "SRC", "TGT", "CHAT", "TEMPLATE", "DECODER", "EOD", "EOT",
})  # fmt: skip
_QUALIFIERS: Final = frozenset({
    "VALUE", "STRING", "STR", "B64", "BASE64", "JSON", "HEX", "RAW", "DATA", "HEADER", "PROD", "PRODUCTION",
    "DEV", "STAGING", "TEST", "LIVE", "OLD", "NEW", "PRIMARY", "SECONDARY", "ADMIN", "ROOT",
})  # fmt: skip
_ALWAYS: Final = (
    "WEBHOOK", "SECRET_ID", "SECRETID", "ACCESS_KEY_ID", "CONNECTION_STRING", "CONNECTIONSTRING", "CONN_STR",
    "SEED_PHRASE", "BASIC_AUTH", "AMZ_SIGNATURE", "GOOG_SIGNATURE",
)  # fmt: skip
_ENDS: Final = (
    "TOKEN", "PASSWORD", "PASSWORDS", "PASSWORT", "PASSWD", "PASSPHRASE", "PASSCODE", "PASSIN", "PASSOUT", "USERPWD",
    "SECRET", "SECRETS", "CREDENTIAL", "CREDENTIALS", "JWT", "BEARER", "COOKIE", "COOKIES", "MNEMONIC",
)  # fmt: skip
# Owners of keys, and of tokens in the plural.
_OWNERS: Final = frozenset({
    "API", "APP", "ACCESS", "ACCOUNT", "ADMIN", "AUTH", "BEARER", "CLIENT", "DEPLOY", "ENCRYPTION", "LICENSE",
    "MASTER", "PRIVATE", "SECRET", "SERVICE", "SIGNING", "STORAGE", "SUBSCRIPTION",
})  # fmt: skip
_OWNED: Final = frozenset({"KEY", "KEYS", "TOKENS"})
_PURPOSES: Final = frozenset({"RECOVERY", "BACKUP", "AUTH", "VERIFICATION"})
_CODES: Final = frozenset({"CODE", "CODES"})
_OWNED_ENDS: Final = tuple(owner + key for owner in ("API", "ACCESS", "SECRET", "PRIVATE") for key in ("KEY", "KEYS"))
_LAST: Final = frozenset({"PW", "BINDPW", "CRED", "CREDS", "OTP", "TOTP", "DSN"})
_NO_PASSWORDS: Final = ("BYPASS", "COMPASS", "ASKPASS")
_WEAK: Final = frozenset({
    "KEY", "KEYS", "PAT", "AUTH", "AUTHORIZATION", "PIN", "SAS", "PRIVATE", "SIG", "PSK", "HMAC", "SALT", "COMMUNITY",
})  # fmt: skip
_DIRECTORIES: Final = frozenset({"PWD", "OLDPWD"})

_TRIVIAL: Final = frozenset({"", "true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default"})
_EXTENSION: Final = 6


class Suspicion(Enum):
    """What a name says about its value."""

    NONE = "no secret"
    SECRET = "secret"  # noqa: S105 - a kind
    DIRECTORY = "a directory, or in a connection string a password"
    WEAK = "secret if it is no ordinary word or number"
    SESSION = "secret if it is also long"
    PROXY = "an address, perhaps with a password"


def names_secret(name: str, value: str) -> bool:
    """Say whether a value is secret because of its name. `core.secrets.shapes` has those that need no name."""
    found = suspicion(name)
    if found is Suspicion.NONE or _is_trivial(value) or _is_path(value):
        return False
    match found:
        case Suspicion.SECRET:
            return True
        case Suspicion.DIRECTORY:
            return not value.startswith("/")
        case Suspicion.PROXY:
            return _has_login(value)
        case Suspicion.SESSION:
            return len(value) >= _SHORT_SESSION and not _is_plain(value)
    return not _is_plain(value)


@lru_cache(_MOST_REMEMBERED)
def suspicion(name: str) -> Suspicion:
    """Return what the name of a variable, an option or a field says about its value."""
    words = [word for word in _snake(name).upper().replace("-", "_").replace(".", "_").split("_") if word]
    joined = "_".join(words)
    if any(part in joined for part in _ALWAYS):
        return Suspicion.SECRET
    if joined.endswith(("SESSION", "SESSION_ID", "SESSIONID")):
        return Suspicion.SESSION
    if not words or words[-1] in _PROPERTIES or words[0] in _SWITCHES or _is_of_a_model(words):
        return Suspicion.NONE
    if joined in _DIRECTORIES:
        return Suspicion.DIRECTORY
    return _of_words([word.rstrip("0123456789") for word in words])


def _of_words(words: list[str]) -> Suspicion:
    is_owned = any((a in _OWNERS and b in _OWNED) or (a in _PURPOSES and b in _CODES) for a, b in pairwise(words))
    if is_owned or any(word.endswith(_ENDS + _OWNED_ENDS) for word in words):
        return Suspicion.SECRET
    while words and (not words[-1] or words[-1] in _QUALIFIERS):
        words = words[:-1]
    last = words[-1] if words else ""
    if last in _LAST or (last.endswith(("PASS", "PWD")) and not last.endswith(_NO_PASSWORDS)):
        return Suspicion.SECRET
    if last in _WEAK or last.endswith("SIGNATURE"):
        return Suspicion.WEAK
    return Suspicion.PROXY if last == "PROXY" else Suspicion.NONE


def _is_of_a_model(words: list[str]) -> bool:
    return words[-1] == "TOKEN" and len(words) > 1 and words[-2] in _OF_MODELS


def _snake(name: str) -> str:
    """Return apiKey as api_Key."""
    if name.islower() or name.isupper():
        return name
    return "".join(f"_{b}" if a.islower() and b.isupper() else b for a, b in zip("_" + name, name, strict=False))


def _is_trivial(value: str) -> bool:
    """Return whether a value is a switch, a small number, a fraction, or a placeholder such as </s> or [MASK]."""
    if value.lower() in _TRIVIAL or value[0] + value[-1] in {"<>", "[]"}:
        return True
    whole, point, part = value.removeprefix("-").partition(".")
    return part.isdecimal() and not whole.strip("0123456789") if point else whole.isdecimal() and len(whole) <= 3


def _is_path(value: str) -> bool:
    """Return whether a value is the path of a file with an extension; random text may begin with a slash."""
    folder, _, file = value.rpartition("/")
    extension = file.rpartition(".")[2] if "." in file else ""
    is_rooted = value.startswith(("/", "~/", "./", "../")) and not set(folder + file) & set(" :=@?&+;'\"")
    return is_rooted and extension.isalpha() and 2 <= len(extension) <= _EXTENSION


def _is_plain(value: str) -> bool:
    """Return whether a value is made of ordinary words and small numbers: no capital after a small letter."""
    if len(value) > _LONGEST_PLAIN or not value[:1].isalpha():
        return False
    return all(map(_is_plain_word, re.split("[-_./:,]", value)))


def _is_plain_word(word: str) -> bool:
    if word.isdecimal():
        return len(word) <= 3
    return word.isalpha() and len(word) <= _LONGEST_WORD and (len(word) == 1 or word.isupper() or word[1:].islower())


def _has_login(value: str) -> bool:
    """Return whether an address begins with user:password@, and with no scheme: of that the shape is enough."""
    login, at, host = value.partition("@")
    return bool(at and host) and ":" in login and "/" not in login
