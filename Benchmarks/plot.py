"""A plain SVG of horizontal bars, one panel beside the other; bars are scaled within their group."""

from xml.sax.saxutils import escape

BAR, GAP, GROUP_GAP, LABEL, WIDTH, VALUE, TOP = 14, 3, 26, 130, 300, 70, 56
OURS, PEER, INK = "#d9480f", "#8ea4b8", "#222"

Group = tuple[str, list[tuple[str, float, bool]]]


def text(x: float, y: float, content: str, size: int = 11, anchor: str = "start", weight: str = "normal") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="{INK}">{escape(content)}</text>')


def panel(title: str, groups: list[Group], left: float) -> tuple[list[str], float]:
    """The shapes of one panel and its height."""
    shapes, y = [text(left + LABEL, 40, title, 14, weight="bold")], float(TOP)
    for name, bars in groups:
        shapes.append(text(left + LABEL, y + 10, name, 12, weight="bold"))
        y += 16
        longest = max((value for _, value, _ in bars), default=1)
        for label, value, ours in sorted(bars, key=lambda bar: bar[1]):
            width = WIDTH * value / longest
            shapes.append(text(left + LABEL - 6, y + 11, label, anchor="end", weight="bold" if ours else "normal"))
            shapes.append(f'<rect x="{left + LABEL}" y="{y:.1f}" width="{width:.1f}" height="{BAR}" '
                          f'fill="{OURS if ours else PEER}"/>')
            shapes.append(text(left + LABEL + width + 5, y + 11, f"{value:.3g} ms" if value < 1000 else f"{value:.0f} ms"))
            y += BAR + GAP
        y += GROUP_GAP - 10
    return shapes, y


def bars(panels: list[tuple[str, list[Group]]]) -> str:
    """The whole picture: shorter bars are faster."""
    step, height = LABEL + WIDTH + VALUE, 0.0
    shapes = [text(12, 20, "Time per inference, best round (shorter is faster)", 14)]
    for index, (title, groups) in enumerate(panels):
        drawn, bottom = panel(title, groups, index * step)
        shapes += drawn
        height = max(height, bottom)
    width = step * max(1, len(panels))
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" '
            f'viewBox="0 0 {width} {height:.0f}" font-family="Helvetica, Arial, sans-serif">')
    background = f'<rect width="{width}" height="{height:.0f}" fill="white"/>'
    return "\n".join([head, background, *shapes, "</svg>"]) + "\n"
