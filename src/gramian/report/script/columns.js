/* The columns: a circle of arrows, or curves where they have an order; and the table of one component. */

const columns = data.columns && (() => {
  const view = data.columns, d = view.names.length, at = unpack(view.positions), parts = unpack(view.contributions), cos2 = view.cos2 && unpack(view.cos2);
  const [low, high] = view.intervals ? view.intervals.map(unpack) : [];
  return {
    d, names: view.names, components: view.components, ordered: view.ordered, isCos: Boolean(cos2),
    position: (j) => columnOf(at, d, j), contribution: (j) => columnOf(parts, d, j), cos2: (j) => (cos2 ? columnOf(cos2, d, j) : null),
    interval: (j, c) => (low && j < view.sure ? [low[j * d + c], high[j * d + c]] : null),
  };
})();

const onColumns = (j) => Math.min(j, columns.components - 1);

function paintCircle(pen) {
  const i = onColumns(state.x), j = onColumns(state.y), px = columns.position(i), py = columns.components > 1 ? columns.position(j) : px.map(() => 0), supplied = data.columns.supplementary;
  const within = columns.isCos && px.every((x, c) => Math.hypot(x, py[c]) <= 1.02), most = within ? 1.1 : 1.2 * Math.max(largest(px), largest(py));
  const size = Math.min(pen.width - 40, narrow() ? 340 : 520), left = (pen.width - size) / 2 + 12, plane = { left, top: 8, width: size, height: size, x: [-most, most], y: [-most, most] };
  pen.height = size + 60;
  const { X, Y } = pen.plane({ ...plane, xTicks: ticks(plane.x, 5), yTicks: ticks(plane.y, 5), grid: false });
  pen.line(X(-most), Y(0), X(most), Y(0), colors.line);
  pen.line(X(0), Y(-most), X(0), Y(most), colors.line);
  if (within) [1, 0.5].forEach((r) => pen.add("circle", { cx: X(0), cy: Y(0), r: X(r) - X(0), fill: "none", stroke: r === 1 ? colors.muted : colors.grid }));
  const order = range(columns.d).sort((a, b) => Math.hypot(px[b], py[b]) - Math.hypot(px[a], py[a])), shownArrows = order.slice(0, columns.d > 60 ? 24 : 60), ca = columns.cos2(i), cb = columns.cos2(j);
  const strength = (c) => (ca ? Math.min(1, ca[c] + (i === j ? 0 : cb[c])) : 1), ink = (c) => mix(hexOf(colors.muted), hexOf(colors.accent), strength(c));
  const heads = [];
  shownArrows.forEach((c) => {
    pen.line(X(0), Y(0), X(px[c]), Y(py[c]), ink(c), { "stroke-width": 1.6, opacity: columns.d > 30 ? 0.6 : 1 });
    heads.push({ x: X(px[c]), y: Y(py[c]), r: 6, out: Math.atan2(-py[c], px[c]), text: fitted(columns.names[c], 150), color: colors.ink, weight: strength(c) > 0.6 ? 600 : 400, rings: columns.d > 25 ? 2 : 4 });
  });
  order.forEach((c) => pen.add("circle", { cx: X(px[c]), cy: Y(py[c]), r: 4, fill: ink(c) }, undefined, `${columns.names[c]}: ${px[c].toFixed(3)}, ${py[c].toFixed(3)}${ca ? `; cos² ${percent(strength(c))}` : ""}`));
  if (supplied && Math.max(i, j) < supplied.components) {
    const at = unpack(supplied.positions), n = supplied.names.length;
    supplied.names.forEach((name, c) => {
      const x = at[i * n + c], y = at[j * n + c];
      pen.line(X(0), Y(0), X(x), Y(y), colors.flag, { "stroke-width": 1.4, "stroke-dasharray": "4 3" });
      heads.push({ x: X(x), y: Y(y), r: 6, out: Math.atan2(-y, x), text: fitted(name, 150), color: colors.flag });
    });
  }
  writeNames(pen, placeNames(heads.slice(0, 60), heads, { x: 0, y: 0, w: pen.width, h: size + 12 }));
  pen.text(left + size / 2, size + 46, titled(i), { size: 13, weight: 600, anchor: "middle" });
  pen.text(left - 34, 8 + size / 2, titled(j), { size: 13, weight: 600, anchor: "middle", turn: -90 });
  $("circle-plot").setAttribute("aria-label", `Columns as arrows on ${titled(i)} and ${titled(j)}. Longest: ${listed(order.slice(0, 4).map((c) => columns.names[c]))}.`);
}

const hexOf = (color) => (color.startsWith("#") ? color : "#888888");

function paintCurve(pen) {
  const lines = [...new Set([...range(Math.min(state.cut, 5, columns.components)), onColumns(state.component)])], { at, name } = columns.ordered;
  const values = lines.map((j) => columns.position(j)), most = 1.08 * Math.max(...values.map(largest)), [low, high] = extent(at), plane = { left: 52, top: 10, width: pen.width - 118, height: narrow() ? 260 : 340, x: [low, high], y: [-most, most] };
  pen.height = plane.height + 58;
  const { X, Y } = pen.plane({ ...plane, xTicks: ticks(plane.x, narrow() ? 4 : 9), yTicks: ticks(plane.y, 6) });
  pen.line(plane.left, Y(0), plane.left + plane.width, Y(0), colors.muted);
  const ends = lines.map((j, s) => ({ j, y: Y(values[s][values[s].length - 1]), hue: hueOf(j) })).sort((a, b) => a.y - b.y);
  lines.forEach((j, s) => pen.path(`M${[...values[s]].map((v, c) => `${X(at[c]).toFixed(1)} ${Y(v).toFixed(1)}`).join("L")}`, { stroke: hueOf(j), "stroke-width": j === state.component ? 2.6 : 1.6 }));
  ends.forEach((end, s) => { end.y = s ? Math.max(end.y, ends[s - 1].y + 15) : end.y; pen.text(plane.left + plane.width + 6, end.y + 4, data.components[end.j], { color: end.hue, weight: 700 }); });
  pen.text(plane.left + plane.width / 2, plane.height + 46, name, { size: 13, weight: 600, anchor: "middle" });
  $("curve-plot").setAttribute("aria-label", `${listed(lines.map((j) => data.components[j]))} as curves over ${name}, from ${low} to ${high}.`);
}

let allColumns = false;

function showComponent() {
  const j = onColumns(state.component), at = columns.position(j), parts = columns.contribution(j), cos2 = columns.cos2(j), box = $("parts-table");
  const order = range(columns.d).sort((a, b) => Math.abs(at[b]) - Math.abs(at[a])), shown = allColumns ? order : order.slice(0, 12), most = columns.isCos ? Math.max(1, largest(at)) : largest(at), wide = narrow() ? 48 : 170;
  const lines = shown.map((c) => [columns.names[c], bar(at[c], most, { width: wide, whisker: columns.interval(j, c) }), signed(at[c], 2), percent(parts[c]), ...(cos2 ? [percent(cos2[c])] : [])]);
  const titles = ["column", "", data.columns.unit, "contribution", ...(cos2 ? ["cos²"] : [])];
  box.replaceChildren(gridTable(titles, lines, ["name", "bars", "number", "number", "number"]));
  if (columns.d > 12) box.append(h("button", { type: "button", class: "plain", click: () => { allColumns = !allColumns; showComponent(); } }, allColumns ? "Show the first 12" : `Show all ${count(columns.d)}`));
  box.setAttribute("aria-label", `Columns of ${titled(j)}`);
}

// A choice of a component with the ones before and after it.
function pager(id, total) {
  if (!$(id)) return;
  const go = (j) => set({ component: clamp(j, 0, total - 1) });
  fill($(id), range(total).map(titled), state.component);
  $(id).addEventListener("change", (event) => go(Number(event.target.value)));
  $(`${id}-back`).addEventListener("click", () => go(state.component - 1));
  $(`${id}-next`).addEventListener("click", () => go(state.component + 1));
  on(["component"], () => { $(id).value = String(Math.min(state.component, total - 1)); });
}

function weightLines() {
  const lines = range(columns.components).flatMap((j) => range(columns.d).map((c) => {
    const between = columns.interval(j, c) || [NaN, NaN];
    return [data.components[j], columns.names[c], columns.position(j)[c], ...between, columns.contribution(j)[c], columns.cos2(j) ? columns.cos2(j)[c] : NaN];
  }));
  return ["components", ["component", "column", data.columns.unit, "low", "high", "contribution", "cos2"], lines];
}

function startColumns() {
  if (!columns) return;
  figure("circle-plot", ["x", "y"], paintCircle, weightLines);
  figure("curve-plot", ["cut", "component"], paintCurve, weightLines);
  if (!$("parts-table")) return;
  pager("component", columns.components);
  figures["parts-table"] = { lines: weightLines };
  on(["component"], showComponent);
}
