/* The rows that a page holds: names, scores, values, labels, dates, and both distances at any cut. */

const table = data.rows && (() => {
  const rows = data.rows, m = rows.shown, positions = unpack(rows.positions), scores = unpack(rows.scores), values = unpack(rows.values);
  const labels = rows.labels.map((label) => (label.groups ? { ...label, codes: unpack(label.codes) } : { ...label, numbers: unpack(label.numbers) }));
  const dates = rows.dates.map((date) => ({ name: date.name, numbers: unpack(date.seconds), date: true }));
  const valueColumns = rows.valueNames.map((name, j) => ({ name, numbers: columnOf(values, m, j) }));
  return {
    m, positions, labels, dates, values: valueColumns, mean: rows.mean, spread: rows.spread, components: rows.components, named: Boolean(rows.names),
    names: range(m).map((i) => (rows.names ? rows.names[i] : `row ${positions[i] + 1}`)),
    score: (j) => columnOf(scores, m, j),
    colors: [{ name: "nothing" }, ...labels, ...dates, ...valueColumns],
    far: Object.fromEntries(Object.entries(rows.distances).map(([k, { t2, spe }]) => [k, { t2: t2 && unpack(t2), spe: spe && unpack(spe) }])),
  };
})();

const dayOf = (seconds) => (Number.isFinite(seconds) ? new Date(1000 * seconds).toISOString().slice(0, seconds % 86400 ? 16 : 10).replace("T", " ") : "missing");
// The value of a column, of a level whether the row has it.
const valueWords = (j, i) => { const value = table.values[j].numbers[i]; return j < data.rows.quantities ? number(value) : value > 0.5 ? "yes" : "no"; };
const labelWords = (label, i) => (label.groups ? label.groups[label.codes[i]] : label.date ? dayOf(label.numbers[i]) : number(label.numbers[i]));
const coloring = () => (table && state.color ? table.colors[state.color] : null);

// T2 and SPE over their limits, where so many components are kept; null where a limit means nothing.
const distances = () => table.far[state.cut] || null;

// Rows beyond a limit, the furthest first.
function flagged() {
  const far = distances();
  if (!far) return [];
  const size = (i) => Math.max(far.t2 ? far.t2[i] : 0, far.spe ? far.spe[i] : 0);
  return range(table.m).filter((i) => size(i) > 1).sort((a, b) => size(b) - size(a));
}

const visible = () => { const by = coloring(); return range(table.m).filter((i) => !(by && by.codes && state.hidden.has(by.codes[i]))); };

// How a row is drawn by what colors it.
function inks() {
  const by = coloring();
  if (!by) return () => ({ color: colors.accent, shape: "circle" });
  if (by.groups) {
    const made = by.groups.map((group, g) => (group === "missing" || group === "other" ? { color: colors.muted, shape: "circle", hollow: true } : { color: hueOf(g), shape: shapeOf(g, by.groups.length) }));
    return (i) => made[by.codes[i]];
  }
  const known = [...by.numbers].filter(Number.isFinite), [low, high] = extent(known), missing = { color: colors.muted, shape: "circle", hollow: true };
  const made = range(65).map((step) => ({ color: ramp(step / 64), shape: "circle" }));
  return (i) => (Number.isFinite(by.numbers[i]) ? made[Math.round((64 * (by.numbers[i] - low)) / (high - low || 1))] : missing);
}

function rowLines(members) {
  const header = ["row", "name", ...table.labels.map((label) => label.name), ...range(table.components).map((j) => data.components[j]), ...table.values.map((column) => column.name)];
  return [header, members.map((i) => [table.positions[i] + 1, table.names[i], ...table.labels.map((label) => (label.groups ? label.groups[label.codes[i]] : label.numbers[i])),
    ...range(table.components).map((j) => table.score(j)[i]), ...table.values.map((column) => column.numbers[i])])];
}

function nearest(marks, x, y, reach = 16) {
  let best = -1, least = reach * reach;
  marks.forEach((mark) => { const d = (mark.x - x) ** 2 + (mark.y - y) ** 2; if (d < least) { least = d; best = mark.i; } });
  return best;
}
