/* Beside the map: the row that is read, and the rows that are picked. */

function gridTable(titles, lines, kinds = []) {
  const made = h("table", {}, h("thead", {}, h("tr", {}, ...titles.map((title, j) => h("th", { class: kinds[j] }, title)))));
  made.append(h("tbody", {}, ...lines.map((line) => h("tr", {}, ...line.map((value, j) => h("td", { class: kinds[j] }, value))))));
  return h("div", { class: "scroll" }, made);
}

function farWords(i) {
  const far = distances(), words = [];
  if (!far) return "";
  if (far.t2 && far.t2[i] > 1) words.push(`${far.t2[i].toFixed(1)} times the limit within the components`);
  if (far.spe && far.spe[i] > 1) words.push(`${far.spe[i].toFixed(1)} times the limit off them`);
  return words.length ? `To check: ${words.join(", ")}.` : "";
}

// The row at hand; where none is, the one furthest out.
function showCard(asked) {
  const i = asked >= 0 ? asked : flagged()[0] ?? range(table.m).reduce((best, at) => { const s = table.score(state.x); return Math.abs(s[at]) > Math.abs(s[best]) ? at : best; }, 0);
  if (i === undefined || !table.m) return;
  const axes = alone() ? [state.x] : [state.x, state.y], away = table.values.map(({ numbers }, j) => (numbers[i] - table.mean[j]) / (table.spread[j] || 1));
  const most = range(away.length).filter((j) => Number.isFinite(away[j])).sort((a, b) => Math.abs(away[b]) - Math.abs(away[a])).slice(0, 6), span = Math.max(3, largest(most.map((j) => away[j])));
  const facts = [...table.labels, ...table.dates].slice(0, 6).map((label) => h("li", {}, h("span", {}, label.name), labelWords(label, i)));
  const parts = [h("p", { class: "kicker" }, asked >= 0 ? "Row" : "Furthest out"), h("h3", {}, table.names[i]), h("p", { class: "scores" }, axes.map((j) => `${data.components[j]} ${signed(table.score(j)[i], 2)}`).join("   "))];
  if (farWords(i)) parts.push(h("p", { class: "flag" }, farWords(i)));
  if (thumbs) parts.push(h("img", { class: "thumb", alt: `From ${Math.min(table.components, data.images.count)} numbers`, src: rebuiltImage(range(table.components).map((j) => table.score(j)[i]), Math.min(table.components, data.images.count)) }));
  if (facts.length) parts.push(h("ul", { class: "facts" }, ...facts));
  if (most.length && !data.imageShape) parts.push(gridTable(["column", "value", "", "sd"], most.map((j) => [table.values[j].name, valueWords(j, i), bar(away[j], span, { width: 72 }), signed(away[j])]), ["name", "number", "bars", "number"]));
  $("card").replaceChildren(...parts);
}

// How far the mean of the picked rows lies from that of the others, in deviations.
function differences(inside) {
  const picked = new Set(inside), outside = range(table.m).filter((i) => !picked.has(i)), mean = (v, at) => at.reduce((sum, i) => sum + v[i], 0) / (at.length || 1);
  const deviation = (v) => { const all = range(table.m), middle = mean(v, all); return Math.sqrt(mean(Float64Array.from(v, (x) => (x - middle) ** 2), all)); };
  const columns = table.values.length ? table.values.map(({ name, numbers }, j) => [name, numbers, table.spread[j]]) : range(table.components).map((j) => [data.components[j], table.score(j), deviation(table.score(j))]);
  return columns.map(([name, v, sd]) => { const here = mean(v, inside), there = mean(v, outside); return { name, here, there, apart: (here - there) / (sd || 1) }; })
    .sort((a, b) => Math.abs(b.apart) - Math.abs(a.apart));
}

function showPicked() {
  const inside = [...state.picked].sort((a, b) => a - b), panel = $("picked");
  if (!inside.length) { panel.replaceChildren(); return; }
  const parts = [h("h3", {}, `${counted(inside.length, "row")} picked${state.why}`), h("div", { class: "buttons" },
    h("button", { type: "button", id: "picked-csv", click: () => saveLines("rows-picked", ...rowLines(inside)) }, "CSV"),
    h("button", { type: "button", id: "picked-clear", click: () => pick([], "") }, "Clear"))];
  if (inside.length < table.m) {
    const found = differences(inside).slice(0, 8), most = largest(found.map(({ apart }) => apart));
    parts.push(h("h4", {}, "What makes them different"), gridTable(["column", "here", "others", "sd apart", ""], found.map((one) => [one.name, number(one.here), number(one.there), bar(one.apart, most, { width: 64 }), signed(one.apart, 2)]), ["name", "number", "number", "bars", "number"]));
  }
  parts.push(h("p", { class: "names" }, inside.slice(0, 200).map((i) => table.names[i]).join(", ") + (inside.length > 200 ? ` and ${count(inside.length - 200)} more, all in the CSV` : "")));
  panel.replaceChildren(...parts);
}

function startSide() {
  on(["current", "x", "y", "cut"], () => showCard(state.current));
  on(["picked", "why"], showPicked);
}
