/* Beside the map: the row that is pointed at, and the rows that are picked. */

function rowFacts(i, dims) {
  const away = table.valueNames.map((_, j) => (table.value(j)[i] - table.mean[j]) / (table.spread[j] || 1));
  const most = range(away.length).sort((a, b) => Math.abs(away[b]) - Math.abs(away[a])).slice(0, 6);
  const number_ = (value) => (typeof value === "number" ? number(value) : value);
  return [
    ...table.labels.map((label) => `${label.name}: ${number_(labelOf(label, i))}`),
    ...(data.imageShape ? [] : most.map((j) => `${table.valueNames[j]}: ${number(table.value(j)[i])} (${signed(away[j])} sd)`)),
    ...dims.map((j) => `${table.dims[j]}: ${number(table.score(j)[i])}`),
  ];
}

function showRow(i, dims) {
  if (i < 0) {
    $("row-card").replaceChildren(element("p", "Point at a mark to see its row, or focus the map and use the arrow keys.", "note"));
    return;
  }
  const list = element("ul"), parts = [element("h3", table.names[i])];
  rowFacts(i, dims).forEach((fact) => list.append(element("li", fact)));
  if (data.images) parts.push(rebuiltFigure(i));
  $("row-card").replaceChildren(...parts, list);
}

// What makes the picked rows different: the distance of their mean from that of the others, in deviations.
function differences(picked) {
  const inside = [...picked], outside = range(table.m).filter((i) => !picked.has(i));
  const mean = (v, at) => at.reduce((sum, i) => sum + v[i], 0) / (at.length || 1);
  const kept = table.valueNames.length && !data.imageShape ? table.valueNames.map((title, j) => [title, table.value(j), table.spread[j]])
    : table.dims.map((title, j) => [title, table.score(j), Math.sqrt(mean(table.score(j).map((v) => v * v), range(table.m)))]);
  return kept.map(([title, v, sd]) => {
    const here = mean(v, inside), there = mean(v, outside);
    return { title, here, there, apart: (here - there) / (sd || 1) };
  }).sort((a, b) => Math.abs(b.apart) - Math.abs(a.apart));
}

// Lines of a name, numbers, and a last number with a bar under it.
function barTable(titles, lines) {
  const made = element("table"), head = element("tr"), most = largest(lines.map((line) => line[line.length - 1]));
  titles.forEach((title, j) => head.append(element("th", title, j ? "number" : "")));
  made.append(head);
  lines.forEach(([name, ...numbers]) => {
    const row = element("tr"), apart = numbers.pop(), last = element("td", signed(apart, 2), `number apart ${apart < 0 ? "falling" : "rising"}`);
    last.style.setProperty("--w", `${(100 * Math.abs(apart)) / most}%`);
    row.append(element("td", name), ...numbers.map((value) => element("td", number(value), "number")), last);
    made.append(row);
  });
  const scroll = element("div", undefined, "scroll");
  scroll.append(made);
  return scroll;
}

function pickedButtons(inside, clear) {
  const buttons = element("div", undefined, "buttons"), file = element("button", "These rows as CSV"), none = element("button", "Clear");
  file.type = none.type = "button";
  file.id = "selection-csv";
  file.addEventListener("click", () => saveRows("rows-picked.csv", inside));
  none.addEventListener("click", clear);
  buttons.append(file, none);
  return buttons;
}

function showPicked(picked, title, clear) {
  const panel = $("selection"), inside = [...picked].sort((a, b) => a - b), count = inside.length.toLocaleString("en");
  if (!inside.length) { panel.replaceChildren(); return; }
  const parts = [element("h3", `${count} ${inside.length === 1 ? "row" : "rows"} picked${title}`), pickedButtons(inside, clear)];
  if (inside.length < table.m) {
    const found = differences(picked).slice(0, 8).map((row) => [row.title, row.here, row.there, row.apart]);
    parts.push(element("h4", "What makes these different"), barTable(["column", "here", "others", "sd apart"], found));
  }
  const list = element("ol", undefined, "names");
  inside.slice(0, 200).forEach((i) => list.append(element("li", table.names[i])));
  panel.replaceChildren(...parts, list);
  if (inside.length > 200) panel.append(element("p", `and ${(inside.length - 200).toLocaleString("en")} more, all in the CSV`, "note"));
}
