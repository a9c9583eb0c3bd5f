/* The map of columns: arrows, and names that cover neither one another nor an arrow's head. */

const crosses = (box, [a, b], [c, d]) => {
  // Whether the line from (a, b) to (c, d) passes through a box, by its points.
  for (let s = 0; s <= 20; s += 1) {
    const x = a + ((c - a) * s) / 20, y = b + ((d - b) * s) / 20;
    if (x > box.left && x < box.left + box.w && y > box.top && y < box.top + box.h) return true;
  }
  return false;
};

const overlap = (a, b) => a.left < b.left + b.w && a.left + a.w > b.left && a.top < b.top + b.h && a.top + a.h > b.top;

// Where a name may stand beside its arrow's head: right, left, above, below, and between these; best first.
function places([x, y], w, h) {
  const out = x < 0 ? [-w - 6, 6] : [6, -w - 6], up = y < 0 ? [-h - 4, 4] : [4, -h - 4];
  return [[out[0], -h / 2], [out[0], up[0]], [-w / 2, up[0]], [out[0], up[1]], [-w / 2, up[1]], [out[1], up[0]], [out[1], -h / 2], [out[1], up[1]]]
    .map(([dx, dy]) => ({ left: x + dx, top: y + dy, w, h }));
}

const pen = document.createElement("canvas").getContext("2d");

function widthOf(name) {
  pen.font = `12px ${FONT}`;
  return pen.measureText(name).width + 2;
}

// The longest arrows choose first. A name that finds no place is left to the pointer.
function placeNames(heads, names, size) {
  const taken = [], found = [], order = range(heads.length).sort((a, b) => Math.hypot(...heads[b]) - Math.hypot(...heads[a]));
  order.forEach((i) => {
    const free = places(heads[i], widthOf(names[i]), 15).filter((box) => Math.abs(box.left + box.w / 2) + box.w / 2 < size.w / 2
      && Math.abs(box.top + box.h / 2) + box.h / 2 < size.h / 2 && !taken.some((other) => overlap(box, other))
      && !heads.some((head, j) => j !== i && overlap(box, { left: head[0] - 4, top: head[1] - 4, w: 8, h: 8 })));
    const cost = free.map((box, at) => 10 * heads.filter((head) => crosses(box, [0, 0], head)).length + at);
    if (!free.length) return;
    const best = free[cost.indexOf(Math.min(...cost))];
    taken.push(best);
    found.push({ i, ...best });
  });
  return found;
}

function columnNotes(x, y, span, size) {
  const unit = Math.min(size.w, size.h) / (2 * span), most = narrow() ? 18 : 28;
  const names = data.columns.names.map((name) => (name.length > most ? `${name.slice(0, most / 2)}…${name.slice(1 - most / 2)}` : name));
  return placeNames(range(names.length).map((i) => [x[i] * unit, -y[i] * unit]), names, size).map(({ i, left, top, w, h }) => ({
    x: x[i], y: y[i], text: escaped(names[i]), showarrow: false, xanchor: "center", yanchor: "middle", font: { size: 12 },
    xshift: left + w / 2 - x[i] * unit, yshift: -(top + h / 2 + y[i] * unit),
  }));
}

function columnTraces(x, y) {
  const d = x.length;
  return [
    { type: "scatter", mode: "lines", hoverinfo: "skip", line: { color: css("--rising"), width: 1.5 }, opacity: d > 60 ? 0.35 : 0.8,
      x: range(d).flatMap((i) => [0, x[i], null]), y: range(d).flatMap((i) => [0, y[i], null]) },
    { type: "scatter", mode: "markers", x: [...x], y: [...y], text: data.columns.names.map(escaped), marker: { size: 7, color: css("--rising") },
      hovertemplate: "%{text}: %{x:.3f}, %{y:.3f}<extra></extra>" },
  ];
}

function drawColumns(x, y, titles) {
  const { correlations, names } = data.columns, box = $("columns-plot"), height = narrow() ? 380 : 560;
  const span = correlations ? 1.12 : 1.15 * Math.max(largest(x), largest(y));
  const notes = columnNotes(x, y, span, { w: box.clientWidth - 70, h: height - 64 }), left = names.length - notes.length;
  const circle = { type: "circle", x0: -1, x1: 1, y0: -1, y1: 1, line: { color: css("--muted"), width: 1 } };
  $("columns-note").textContent = left ? `${left} ${left === 1 ? "name has" : "names have"} no room here: point at the end of an arrow to read it.` : "";
  return Plotly.react(box, columnTraces(x, y), layout({
    height, annotations: notes, shapes: correlations ? [circle] : [],
    xaxis: axis(titles[0], { range: [-span, span] }), yaxis: axis(titles[1], { range: [-span, span], scaleanchor: "x" }),
  }), settings);
}

function columnMap() {
  const { names, components } = data.columns, places_ = unpack(data.columns.positions), state = { x: 0, y: Math.min(1, components - 1) };
  const dims = data.components.slice(0, components), place = (j) => columnOf(places_, names.length, j);
  const draw = () => drawColumns(place(state.x), place(state.y), [titled(state.x), titled(state.y)]);
  ["x", "y"].forEach((key) => {
    options($(`columns-${key}`), dims, state[key]);
    $(`columns-${key}`).addEventListener("change", (event) => { state[key] = Number(event.target.value); draw(); });
  });
  draw();
  redraws.push(draw);
  csv.columns = () => save("columns.csv", ["column", ...dims], names.map((title, i) => [title, ...dims.map((_, j) => place(j)[i])]));
}
