/* The rows that a page holds: names, scores, values, labels. */

const table = data.rows && (() => {
  const rows = data.rows, m = rows.shown, positions = unpack(rows.positions), scores = unpack(rows.scores), values = unpack(rows.values);
  const labels = rows.labels.map((label) => (label.groups
    ? { ...label, codes: unpack(label.codes) } : { ...label, numbers: unpack(label.numbers) }));
  const names = range(m).map((i) => (rows.names ? rows.names[i] : `row ${positions[i] + 1}`));
  return {
    m, positions, labels, names, numbers: range(m).map((i) => positions[i] + 1), valueNames: rows.valueNames, mean: rows.mean, spread: rows.spread,
    shown: names.map(escaped), dims: data.components.slice(0, rows.components),
    colors: ["nothing", ...labels.map((label) => label.name), ...rows.valueNames],
    value: (j) => columnOf(values, m, j), score: (j) => columnOf(scores, m, j),
  };
})();

const labelOf = (label, i) => (label.groups ? label.groups[label.codes[i]] : label.numbers[i]);

// What the rows are colored by: groups with a code for each row, or numbers.
function coloring(choice) {
  const label = table.labels[choice - 1];
  if (choice === 0) return { groups: ["all rows"], codes: new Int32Array(table.m) };
  return label || { name: table.colors[choice], numbers: table.value(choice - 1 - table.labels.length) };
}

function saveRows(file, members) {
  const header = ["row", "name", ...table.labels.map((label) => label.name), ...table.dims, ...table.valueNames];
  save(file, header, members.map((i) => [
    table.positions[i] + 1, table.names[i], ...table.labels.map((label) => labelOf(label, i)),
    ...table.dims.map((_, j) => table.score(j)[i]), ...table.valueNames.map((_, j) => table.value(j)[i]),
  ]));
}
