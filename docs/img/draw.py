#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/anifilter.md: python3 docs/img/draw.py writes the SVG files beside it.

Each picture brings its own background, light or dark as the viewer prefers, so that it is readable
on any page.
"""
import os

STYLE = """
  text { font: 14px system-ui, "DejaVu Sans", sans-serif; fill: #1f2328; }
  .small { font-size: 12px; }
  .muted { fill: #59636e; }
  .strong { font-weight: bold; }
  .mid { text-anchor: middle; }
  .end { text-anchor: end; }
  .card { fill: #ffffff; stroke: #d0d7de; }
  .box { stroke: #59636e; }
  .own { fill: #cfe3ff; }
  .foreign { fill: #ffd8a8; }
  .new { fill: #b7ebc6; }
  .flag { fill: #e6d5ff; }
  .empty { fill: #ffffff; }
  .unused { fill: #eaeef2; }
  .arrow { fill: none; stroke: #0a58ca; stroke-width: 1.6; marker-end: url(#head); }
  .faint { stroke: #8c959f; marker-end: url(#head-faint); stroke-dasharray: 4 3; }
  .head { fill: #0a58ca; }
  .head-faint { fill: #8c959f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .muted { fill: #9da7b3; }
    .card { fill: #161b22; stroke: #30363d; }
    .box { stroke: #9da7b3; }
    .own { fill: #1f3f6b; }
    .foreign { fill: #7a4a12; }
    .new { fill: #1d5c31; }
    .flag { fill: #4b3672; }
    .empty { fill: #161b22; }
    .unused { fill: #30363d; }
    .arrow { stroke: #79b8ff; }
    .faint { stroke: #8c959f; }
    .head { fill: #79b8ff; }
  }"""


class Picture:
    def __init__(self, name, width, height, title):
        self.name, self.parts = name, []
        self.head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{title}">\n'
            '<!-- SPDX-License-Identifier: Apache-2.0; made by draw.py -->\n'
            f"<title>{title}</title>\n<style>{STYLE}\n</style>\n<defs>"
            + "".join(
                f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
                f'markerHeight="7" orient="auto"><path class="{name}" d="M0 0 8 4 0 8z"/></marker>'
                for name in ("head", "head-faint"))
            + f'</defs>\n<rect class="card" x="0.5" y="0.5" width="{width - 1}" '
              f'height="{height - 1}" rx="8"/>\n')

    def text(self, x, y, text, style=""):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{style}">{text}</text>')

    def box(self, x, y, width, height, style, label="", text_style="mid"):
        self.parts.append(f'<rect class="box {style}" x="{x:g}" y="{y:g}" width="{width:g}" '
                          f'height="{height:g}"/>')
        if label:
            self.text(x + width / 2, y + height / 2 + 5, label, text_style)

    def arrow(self, path, style=""):
        self.parts.append(f'<path class="arrow {style}" d="{path}"/>')

    def write(self):
        folder = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(folder, self.name), "w", encoding="utf-8") as file:
            file.write(self.head + "\n".join(self.parts) + "\n</svg>\n")


def bucket_word():
    p = Picture("anifilter_bucket.svg", 860, 356, "A bucket is one 64-bit word")
    left, bit, top = 30, 12.5, 78

    def x(position):  # the left edge of a bit, bit 63 at the left
        return left + (63 - position) * bit

    p.text(left, 30, "A bucket: one aligned 8-byte word, written by one atomic store (layout 5x12)",
           "strong")
    p.box(x(63), top, 2 * bit, 44, "unused", "0", "mid muted")
    p.box(x(61), top, bit, 44, "flag")
    p.box(x(60), top, bit, 44, "flag")
    for slot in range(5):
        style = "foreign" if slot == 0 else "own"
        p.box(x(12 * slot + 11), top, 12 * bit, 44, style, f"slot {slot}")
        p.text(x(12 * slot + 11) + 2, top + 58, str(12 * slot + 11), "small muted")
        p.text(x(12 * slot) + bit - 2, top + 58, str(12 * slot), "small muted end")
    p.text(x(63), top + 58, "63", "small muted")
    p.arrow(f"M{x(61) + bit / 2} {top - 10}V{top - 2}")
    p.text(x(61) - 2, top - 16, "61: overflow", "small")
    p.arrow(f"M{x(60) + bit / 2} {top + 66}V{top + 47}")
    p.text(x(60) - 2, top + 80, "60: spill", "small")
    p.text(x(35), top + 80, "A slot holds a 12-bit fingerprint, 1 to 4095; 0 is empty.", "small mid")
    p.arrow(f"M{x(52)} {top - 18}H{x(13)}")
    p.text(x(30), top - 24, "a bucket fills its own slots in this order", "small mid muted")
    p.text(x(11) + 75, top + 80, "slot 0: last, or for a guest", "small mid")

    p.text(left, 206, "The other layouts", "strong")
    y = 220
    for slots, bits in ((7, 8), (6, 10), (4, 15), (3, 20)):
        p.text(left, y + 16, f"{slots}x{bits}")
        scale = (860 - 60 - 60) / 64
        start = left + 60
        unused = 60 - slots * bits
        p.box(start, y, 2 * scale, 22, "unused")
        p.box(start + 2 * scale, y, scale, 22, "flag")
        p.box(start + 3 * scale, y, scale, 22, "flag")
        if unused:
            p.box(start + 4 * scale, y, unused * scale, 22, "unused")
        for slot in range(slots):
            place = start + (64 - (slot + 1) * bits) * scale
            p.box(place, y, bits * scale, 22, "foreign" if slot == 0 else "own", str(slot),
                  "small mid")
        y += 32
    p.write()


def line():
    p = Picture("anifilter_line.svg", 860, 470, "Where a key may be: two lines at most")
    width, gap, slot_height = 84, 14, 17

    def x(bucket):
        return 34 + bucket * (width + gap)

    def bucket(index, top, slots, spill=False, overflow=False, name=None):
        """`slots`: styles of slot 4 to slot 0."""
        p.box(x(index), top, width / 2, slot_height, "flag" if overflow else "unused",
              "OV" if overflow else "", "small mid")
        p.box(x(index) + width / 2, top, width / 2, slot_height, "flag" if spill else "unused",
              "SP" if spill else "", "small mid")
        for i, style in enumerate(slots):
            label = {"new": "fp"}.get(style, "")
            p.box(x(index), top + (i + 1) * slot_height, width, slot_height, style, label,
                  "small mid")
        if name:
            p.text(x(index) + width / 2, top - 8, name, "mid strong")

    o, e, f = "own", "empty", "foreign"
    p.text(34, 30, "hash of the key: prime bucket b, fingerprint fp; from b and fp: secondary bucket a")
    top = 92
    p.text(34, top - 34, "the line of b: 8 buckets, 64 bytes", "muted")
    fills = [[o, o, o, e, e], [o, o, o, o, e], [o, o, e, e, e], [o, o, o, o, o], [o, o, o, o, f],
             [o, e, e, e, e], [o, o, o, e, e], [o, o, o, o, e]]
    for i, slots in enumerate(fills):
        bucket(i, top, slots, spill=i == 4, overflow=i == 3,
               name={3: "b", 4: "right of b"}.get(i))
    bottom = top + 6 * slot_height
    # b's own slots, then slot 0 of its right neighbour
    p.text(x(3) + width / 2, bottom + 40, "1", "mid strong")
    p.arrow(f"M{x(3) + width / 2} {bottom + 26}V{bottom + 4}")
    p.text(x(4) + width / 2, bottom + 40, "2", "mid strong")
    p.arrow(f"M{x(4) + width / 2} {bottom + 26}V{bottom + 4}")
    p.arrow(f"M{x(7) + width} {top + 50}h20", "faint")
    p.arrow(f"M10 {top + 50}h22", "faint")
    p.text(x(7) + width, bottom + 20, "a ring: the first is right of the last", "small muted end")
    p.text(34, bottom + 40, "1  b itself", "small")
    p.text(34, bottom + 58, "2  b's guest in slot 0 of its right neighbour (SP)", "small")
    p.text(34, bottom + 76, "3  only if b has OV: the same two places of a", "small")

    top = 336
    p.text(x(4), top - 20, "the line of a, anywhere in the table", "muted")
    fills = [[o, o, e, e, e], [o, o, o, o, "new"], [o, o, o, o, e], [o, o, e, e, e],
             [o, o, o, e, e], [o, o, o, o, e], [o, o, o, e, e], [o, e, e, e, e]]
    fills[1] = [o, o, o, o, "new"]
    for i, slots in enumerate(fills):
        bucket(i, top, slots, name={1: "a", 2: "right of a"}.get(i))
    p.text(x(4), bottom + 76, "3", "strong")
    p.arrow(f"M{x(4) - 4} {bottom + 72}C{x(3)} {bottom + 74} {x(2) + 40} {bottom + 96} {x(1) + width / 2 + 16} {top - 16}")
    y = top + 6 * slot_height + 20
    for offset, style, label in ((34, "own", "a fingerprint of the bucket"), (262, "foreign", "a guest: of the left neighbour"),
                                 (516, "new", "the key looked for"), (684, "empty", "empty")):
        p.box(offset, y - 11, 16, 13, style)
        p.text(offset + 22, y, label, "small")
    p.write()


def eviction():
    p = Picture("anifilter_eviction.svg", 860, 330, "An eviction writes the copy first")
    o, e = "own", "empty"
    panels = [
        ("before", [o, o, "v", o, o], [o, o, o, o, e], False,
         ["b and its secondary bucket are full.", "The flags in DRAM say: of all", "victims, v has room at alt(v)."]),
        ("1  copy v, flush, fence", [o, o, "v", o, o], [o, o, o, o, "v"], False,
         ["A crash here leaves v twice", "(strict: recovery undoes it).", "No key is lost."]),
        ("2  overwrite, flush, fence", [o, o, "new", o, o], [o, o, o, o, "v"], True,
         ["One store: fp takes v's place", "and OV of b says: look further.", "Only now is insert done."]),
    ]
    for i, (title, left, right, overflow, notes) in enumerate(panels):
        x = 30 + i * 276
        p.text(x, 34, title, "strong")
        for column, (name, slots) in enumerate((("b", left), ("alt(v)", right))):
            at = x + column * 128
            p.text(at + 50, 66, name, "mid")
            p.box(at, 76, 100, 20, "flag" if overflow and column == 0 else "unused",
                  "OV" if overflow and column == 0 else "", "small mid")
            for row, slot in enumerate(slots):
                style = {"v": "foreign"}.get(slot, slot)
                label = {"v": "v", "new": "fp"}.get(slot, "")
                p.box(at, 96 + row * 22, 100, 22, style, label)
        if i == 1:
            p.arrow(f"M{x + 100} 151C{x + 116} 151 {x + 112} 195 {x + 126} 195")
        for row, note in enumerate(notes):
            p.text(x, 240 + row * 20, note, "small")
    p.text(30, 312, "At every moment, and after every crash, v is in b, in alt(v), or in both.", "muted")
    p.write()


if __name__ == "__main__":
    bucket_word()
    line()
    eviction()
