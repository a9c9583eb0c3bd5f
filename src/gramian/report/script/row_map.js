/* The map of rows: axes, color, lasso, search, keys. */

const view = { x: 0, y: 0, color: 0, picked: new Set(), current: -1, title: "" };

// One component has no other to be drawn against: its rows lie side by side, in the order of the table.
const alone = () => table.dims.length < 2;
const upward = () => (alone() ? table.numbers : table.score(view.y));

function rowTrace(members, marker, title) {
  const { m } = table, x = table.score(view.x), y = upward();
  const made = {
    type: m > 2000 && webgl ? "scattergl" : "scatter", mode: "markers", name: escaped(title), x: members.map((i) => x[i]), y: members.map((i) => y[i]),
    customdata: members, text: members.map((i) => table.shown[i]), hovertemplate: "%{text}<extra></extra>",
    marker: { size: m > 2000 ? 4 : m > 400 ? 6 : 8, opacity: m > 2000 ? 0.6 : 0.8, ...marker }, unselected: { marker: { opacity: 0.12 } },
  };
  if (view.picked.size) made.selectedpoints = range(members.length).filter((at) => view.picked.has(members[at]));
  return made;
}

function numberTraces(by) {
  const known = range(table.m).filter((i) => Number.isFinite(by.numbers[i])), rest = range(table.m).filter((i) => !Number.isFinite(by.numbers[i]));
  const beside = { title: { text: escaped(by.name), side: narrow() ? "top" : "right" }, thickness: 12, outlinewidth: 0 };
  const colorbar = narrow() ? { ...beside, orientation: "h", y: -0.32, thickness: 10 } : beside;
  const full = rowTrace(known, { color: known.map((i) => by.numbers[i]), colorscale: "Viridis", showscale: true, colorbar }, by.name);
  return rest.length ? [full, rowTrace(rest, { color: css("--muted"), symbol: "circle-open" }, "missing")] : [full];
}

function groupTraces(by) {
  const members = by.groups.map(() => []), palette = marks();
  by.codes.forEach((code, i) => members[code].push(i));
  return by.groups.map((group, g) => rowTrace(members[g], { color: palette[g % 6], symbol: shapes[g % 7] }, group)).filter((made) => made.x.length);
}

// A ring around the row that the keys are at.
function ring() {
  const at = view.current < 0 ? [] : [view.current];
  return {
    type: "scatter", mode: "markers", x: at.map((i) => table.score(view.x)[i]), y: at.map((i) => upward()[i]), hoverinfo: "skip", showlegend: false,
    marker: { size: 16, symbol: "circle-open", color: css("--ink"), line: { width: 2.5 } },
  };
}

function drawRows() {
  const by = coloring(view.color), named = by.numbers ? numberTraces(by) : groupTraces(by), legend = named.length > 1 && named.length <= 24;
  const width = (j) => { const [low, high] = extent(table.score(j)); return high - low; };
  const ratio = width(view.x) / (width(view.y) || 1), equal = !alone() && ratio < 6 && ratio > 1 / 6;
  return Plotly.react($("rows-plot"), [...named, ring()], layout({
    height: narrow() ? 420 : 540, dragmode: matchMedia("(pointer: coarse)").matches ? false : "lasso", showlegend: legend, uirevision: `${view.x},${view.y}`,
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", itemsizing: "constant" }, margin: { l: 56, r: 36, t: legend ? 40 : 12, b: 48 },
    xaxis: axis(titled(view.x)), yaxis: axis(alone() ? "row number" : titled(view.y), equal ? { scaleanchor: "x" } : {}),
  }), { ...settings, displayModeBar: true, scrollZoom: "cartesian", modeBarButtons: [["lasso2d", "select2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]] });
}

function pick(members, title) {
  view.picked = new Set(members);
  view.title = title;
  showPicked(view.picked, title, () => pick([], ""));
  drawRows();
}

function groupChoices() {
  const by = coloring(view.color), groups = by.groups && view.color ? by.groups : [];
  options($("rows-group"), ["none", ...groups], 0);
  $("rows-group").parentElement.hidden = !groups.length;
}

function pointAt(i) {
  if (i !== undefined) showRow(i, alone() ? [view.x] : [view.x, view.y]);
}

function stepTo(by) {
  const order = range(table.m).sort((a, b) => table.score(view.x)[a] - table.score(view.x)[b]), at = order.indexOf(view.current);
  view.current = order[at < 0 ? 0 : Math.max(0, Math.min(table.m - 1, at + by))];
  pointAt(view.current);
  drawRows();
}

function search(asked) {
  const text = asked.trim().toLowerCase();
  const found = text ? range(table.m).filter((i) => table.names[i].toLowerCase().includes(text)) : [];
  if (found.length) { [view.current] = found; pointAt(view.current); }
  pick(found, text ? `: “${asked.trim()}”` : "");
}

function rowControls() {
  const titles = table.dims.map((_, j) => titled(j));
  options($("rows-x"), titles, view.x);
  options($("rows-y"), titles, view.y);
  ["x", "y"].forEach((key) => { $(`rows-${key}`).parentElement.hidden = alone(); });
  options($("rows-color"), table.colors, view.color);
  ["x", "y", "color"].forEach((key) => $(`rows-${key}`).addEventListener("change", (event) => {
    view[key] = Number(event.target.value);
    if (key === "color") groupChoices();
    drawRows();
  }));
  $("rows-group").addEventListener("change", (event) => {
    const code = Number(event.target.value) - 1, by = coloring(view.color);
    pick(code < 0 ? [] : range(table.m).filter((i) => by.codes[i] === code), code < 0 ? "" : `: ${by.groups[code]}`);
  });
  $("rows-search").addEventListener("input", (event) => search(event.target.value));
}

function rowEvents() {
  const box = $("rows-plot");
  box.on("plotly_hover", (event) => pointAt(event.points[0].customdata));
  box.on("plotly_click", (event) => pointAt(event.points[0].customdata));
  box.on("plotly_selected", (event) => event && pick(event.points.map((point) => point.customdata).filter((i) => i !== undefined), ""));
  box.on("plotly_deselect", () => pick([], ""));
  document.body.dataset.ready = "true";
}

function rowMap() {
  const box = $("rows-plot");
  if (!box) return;
  view.y = Math.min(1, table.dims.length - 1);
  view.color = table.labels.findIndex((label) => label.name === data.rows.color) + 1;
  rowControls();
  box.tabIndex = 0;
  box.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (by) { event.preventDefault(); stepTo(by); }
  });
  groupChoices();
  showRow(-1);
  drawRows().then(rowEvents);
  redraws.push(drawRows);
  csv.rows = () => saveRows("rows.csv", range(table.m));
}
