"""Shapes of secrets: the rows of what a text shows to be secret without a name."""

from typing import Final, TypeAlias

# sign, pattern, replacement. Sign: a part that no such secret lacks, so that most texts need no search for the pattern
Shape: TypeAlias = tuple[str, str, str]

MASK: Final = "••••••••"

# The ends of a word. A NUL separates arguments; control pictures are what `clean` makes of line ends.
GAP: Final = r"\s\0\u2409\u240a\u240d"
_VALUE: Final = rf"[^{GAP}\"']+"
_KEEP: Final = rf"\g<1>{MASK}"
_HEADER: Final = (
    rf"((?i:authorization)[\"'\\]{{0,4}}\s{{0,2}}[:=][{GAP}]{{0,2}}[\"'\\]{{0,4}}"
    rf"(?:(?i:bearer|basic|token|digest|negotiate|apikey)[{GAP}+]+)?){_VALUE}"
)


def _prefix(prefix: str, rest: str) -> Shape:
    """Return the shape of keys of a service, which begin alike."""
    return prefix, rf"(?<![A-Za-z0-9]){prefix.replace('.', '[.]')}{rest}", MASK


def _option(program: str, option: str, *, is_attached: bool = False) -> Shape:
    """Return the shape of a short option of a program that takes a password."""
    between = "" if is_attached else f"[{GAP}]*"
    words = rf"(?:[{GAP}]+[^{GAP}]+){{0,12}}?[{GAP}]+"
    return (program, rf"(?<![\w-])({program}{words}{option}{between})(?![-{GAP}]){_VALUE}", _KEEP)


# Before names are looked at: what these find contains the signs that separate names from values.
FIRST: Final = (
    (
        "PRIVATE KEY",
        (r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)[^\0]*?"
        r"(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?=\0)|\Z)"),
        rf"\g<1>{MASK}\g<2>",
    ),
    (  # scheme://user:password@host; a port is no password
        "@",
        (rf"(?<=://)([^{GAP}/@\"':]{{0,128}}):"
        rf"(?:[^{GAP}/\"']{{1,200}}|(?!\d{{1,5}}[/?#])[^{GAP}\"']{{1,200}}?)@"),
        rf"\g<1>:{MASK}@",
    ),
    ("@", rf"(https?://)[^{GAP}/@:\"']{{12,256}}@", rf"{_KEEP}@"),  # token@host
    (  # user:password@host without a scheme; no name of an image (name:tag@sha256:…)
        "@",
        (rf"(?<![\w/:@.-])(?!mailto:)([\w.+-]{{1,64}}:)[^{GAP}/@:\"']{{1,128}}@(?!sha256:)"
        r"(?=(?:[A-Za-z0-9-]+\.)+(?:[A-Za-z]{2,}|\d+\b)|[A-Za-z0-9-]+:\d|localhost\b)"),
        rf"{_KEEP}@",
    ),
    ("uthorization", _HEADER, _KEEP),
    ("UTHORIZATION", _HEADER, _KEEP),
    (
        "earer",
        rf"\b([Bb]earer[{GAP}:+]{{1,3}})(?=[^{GAP}]{{0,200}}?[\dA-Z_=.]|[^{GAP}]{{20}})[\w.~+/=%-]{{6,}}",
        _KEEP,
    ),
    ("EARER", rf"\b(BEARER[{GAP}:+]{{1,3}})[\w.~+/=%-]{{6,}}", _KEEP),
    (  # of HTTP; an ordinary word after Basic has no digit, no = and no capital inside
        "Basic",
        rf"\b(Basic[{GAP}+])(?=[A-Za-z0-9+/]{{0,200}}(?:[0-9=]|[a-z][A-Z]))[A-Za-z0-9+/]{{6,}}={{0,2}}",
        _KEEP,
    ),
    (  # a cookie header has many values
        "ookie:", rf"((?i:cookie):[{GAP}]?)(?:[^{GAP}\"';]+;\s?)*[^{GAP}\"';]+", _KEEP,
    ),
    (  # a line of .netrc
        "password",
        (rf"(\blogin[{GAP}]+[^{GAP}]{{1,128}}[{GAP}]+(?:account[{GAP}]+[^{GAP}]{{1,128}}[{GAP}]+)?password[{GAP}]+)"
        rf"[^{GAP}]+"),
        _KEEP,
    ),
    ("wandb", rf"(\bwandb[{GAP}]+login[{GAP}]+(?:--[\w-]+[{GAP}]+){{0,9}})[\w-]{{40,}}", _KEEP),
    ("configure", rf"(\bconfigure[{GAP}]+set[{GAP}]+[\w.]*(?:secret|token)[\w.]*[{GAP}]+){_VALUE}", _KEEP),
    _option("sshpass", "-p"), _option("redis-cli", "-a"), _option("login", "-p"),
    _option("curl", "(?:-[uU]|--(?:proxy-)?user)=?"),
    _option("ldapsearch", "-w"), _option("mosquitto_pub", "-P"), _option("mosquitto_sub", "-P"),
    _option("sqlcmd", "-P"), _option("ipmitool", "-P"), _option("zip", "-P"), _option("twine", "-p"),
    _option("smbclient", "-U"), _option("mongo", "-p"), _option("mongosh", "-p"),
    _option("mysql", "-p", is_attached=True), _option("mysqldump", "-p", is_attached=True),
    _option("mysqladmin", "-p", is_attached=True), _option("mariadb", "-p", is_attached=True),
    _option("7z", "-p", is_attached=True),
)  # fmt: skip

# How keys of further services begin. Letters, digits and low lines come after these,
_WITH_WORDS: Final = (
    "tgp_v1_", "KGAT_", "jina_", "nfp_", "rnd_", "sbp_", "sb_secret_", "pscale_tkn_", "pscale_pw_", "pscale_oauth_",
    "mdb_sa_sk_", "figd_", "hcaik_", "sntryu_", "shippo_live_", "shippo_test_", "duffel_live_", "duffel_test_", "pnu_",
    "CCIPAT_", "EZAK", "ABSK", "AKCp", "cmVmdGtu", "LTAI", "AQVN", "tfp_",
)  # fmt: skip
# random letters and digits after these,
_WITH_DIGITS: Final = ("fw_", "csk-", "rpa_", "napi_", "ntn_", "secret_", "oy2", "EAAAE", "AKID")
# hexadecimal digits after these,
_WITH_HEX: Final = ("sgp_", "rubygems_", "pul-", "fc-", "bkua_", "sqp_", "sqa_", "squ_")
# and parts with dots and dashes after these.
_WITH_PARTS: Final = (
    "tvly-", "HRKU-", "fm2_", "fm1r_", "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "t1.9eu", "dt0c01.", "xkeysib-",
    "sq0atp-", "sq0csp-", "CFPAT-", "PMAK-", "access-production-", "access-sandbox-",
)  # fmt: skip
_IS_RANDOM: Final = r"(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])"

# After names were looked at: the keys of services.
LAST: Final = (
    *(_prefix(f"gh{kind}_", r"[A-Za-z0-9]{16,}") for kind in "pousr"),
    _prefix("github_pat_", r"\w{16,}"),
    *(
        _prefix(f"gl{kind}-", r"[\w.-]{10,}")
        for kind in ("pat", "dt", "rt", "cbt", "ptt", "ft", "soat", "agent", "imt", "oas", "ffct")
    ),
    _prefix("hf_", r"[A-Za-z0-9]{20,}"),
    _prefix("api_org_", r"[A-Za-z]{20,}"),
    _prefix("sk-", r"(?:[a-z0-9]{1,12}-){0,3}[A-Za-z0-9_]{16,}[\w-]*"),  # OpenAI, Anthropic, OpenRouter
    _prefix("sk-lf-", r"[a-f0-9-]{20,}"),
    ("xox", r"(?<![A-Za-z0-9])xox[abcdeoprs](?:\.xox[a-z])?-[\w-]{8,}", MASK),
    _prefix("xapp-", r"\d-[\w-]{8,}"),
    _prefix("nvapi-", r"[\w-]{16,}"),
    *(_prefix(kind, r"[A-Z0-9]{12,}\b") for kind in ("AKIA", "ASIA", "ABIA", "ACCA")),
    _prefix("eyJ", r"[\w-]{8,}\.[\w-]{2,}(?:\.[\w-]*){0,3}"),  # JWT
    _prefix("npm_", r"[A-Za-z0-9]{20,}"),
    _prefix("pypi-Ag", r"[\w-]{10,}"),
    *(_prefix(f"do{kind}_v1_", r"[a-f0-9]{16,}") for kind in "por"),
    _prefix("AIza", r"[\w-]{20,}"),
    _prefix("ya29.", r"[\w.-]{10,}"),
    _prefix("1//0", r"[\w-]{20,}"),
    _prefix("GOCSPX-", r"[\w-]{10,}"),
    _prefix("SG.", r"[\w-]{10,}\.[\w-]{10,}"),
    *(_prefix(f"{kind}_{stage}_", r"[A-Za-z0-9]{10,}") for kind in ("sk", "rk") for stage in ("live", "test")),
    _prefix("whsec_", r"[\w+/=]{10,}"),
    *(_prefix(f"shp{kind}_", r"[A-Fa-f0-9]{16,}") for kind in ("at", "ca", "pa", "ss")),
    _prefix("EAAC", r"[A-Za-z0-9]{20,}"),
    _prefix("gsk_", r"[A-Za-z0-9]{20,}"),
    _prefix("xai-", r"[A-Za-z0-9]{20,}"),
    _prefix("pplx-", r"[A-Za-z0-9]{20,}"),
    _prefix("r8_", r"[A-Za-z0-9]{20,}"),
    _prefix("hvs.", r"[\w-]{16,}"),
    _prefix("hvb.", r"[\w-]{16,}"),
    _prefix("dapi", r"[a-f0-9]{32}(?:-\d)?"),
    _prefix("dckr_pat_", r"[\w-]{16,}"),
    _prefix("lsv2_", r"[a-z]{2}_[\w-]{16,}"),
    _prefix("pcsk_", r"\w{16,}"),
    _prefix("glsa_", r"\w{20,}"),
    _prefix("NRAK-", r"[A-Z0-9]{16,}"),
    _prefix("ATATT3", r"[\w=-]{20,}"),
    _prefix("tskey-", r"[\w-]{10,}"),
    _prefix("sntrys_", r"[\w+/=]{16,}"),
    _prefix("lin_api_", r"[A-Za-z0-9]{16,}"),
    _prefix("wandb_v1_", r"[\w-]{16,}"),
    _prefix("AGE-SECRET-KEY-", r"[A-Z0-9]{16,}"),
    *(_prefix(kind, r"\w{20,}") for kind in _WITH_WORDS),
    *(_prefix(kind, rf"{_IS_RANDOM}[A-Za-z0-9]{{20,}}") for kind in _WITH_DIGITS),
    *(_prefix(kind, r"[a-f0-9]{32,}\b") for kind in _WITH_HEX),
    *(_prefix(kind, r"[\w.-]{20,}") for kind in _WITH_PARTS),
    _prefix("ops_eyJ", r"[\w=-]{20,}"),  # 1Password
    _prefix("eyJhcGlf", r"[\w+/=-]{20,}"),  # Neptune
    _prefix("MUNGE:", r"[\w+/=]{20,}"),
    ("$", r"\$(?:[156y]|2[abxy]|apr1|argon2id?|scrypt|7)\$[\w.,=/+$-]{20,}", MASK),  # hash of a password
    (".atlasv1.", r"\w{10,}\.atlasv1\.[\w-]{20,}", MASK),  # Terraform
    ("8Q~", r"(?<![\w~.-])\w{3}8Q~[\w~.-]{30,}", MASK),  # Microsoft Entra
    ("thin:", rf"(\bthin:\w{{1,64}}/)[^{GAP}\"'@]{{1,128}}(?=@)", _KEEP),  # Oracle
    ("hooks.zapier.com/", rf"(hooks\.zapier\.com/){_VALUE}", _KEEP),
    (":AA", r"\b\d{8,10}:AA[\w-]{30,}", MASK),  # a bot of Telegram
    ("LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi(?!BDRVJU)[\w+/=]*", MASK),  # a key in Base64, and no certificate
    ("hooks.slack.com/", r"(hooks\.slack\.com/[a-z]{1,20}/)[\w/+-]+", _KEEP),
    ("/api/webhooks/", r"(/api/webhooks/)[\w/+-]+", _KEEP),
    ("webhook.office.com/", rf"(webhook\.office\.com/){_VALUE}", _KEEP),
)  # fmt: skip
