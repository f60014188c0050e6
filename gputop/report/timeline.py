"""The findings of a recording as text."""

from collections.abc import Sequence

from gputop.core.detection.timeline import Episode
from gputop.core.model.finding import confidence_text, further_evidence
from gputop.core.recording.playback import place_text


def timeline(episodes: Sequence[Episode]) -> str:
    """Return one paragraph per finding, in order of start; times are positions in the recording."""
    return "\n".join("".join(f"{line}\n" for line in _paragraph(episode)) for episode in episodes)


def _paragraph(episode: Episode) -> list[str]:
    finding = episode.finding
    begin = place_text(episode.passages[0].at_s) if episode.passages[0].at_s else "the start"
    end = "the end" if episode.end_at_s is None else place_text(episode.end_at_s)
    head = f"{finding.stage.value}  seen from {begin} to {end}  {finding.code}  {finding.subject.label}"
    lines = [head, f"  {finding.summary}"]
    if finding.remedy:
        lines.append(f"  to do: {finding.remedy}")
    if len(episode.passages) > 1:
        stages = ", ".join(f"{each.stage.value} at {place_text(each.at_s)}" for each in episode.passages)
        lines.append(f"  stages: {stages}")
    lines += [f"  {'' if at else 'evidence:':9} {text}" for at, text in enumerate(further_evidence(finding))]
    if finding.confidence is not None:
        lines.append(f"  confidence: {confidence_text(finding.confidence)}")
    if finding.lacking:
        lines.append(f"  not known: {'; '.join(finding.lacking)}")
    return lines
