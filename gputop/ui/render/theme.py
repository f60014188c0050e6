"""The themes. A panel names an ink; here and in gputop.tcss the ink gets its colour and style."""

from typing import Final

from textual.theme import Theme

INKS: Final = (
    "text", "muted", "faint", "title", "accent", "key",
    "utilization", "memory", "power", "temperature", "cpu",
    "low", "middle", "high", "free",  # load, which is no trouble: warm and hot are
    "warm", "hot", "badge", "alarm", "head", "mark", "cursor", "track",
)  # fmt: skip

DARK, LIGHT, CONTRAST, MONOCHROME, SIXTEEN = "dark", "light", "high-contrast", "monochrome", "16-colour"
THEME_NAMES: Final = (DARK, LIGHT, CONTRAST, MONOCHROME, SIXTEEN)


def _variables(**colours: str) -> dict[str, str]:
    """Return the theme's variables: ``$ink-x`` colours, ``$ink-x-style`` styles, by keyword with underscores."""
    usual = {
        "title_style": "bold", "key_style": "bold", "hot_style": "bold", "warm_style": "none", "badge_style": "bold",
        "alarm_style": "bold", "mark_style": "bold", "head_style": "none", "cursor_style": "none",
        "muted_style": "none", "faint_style": "none", "accent_style": "none",
        "high_style": "none", "free_style": "bold",
    }  # fmt: skip
    inks = {f"ink-{key.replace('_', '-')}": value for key, value in (usual | colours).items()}
    return inks | {"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"}  # Textual's ansi styles need them


_DARK: Final = Theme(
    name=DARK, primary="#82aaff", secondary="#b392f0", accent="#7fd4c1", warning="#f0c36a", error="#ff6b7d",
    success="#8fd694", foreground="#c9d1dc", background="#0f131a", surface="#161c26", panel="#1c2430",
    variables=_variables(
        text="#c9d1dc", muted="#7d8898", faint="#38424f", title="#f2f5f9", accent="#7fd4c1", key="#e6ebf2",
        utilization="#7fd4c1", memory="#82aaff", power="#c9a0f5", temperature="#8fc7e8", cpu="#9ccf8f",
        low="#8fd694", middle="#dcd67a", high="#f0945a", free="#8fd694",
        warm="#f0c36a", hot="#ff6b7d", badge="#0f131a", badge_back="#f0c36a", alarm="#0f131a", alarm_back="#ff6b7d",
        head="#8e9aab", head_back="#1a212c", mark="#7fd4c1", cursor="#ffffff", cursor_back="#27405c",
        track="#2b3440",
    ),
)  # fmt: skip
_LIGHT: Final = Theme(
    name=LIGHT, primary="#2457b8", secondary="#7b3fb5", accent="#00796b", warning="#9a5b00", error="#c0182f",
    success="#2e7d32", foreground="#24292f", background="#fbfbfa", surface="#f1f2f3", panel="#e7e9ec", dark=False,
    variables=_variables(
        text="#24292f", muted="#656d78", faint="#c3c9d1", title="#000000", accent="#00796b", key="#111418",
        utilization="#00796b", memory="#2457b8", power="#7b3fb5", temperature="#1a6f96", cpu="#37752f",
        low="#2e7d32", middle="#7d6a00", high="#c2500c", free="#2e7d32",
        warm="#9a5b00", hot="#c0182f", badge="#ffffff", badge_back="#9a5b00", alarm="#ffffff", alarm_back="#c0182f",
        head="#505862", head_back="#e7e9ec", mark="#00796b", cursor="#000000", cursor_back="#cfe0f7",
        track="#d3d8de",
    ),
)  # fmt: skip
_CONTRAST: Final = Theme(
    name=CONTRAST, primary="#5cc8ff", secondary="#ff9cff", accent="#00ffd0", warning="#ffd000", error="#ff5c5c",
    success="#5cff5c", foreground="#ffffff", background="#000000", surface="#000000", panel="#1a1a1a",
    variables=_variables(
        text="#ffffff", muted="#c8c8c8", faint="#8a8a8a", title="#ffffff", accent="#00ffd0", key="#ffffff",
        utilization="#00ffd0", memory="#5cc8ff", power="#ff9cff", temperature="#9cd8ff", cpu="#9cff7a",
        low="#5cff5c", middle="#ffff7a", high="#ff9f40", free="#5cff5c",
        warm="#ffd000", warm_style="bold", hot="#ff5c5c", badge="#000000", badge_back="#ffd000", alarm="#000000",
        alarm_back="#ff5c5c", head="#000000", head_back="#d8d8d8", mark="#000000", mark_style="bold underline",
        cursor="#000000", cursor_back="#ffff00", track="#5a5a5a",
    ),
)  # fmt: skip
_MONOCHROME: Final = Theme(
    name=MONOCHROME, ansi=True, primary="ansi_default", secondary="ansi_default", accent="ansi_default",
    warning="ansi_default", error="ansi_default", success="ansi_default", foreground="ansi_default",
    background="ansi_default", surface="ansi_default", panel="ansi_default", boost="ansi_default",
    variables=_variables(
        **dict.fromkeys((*INKS, "badge_back", "alarm_back", "head_back", "cursor_back"), "ansi_default"),
        high_style="bold", muted_style="dim", faint_style="dim", warm_style="underline", hot_style="bold underline",
        badge_style="bold reverse", alarm_style="bold reverse", head_style="underline", mark_style="bold underline",
        cursor_style="reverse",
    ),
)  # fmt: skip
_SIXTEEN: Final = Theme(
    name=SIXTEEN, ansi=True, primary="ansi_blue", secondary="ansi_magenta", accent="ansi_cyan", warning="ansi_yellow",
    error="ansi_red", success="ansi_green", foreground="ansi_default", background="ansi_default",
    surface="ansi_default", panel="ansi_default", boost="ansi_default",
    variables=_variables(
        text="ansi_default", muted="ansi_default", faint="ansi_default", title="ansi_default", accent="ansi_cyan",
        key="ansi_default", utilization="ansi_green", memory="ansi_cyan", power="ansi_magenta",
        temperature="ansi_cyan", cpu="ansi_green", low="ansi_green", middle="ansi_yellow",
        high="ansi_red", free="ansi_green", warm="ansi_yellow", warm_style="bold", hot="ansi_red",
        badge="ansi_black", badge_back="ansi_yellow", badge_style="none", alarm="ansi_white", alarm_back="ansi_red",
        head="ansi_black", head_back="ansi_white", mark="ansi_black", mark_style="underline", cursor="ansi_black",
        cursor_back="ansi_cyan", track="ansi_default", muted_style="none",
    ),
)  # fmt: skip
THEMES: Final = (_DARK, _LIGHT, _CONTRAST, _MONOCHROME, _SIXTEEN)

# The built-in themes are not offered, but the stylesheet is read before ours is set, and needs every variable.
DEFAULTS: Final = _DARK.variables


def chosen(wish: str, *, is_colourless: bool, colours: str | None) -> str:
    """Return the name of the theme for a wish; ``colours`` is rich's name of what the terminal can."""
    if is_colourless:
        return MONOCHROME
    if wish in THEME_NAMES:
        return wish
    return SIXTEEN if colours in {"standard", "windows"} else DARK
