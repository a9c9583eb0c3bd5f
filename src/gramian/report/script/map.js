/* The map of rows: marks, names, groups, arrows; lasso, zoom, keys. */

const alone = () => table.components < 2;
const upward = () => (alone() ? Float64Array.from(table.positions, (i) => i + 1) : table.score(state.y));
const titleUp = () => (alone() ? "row number" : titled(state.y));

// What the map shows, and one unit for both axes unless one is more than six times longer.
function window_(pen, shown, frame) {
  const xs = table.score(state.x), ys = upward(), [a, b] = extent(xs, shown), [c, d] = extent(ys, shown);
  const dx = (b - a) * 1.1 || 1, dy = (d - c) * 1.12 || 1, equal = !alone() && dx / dy < 6 && dy / dx < 6, most = narrow() ? 400 : 560, least = narrow() ? 300 : 400;
  const height = equal ? clamp((frame.width * dy) / dx, least, most) : narrow() ? 340 : 480;
  if (state.view) return { ...state.view, height: clamp((frame.width * (state.view.y[1] - state.view.y[0])) / (state.view.x[1] - state.view.x[0]), least, most), equal };
  const unit = equal ? Math.min(frame.width / dx, height / dy) : 0, [mx, my] = [(a + b) / 2, (c + d) / 2];
  const wide = equal ? frame.width / unit : dx, high = equal ? height / unit : dy;
  return { x: [mx - wide / 2, mx + wide / 2], y: [my - high / 2, my + high / 2], height, equal };
}

// The words at both ends of an axis and its name between them; on two lines where one has no room.
function axisWords(pen, j, at, span, middle, title) {
  const room = (span[1] - span[0] - widthOf(title, 13, 600)) / 2 - 24, tight = middle === undefined && room < 150, each = tight ? (span[1] - span[0]) / 2 - 8 : room;
  const words = (side, before, after) => { const names = pole(j, side); return names.length ? before + fitted(names.join(", "), each - 20, 12.5) + after : ""; };
  const put = (x, y, text, more) => (middle === undefined ? pen.text(x, y, text, more) : pen.text(y, x, text, { ...more, turn: -90 }));
  const soft = { size: 12.5, color: colors.soft }, first = middle === undefined ? span[0] : span[1], last = middle === undefined ? span[1] : span[0];
  const next = tight && pole(j, 0).length + pole(j, 1).length ? 18 : 0;
  put((span[0] + span[1]) / 2, at, title, { size: 13, weight: 600, anchor: "middle" });
  put(first, at + next, words(0, "← ", ""), soft);
  put(last, at + next, words(1, "", " →"), { ...soft, anchor: "end" });
}

function ellipse(xs, ys, members) {
  const n = members.length, mean = (v) => members.reduce((sum, i) => sum + v[i], 0) / n, mx = mean(xs), my = mean(ys);
  let a = 0, b = 0, c = 0;
  members.forEach((i) => { a += (xs[i] - mx) ** 2; b += (xs[i] - mx) * (ys[i] - my); c += (ys[i] - my) ** 2; });
  [a, b, c] = [a, b, c].map((v) => v / Math.max(1, n - 1));
  const middle = (a + c) / 2, apart = Math.hypot((a - c) / 2, b), turn = 0.5 * Math.atan2(2 * b, a - c), q = 2.4477;
  return { mx, my, points: range(61).map((s) => {
    const t = (s / 60) * 2 * Math.PI, u = q * Math.sqrt(Math.max(middle + apart, 0)) * Math.cos(t), v = q * Math.sqrt(Math.max(middle - apart, 0)) * Math.sin(t);
    return [mx + u * Math.cos(turn) - v * Math.sin(turn), my + u * Math.sin(turn) + v * Math.cos(turn)];
  }) };
}

function groupsShown(shown) {
  const by = coloring();
  if (!by || !by.groups) return [];
  const members = by.groups.map(() => []);
  shown.forEach((i) => members[by.codes[i]].push(i));
  return members.map((own, g) => ({ g, name: by.groups[g], own })).filter(({ own, name }) => own.length && name !== "missing" && name !== "other");
}

// Rows to name: all of a few; of many the extremes, those beyond a limit, those picked and found.
function rowsToName(shown, xs, ys, far) {
  const asked = [state.current, ...(state.picked.size <= 40 ? state.picked : [])].filter((i) => i >= 0);
  if (!state.names) return asked;
  if (shown.length <= 60) return [...new Set([...asked, ...far, ...[...shown].sort((a, b) => Math.hypot(xs[b], ys[b]) - Math.hypot(xs[a], ys[a]))])];
  const ends = [xs, ys, xs.map((x, i) => x + ys[i]), xs.map((x, i) => x - ys[i])].flatMap((v) => { const order = [...shown].sort((a, b) => v[a] - v[b]); return [...order.slice(0, 4), ...order.slice(-4)]; });
  const out = [...shown].sort((a, b) => Math.hypot(xs[b], ys[b]) - Math.hypot(xs[a], ys[a])).slice(0, 8);
  const rest = table.named && shown.length <= 500 ? out.concat([...shown].sort((a, b) => Math.hypot(xs[b], ys[b]) - Math.hypot(xs[a], ys[a]))) : [];
  return [...new Set([...asked, ...far.slice(0, table.named ? 16 : 8), ...(table.named ? [...ends, ...out] : []), ...rest])];
}

function arrowsOf(pen, X, Y, plane) {
  const view = data.columns, d = view.names.length, at = unpack(view.positions), [px, py] = [columnOf(at, d, state.x), columnOf(at, d, state.y)];
  const longest = range(d).sort((a, b) => Math.hypot(px[b], py[b]) - Math.hypot(px[a], py[a])).slice(0, 20), most = Math.hypot(px[longest[0]], py[longest[0]]) || 1;
  const ox = clamp(X(0), plane.left, plane.left + plane.width), oy = clamp(Y(0), plane.top, plane.top + plane.height), size = (0.46 * Math.min(plane.width, plane.height)) / most;
  const heads = longest.map((c) => ({ c, x: ox + px[c] * size, y: oy - py[c] * size, r: 5, out: Math.atan2(-py[c], px[c]), text: fitted(view.names[c], 150), weight: 600, color: colors.flag, rings: 3 }));
  heads.forEach(({ x, y }) => {
    const turn = Math.atan2(y - oy, x - ox), wing = (by) => `${x - 8 * Math.cos(turn + by)} ${y - 8 * Math.sin(turn + by)}`;
    pen.line(ox, oy, x, y, colors.flag, { "stroke-width": 1.5 });
    pen.path(`M${wing(0.4)}L${x} ${y}L${wing(-0.4)}Z`, { fill: colors.flag });
  });
  return heads;
}

const thumbs = data.images && data.images.thumbnails && (() => {
  const view = data.images.thumbnails, flat = unpack(view), size = view.width * view.height;
  return new Map(view.rows.map((i, at) => [i, painted(flat.subarray(at * size, (at + 1) * size), view.width, view.height, (gray) => [gray, gray, gray])]));
})();

function thumbnails(pen, places) {
  const { width, height } = data.images.thumbnails, w = narrow() ? 26 : 38, tall = (w * height) / width, taken = new Cells(48), drawn = [];
  [...thumbs].forEach(([i, href]) => {
    const at = places.get(i), box = at && { x: at.x - w / 2, y: at.y - tall / 2, w, h: tall };
    if (!box || taken.hits(box)) return;
    taken.put(box);
    drawn.push(box);
    pen.image(box.x, box.y, w, tall, href, table.names[i]);
  });
  return drawn;
}

function legendIn(pen) {
  const by = coloring();
  if (!by) return 0;
  if (!by.groups) {
    range(60).forEach((s) => pen.rect(8 + 3 * s, 8, 3.2, 10, { fill: ramp(s / 59) }));
    const [low, high] = extent([...by.numbers].filter(Number.isFinite)), words = (v) => (by.date ? dayOf(v) : number(v));
    pen.text(196, 17, `${by.name}: ${words(low)} to ${words(high)}`, { color: colors.soft });
    return 30;
  }
  let x = 8, y = 16;
  by.groups.forEach((group, g) => {
    const text = fitted(group, 180), w = widthOf(text) + 30;
    if (state.hidden.has(g) || g >= 40) return;
    if (x + w > pen.width) { x = 8; y += 18; }
    pen.path(shapePath(shapeOf(g, by.groups.length), x + 5, y - 4, 5), { fill: hueOf(g) });
    pen.text(x + 14, y, text, { color: colors.soft });
    x += w;
  });
  return y + 16;
}

function paintMap(pen) {
  const lead = pen.alone ? legendIn(pen) : 0, far = flagged().filter((i) => visible_.has(i)), shown = [...visible_];
  const frame = { left: narrow() ? 34 : 56, width: 0 };
  frame.width = pen.width - frame.left - (narrow() ? 6 : 14);
  const view = window_(pen, shown, frame), plane = { left: frame.left, top: lead + (narrow() ? 24 : 8), width: frame.width, height: view.height, x: view.x, y: view.y };
  pen.height = plane.top + plane.height + (frame.width < 620 ? 66 : 48);
  const { X, Y } = pen.plane({ ...plane, xTicks: ticks(view.x, narrow() ? 5 : 9), yTicks: ticks(view.y, 7) });
  const inside = (v, [low, high]) => v > low && v < high;
  if (inside(0, view.x)) pen.line(X(0), plane.top, X(0), plane.top + plane.height, colors.muted);
  if (inside(0, view.y) && !alone()) pen.line(plane.left, Y(0), plane.left + plane.width, Y(0), colors.muted);
  const xs = table.score(state.x), ys = upward(), ink = inks(), some = state.picked.size > 0, grouped = state.ellipses ? groupsShown(shown) : [], names = [];
  if (!alone() && grouped.length > 1 && grouped.length <= 12) {
    const clip = `clip-${pen.alone ? "file" : "page"}`, holder = pen.add("clipPath", { id: clip });
    holder.append(pen.rect(plane.left, plane.top, plane.width, plane.height));
    pen.layer.pop(); // the rectangle lies in the clip alone
    grouped.filter(({ own }) => own.length > 3).forEach(({ g, own, name }) => {
      const { mx, my, points } = ellipse(xs, ys, own), hue = hueOf(g);
      pen.path(`M${points.map(([a, b]) => `${X(a).toFixed(1)} ${Y(b).toFixed(1)}`).join("L")}Z`, { fill: hue, "fill-opacity": 0.07, stroke: hue, "stroke-opacity": 0.55, "stroke-width": 1.2, "clip-path": `url(#${clip})` });
      // On a small screen the legend names them: a name would lie across other groups.
      if (!narrow() && inside(mx, view.x) && inside(my, view.y)) names.push({ x: X(mx), y: Y(my), r: 7, text: fitted(name, 240, 13, 700), size: 13, weight: 700, color: hue, center: g, rings: 3, over: true });
    });
  }
  const r = table.m > 5000 ? 2 : table.m > 1200 ? 2.6 : table.m > 300 ? 3.6 : 4.8, alpha = table.m > 5000 ? 0.45 : table.m > 1200 ? 0.6 : 0.82;
  const here = shown.filter((i) => inside(xs[i], view.x) && inside(ys[i], view.y));
  const marks = here.map((i) => ({ i, x: X(xs[i]), y: Y(ys[i]), r, alpha: some && !state.picked.has(i) ? 0.12 : alpha, ...ink(i) })), places = new Map(marks.map((mark) => [mark.i, mark]));
  pen.marks(some ? [...marks.filter(({ i }) => !state.picked.has(i)), ...marks.filter(({ i }) => state.picked.has(i))] : marks);
  const images = state.thumbs && thumbs ? thumbnails(pen, places) : [];
  far.slice(0, RINGS).forEach((i) => { const at = places.get(i); if (at) pen.path(shapePath("circle", at.x, at.y, r + 3.2), { stroke: colors.flag, "stroke-width": 1.4 }); });
  names.forEach(({ x, y, color, center }) => pen.path(shapePath(shapeOf(center, coloring().groups.length), x, y, 6.5), { fill: color, stroke: colors.paper, "stroke-width": 2 }));
  const heads = state.arrows && data.columns && !alone() && state.x < data.columns.components && state.y < data.columns.components ? arrowsOf(pen, X, Y, plane) : [];
  const rows = rowsToName(here, xs, ys, far).filter((i) => places.has(i)).map((i, at_) => {
    const at = places.get(i), strong = i === state.current || state.picked.has(i);
    return { i, x: at.x, y: at.y, r: r + (far.includes(i) ? 3 : 0), text: table.named ? fitted(table.names[i], 190) : String(table.positions[i] + 1), color: colors.ink, weight: strong ? 700 : 400, rings: here.length <= 60 ? 40 : 3, shy: here.length > 60 && at_ >= 30 };
  });
  const current = places.get(state.current);
  if (current) pen.path(shapePath("circle", current.x, current.y, r + 6), { stroke: colors.ink, "stroke-width": 2.2 });
  const placed = placeNames([...names, ...heads, ...rows], marks.length > 3000 ? [] : marks, { x: plane.left, y: plane.top, w: plane.width, h: plane.height }, images);
  writeNames(pen, placed);
  const words = plane.top + plane.height + 38;
  axisWords(pen, state.x, words, [plane.left, plane.left + plane.width], undefined, titled(state.x));
  if (narrow()) pen.text(4, plane.top - 10, fitted([titleUp(), ...(pole(state.y, 1).length && !alone() ? [`↑ ${pole(state.y, 1).join(", ")}`] : [])].join("   "), pen.width - 8, 12.5, 600), { size: 12.5, weight: 600 });
  else axisWords(pen, alone() ? -1 : state.y, 12, [plane.top, plane.top + plane.height], 12, titleUp());
  if (!pen.alone) sayMap(view, plane, placed.filter((one) => one.i !== undefined).length, shown.length, far.length);
  return { X, Y, plane, view, marks, placed };
}

let visible_ = new Set();
const RINGS = 60;

function sayMap(view, { width, height }, named, shown, far) {
  const stretch = height / (view.y[1] - view.y[0]) / (width / (view.x[1] - view.x[0])), { total, shown: held } = data.rows;
  const sample = held < total ? `${count(held)} of ${count(total)} rows, a sample drawn at random. ` : "";
  const unit = alone() ? "" : Math.abs(stretch - 1) < 0.02 ? "Both axes have one unit." : `${stretch > 1 ? data.components[state.y] : data.components[state.x]} is drawn ${Math.max(stretch, 1 / stretch).toFixed(1)} times larger than ${stretch > 1 ? data.components[state.x] : data.components[state.y]}.`;
  const ring = far ? ` Ringed: ${far > RINGS ? `the ${RINGS} of ${count(far)} rows` : counted(far, "row")} ${far > RINGS ? "furthest " : ""}beyond a limit.` : "";
  $("map-note").textContent = `${sample}${unit}${ring}`;
  $("map-plot").setAttribute("aria-label", `${counted(shown, "row")} as points on ${titled(state.x)}${alone() ? "" : ` and ${titled(state.y)}`}; ${count(named)} have their names. ${$("map-note").textContent} Arrow keys walk from row to row.`);
}

function pick(members, why) {
  set({ picked: new Set(members), why });
}

function find(query) {
  const text = query.trim().toLowerCase(), found = text ? range(table.m).filter((i) => table.names[i].toLowerCase().includes(text)) : [];
  set({ query, picked: new Set(found), why: text ? `: “${query.trim()}”` : "", ...(found.length ? { current: found[0] } : {}) });
}

function within(polygon, { x, y }) {
  let odd = false;
  polygon.forEach(([x1, y1], at) => {
    const [x2, y2] = polygon[(at + 1) % polygon.length];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) odd = !odd;
  });
  return odd;
}

function zoom(factor, at) {
  const { view } = figures["map-plot"].hit, around = ([low, high], middle) => [middle + (low - middle) * factor, middle + (high - middle) * factor];
  const [x, y] = at || [(view.x[0] + view.x[1]) / 2, (view.y[0] + view.y[1]) / 2];
  set({ view: { x: around(view.x, x), y: around(view.y, y) } });
}

// From the row that is read to the next one to the right, left, up or down of it.
function walk(dx, dy) {
  const v = dx ? table.score(state.x) : upward(), order = [...visible_].sort((a, b) => v[a] - v[b]), at = order.indexOf(state.current);
  set({ current: order[at < 0 ? 0 : clamp(at + dx + dy, 0, order.length - 1)] });
}

function mapKeys(event) {
  const acts = {
    ArrowRight: () => walk(1, 0), ArrowLeft: () => walk(-1, 0), ArrowUp: () => walk(0, 1), ArrowDown: () => walk(0, -1),
    Enter: () => { const next = new Set(state.picked); if (!next.delete(state.current) && state.current >= 0) next.add(state.current); pick(next, ""); },
    Escape: () => set({ picked: new Set(), why: "", current: -1 }), "+": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: () => set({ view: null }),
  };
  if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  acts[event.key]();
}

function mapPointer(box) {
  let trail = null, from = null;
  const tip = h("div", { class: "tip", hidden: true }), lasso = h("canvas", { class: "trail" });
  const spot = (event) => { const at = box.getBoundingClientRect(); return [event.clientX - at.left, event.clientY - at.top]; };
  const rub = () => { trail = null; lasso.remove(); };
  box.parentElement.append(tip);
  box.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    from = { at: spot(event), view: figures["map-plot"].hit.view, moved: false };
    if (event.pointerType !== "touch" || state.lasso) box.setPointerCapture(event.pointerId);
    if (state.lasso && !event.shiftKey) trail = [from.at];
  });
  box.addEventListener("pointermove", (event) => {
    const [x, y] = spot(event), { marks, plane, view } = figures["map-plot"].hit;
    if (from && Math.hypot(x - from.at[0], y - from.at[1]) > 4) from.moved = true;
    if (from && from.moved && trail) {
      trail.push([x, y]);
      lasso.width = box.clientWidth;
      lasso.height = box.clientHeight;
      const context = lasso.getContext("2d");
      context.strokeStyle = context.fillStyle = colors.accent;
      context.beginPath();
      trail.forEach(([a, b]) => context.lineTo(a, b));
      context.globalAlpha = 0.12;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
      if (!lasso.isConnected) box.append(lasso);
      return;
    }
    if (from && from.moved && (!state.lasso || event.shiftKey) && event.pointerType !== "touch") {
      const by = ([low, high], pixels, size) => [low + (pixels * (high - low)) / size, high + (pixels * (high - low)) / size];
      set({ view: { x: by(from.view.x, from.at[0] - x, plane.width), y: by(from.view.y, y - from.at[1], plane.height) } });
      return;
    }
    const i = nearest(marks, x, y), mark = i >= 0 && marks.find((one) => one.i === i);
    box.style.cursor = i >= 0 ? "pointer" : state.lasso ? "crosshair" : "grab";
    tip.hidden = i < 0;
    if (i >= 0 && view) { tip.textContent = table.names[i]; tip.style.left = `${clamp(mark.x, 60, box.clientWidth - 60)}px`; tip.style.top = `${mark.y - 12}px`; showCard(i); }
  });
  box.addEventListener("pointerup", (event) => {
    const { marks } = figures["map-plot"].hit, drawn = trail, moved = from && from.moved;
    from = null;
    rub();
    if (moved && drawn && drawn.length > 2) pick(marks.filter((mark) => within(drawn, mark)).map(({ i }) => i), "");
    else if (!moved) { const i = nearest(marks, ...spot(event)); set(i >= 0 ? { current: i } : { current: -1, picked: new Set(), why: "" }); }
  });
  box.addEventListener("pointercancel", () => { from = null; rub(); });
  box.addEventListener("pointerleave", () => { tip.hidden = true; if (!from) showCard(state.current); });
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const [x, y] = spot(event), { plane, view } = figures["map-plot"].hit;
    zoom(event.deltaY < 0 ? 0.8 : 1.25, [view.x[0] + ((x - plane.left) / plane.width) * (view.x[1] - view.x[0]), view.y[1] - ((y - plane.top) / plane.height) * (view.y[1] - view.y[0])]);
  }, { passive: false });
  box.addEventListener("dblclick", () => zoom(0.6));
}

function legend() {
  const by = coloring(), box = $("legend");
  box.hidden = !by;
  if (!by) return;
  if (!by.groups) {
    const [low, high] = extent([...by.numbers].filter(Number.isFinite)), words = (v) => (by.date ? dayOf(v) : number(v));
    box.replaceChildren(h("span", {}, by.name), h("span", {}, words(low)), h("span", { class: "ramp", style: `background:linear-gradient(90deg,${colors.low},${colors.middle},${colors.high})` }), h("span", {}, words(high)));
    return;
  }
  const sizes = by.groups.map(() => 0);
  by.codes.forEach((code) => { sizes[code] += 1; });
  const toggle = (g, event) => {
    const next = event.shiftKey ? new Set(range(by.groups.length).filter((other) => other !== g)) : new Set(state.hidden);
    if (!event.shiftKey && !next.delete(g)) next.add(g);
    set({ hidden: next });
  };
  const key = (g) => { const pen = new Pen(200, false); pen.path(shapePath(shapeOf(g, by.groups.length), 7, 7, 5), /^(missing|other)$/.test(by.groups[g]) ? { stroke: colors.muted, "stroke-width": 1.5 } : { fill: hueOf(g) }); pen.width = pen.height = 14; return pen.svg(pen.under); };
  box.replaceChildren(h("span", {}, by.name), ...by.groups.slice(0, 60).map((group, g) => h("button", {
    type: "button", "aria-pressed": String(!state.hidden.has(g)), title: "Press to hide or show; with shift, show this one alone", click: (event) => toggle(g, event),
  }, key(g), h("span", {}, group), h("span", { class: "size" }, count(sizes[g])))));
  if (by.groups.length > 1) box.append(h("button", { type: "button", class: "plain", click: () => pick([...visible_], ": the groups shown") }, "Pick the groups shown"));
}

function mapControls() {
  const axes = range(table.components).map(titled);
  fill($("map-x"), axes, state.x);
  fill($("map-y"), axes, state.y);
  fill($("map-color"), table.colors.map((one) => one.name), state.color);
  ["x", "y"].forEach((key) => { $(`map-${key}`).parentElement.hidden = alone(); $(`map-${key}`).addEventListener("change", (event) => set({ [key]: Number(event.target.value), view: null, ...(key === "x" ? { component: Number(event.target.value) } : {}) })); });
  $("map-color").addEventListener("change", (event) => set({ color: Number(event.target.value), hidden: new Set() }));
  ["names", "ellipses", "arrows", "thumbs", "lasso"].forEach((key) => { const button = $(`map-${key}`); if (button) button.addEventListener("click", () => set({ [key]: !state[key] })); });
  $("map-in").addEventListener("click", () => zoom(0.7));
  $("map-out").addEventListener("click", () => zoom(1 / 0.7));
  $("map-whole").addEventListener("click", () => set({ view: null }));
  $("find").addEventListener("input", (event) => find(event.target.value));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    $("find").focus();
  });
  on(["x", "y", "color", "names", "ellipses", "arrows", "thumbs", "lasso"], () => {
    $("map-x").value = String(state.x);
    $("map-y").value = String(state.y);
    $("map-color").value = String(state.color);
    ["names", "ellipses", "arrows", "thumbs", "lasso"].forEach((key) => { if ($(`map-${key}`)) $(`map-${key}`).setAttribute("aria-pressed", String(state[key])); });
    $("map-ellipses").hidden = !(coloring() && coloring().groups) || alone();
    $("map-arrows").hidden = !data.columns || !data.columns.telling || alone();
    $("map-plot").style.touchAction = state.lasso ? "none" : "pan-y";
  });
}

function startMap() {
  if (!table || !$("map-plot")) return;
  // The label that was asked for, else the first one, else time.
  state.color = Math.max(0, table.colors.findIndex((one) => one.name === data.rows.color), table.labels.length ? -1 : table.colors.findIndex((one) => one.date));
  state.lasso = !matchMedia("(pointer: coarse)").matches;
  state.thumbs = Boolean(thumbs);
  mapControls();
  on(["color", "hidden"], () => { visible_ = new Set(visible()); legend(); });
  figure("map-plot", ["x", "y", "color", "hidden", "picked", "current", "names", "ellipses", "arrows", "thumbs", "view", "cut"], paintMap, () => ["rows", ...rowLines(range(table.m))]);
  $("map-plot").addEventListener("keydown", mapKeys);
  mapPointer($("map-plot"));
  startSide();
}
