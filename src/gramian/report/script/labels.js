/* Names that cover neither one another nor, where it can be helped, a mark. */

class Cells {
  // What lies where, in squares of a side, so that a name asks its neighbors alone.
  constructor(side) { this.side = side; this.at = new Map(); }

  over(box, call) {
    const s = this.side;
    for (let i = Math.floor(box.x / s); i <= Math.floor((box.x + box.w) / s); i += 1) {
      for (let j = Math.floor(box.y / s); j <= Math.floor((box.y + box.h) / s); j += 1) call(i * 4096 + j);
    }
  }

  put(box) { this.over(box, (key) => { if (!this.at.has(key)) this.at.set(key, []); this.at.get(key).push(box); }); }

  hits(box) {
    const found = new Set();
    this.over(box, (key) => (this.at.get(key) || []).forEach((other) => {
      if (box.x < other.x + other.w && box.x + box.w > other.x && box.y < other.y + other.h && box.y + box.h > other.y) found.add(other);
    }));
    return found.size;
  }
}

const DIRECTIONS = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];
const BETWEEN = [...DIRECTIONS, [1, -0.5], [-1, -0.5], [1, 0.5], [-1, 0.5], [0.5, -1], [-0.5, -1], [0.5, 1], [-0.5, 1]];

// Places for names { x, y, r, text, size, weight }, the first ones first: [{ ...item, left, top, far }]. A name that
// finds no place near its mark goes further out, with a line to it; one that finds none at all is left out. The name of
// an arrow goes where the arrow does (out, in radians), rather than back over it.
function placeNames(items, marks, bounds, blocked = []) {
  const taken = new Cells(48), dots = new Cells(24), out = [];
  marks.forEach(({ x, y, r }) => dots.put({ x: x - r, y: y - r, w: 2 * r, h: 2 * r }));
  blocked.forEach((box) => taken.put(box));
  items.forEach((item) => {
    const w = widthOf(item.text, item.size || 12, item.weight) + 4, hgt = (item.size || 12) + 3;
    let best = null;
    for (let ring = 0; ring < (item.shy ? 1 : item.rings || 7) && !(best && best.cost < 4 + 3 * ring); ring += 1) {
      const away = item.r + 2 + ring * 11;
      (ring < 3 ? DIRECTIONS : BETWEEN).forEach(([dx, dy], at) => {
        const cx = item.x + dx * (away + w / 2) * (dx && dy ? 0.86 : 1), cy = item.y + dy * (away + hgt / 2) * (dx && dy ? 0.86 : 1);
        const box = { x: cx - w / 2, y: cy - hgt / 2, w, h: hgt };
        if (box.x < bounds.x || box.y < bounds.y || box.x + w > bounds.x + bounds.w || box.y + hgt > bounds.y + bounds.h) return;
        if (taken.hits(box)) return;
        const cost = 3 * ring + at * 0.25 + (item.over ? 0.2 : 4) * dots.hits(box) + (item.out === undefined ? 0 : 2 * (1 - Math.cos(Math.atan2(dy, dx) - item.out)));
        if (!best || cost < best.cost) best = { cost, box, ring };
      });
    }
    if (!best || (item.shy && best.cost >= 4)) return; // the shy ones stay away from marks
    taken.put(best.box);
    out.push({ ...item, left: best.box.x + 2, top: best.box.y, w: best.box.w, h: best.box.h, far: away_(item, best.box) > item.r + 7 });
  });
  return out;
}

function away_({ x, y }, box) {
  return Math.hypot(x - clamp(x, box.x + 2, box.x + box.w - 2), y - clamp(y, box.y + 3, box.y + box.h - 3));
}

function writeNames(pen, placed) {
  placed.filter((one) => one.far).forEach((one) => {
    const cx = clamp(one.x, one.left, one.left + one.w - 4), cy = clamp(one.y, one.top + 3, one.top + one.h - 3);
    pen.line(one.x, one.y, cx, cy, colors.muted, { "stroke-width": 0.8 });
  });
  placed.forEach((one) => pen.text(one.left, one.top + one.h - 4, one.text, { size: one.size || 12, color: one.color || colors.ink, weight: one.weight || 400, halo: true }));
}
