/* Labels against components, the groups of one of them along a component, and scores over time. */

const stripLabel = () => { const by = coloring(); return by && by.groups ? by : table.labels.find((label) => label.groups); };

function showGroups() {
  const shown = range(Math.min(data.components.length, data.groups[0].effects.length, Math.max(8, state.cut))), box = $("groups-table");
  const most = Math.max(0.01, ...data.groups.flatMap((label) => label.effects));
  const lines = data.groups.map((label) => [label.name, ...shown.map((j) => {
    const sure = label.p[j] <= label.level, effect = label.effects[j] ?? 0, at = table.colors.findIndex((one) => one.name === label.name);
    const words = label.number && label.correlations ? signed(label.correlations[j], 2) : percent(effect);
    return h("button", {
      type: "button", class: `cell${sure ? " sure" : ""}${sure && effect > 0.4 * most ? " deep" : ""}`, style: `--t:${(effect / most).toFixed(3)}`, "aria-pressed": String(state.color === at && state.component === j),
      title: `${label.name} and ${data.components[j]}: ${percent(effect)}, p = ${label.p[j]}${sure ? "" : ", no more than chance"}`,
      click: () => set({ component: j, ...(at > 0 ? { color: at, hidden: new Set() } : {}) }),
    }, words);
  })]);
  box.replaceChildren(gridTable(["", ...shown.map((j) => data.components[j])], lines, ["name", ...shown.map((j) => (j < state.cut ? "number kept" : "number"))]));
}

function paintGroups(pen) {
  const by = stripLabel(), j = Math.min(state.component, table.components - 1), s = table.score(j);
  if (!by) { pen.height = 40; pen.text(0, 20, "No label of these rows has groups.", { color: colors.soft }); return; }
  const members = by.groups.map(() => []);
  by.codes.forEach((code, i) => members[code].push(i));
  const order = range(by.groups.length).filter((g) => members[g].length && !state.hidden.has(g)).sort((a, b) => members[b].length - members[a].length).slice(0, 24);
  const medianOf = (g) => quantile(members[g].map((i) => s[i]).sort((a, b) => a - b), 0.5);
  order.sort((a, b) => medianOf(b) - medianOf(a));
  const tall = clamp(300 / order.length, 30, 72), left = narrow() ? 104 : 150, plane = { left, top: 8, width: pen.width - left - 14, height: tall * order.length, x: extent(s), y: [0, 1] };
  pen.height = plane.height + 58;
  const { X } = pen.plane({ ...plane, xTicks: ticks(plane.x, 6) }), ink = inks(), own = by === coloring(), dots = [];
  order.forEach((g, at) => members[g].slice(0, 1500).forEach((i, n) => dots.push({ i, x: X(s[i]), y: plane.top + tall * (at + 0.5) + ((n * 0.618) % 1 - 0.5) * tall * 0.5, r: table.m > 1000 ? 1.8 : 3, alpha: state.picked.size && !state.picked.has(i) ? 0.12 : 0.5, ...(own ? ink(i) : { color: hueOf(g), shape: "circle" }) })));
  pen.marks(dots);
  order.forEach((g, at) => {
    const sorted = members[g].map((i) => s[i]).sort((a, b) => a - b), y = plane.top + tall * (at + 0.5), q = [0.25, 0.5, 0.75].map((p) => X(quantile(sorted, p)));
    pen.rect(q[0], y - 4, q[2] - q[0], 8, { fill: colors.ink, opacity: 0.75, rx: 2 });
    pen.rect(q[1] - 2, y - 9, 4, 18, { fill: colors.paper, stroke: colors.ink, "stroke-width": 1.5 });
    pen.text(left - 10, y + 4, fitted(by.groups[g], left - 16), { anchor: "end" });
  });
  pen.text(plane.left + plane.width / 2, plane.height + 48, `${titled(j)}, by ${by.name}`, { size: 13, weight: 600, anchor: "middle" });
  $("groups-plot").setAttribute("aria-label", `Rows along ${titled(j)} by ${by.name}: ${counted(order.length, "group")}.`);
}

function paintTime(pen) {
  const days = table.dates[0], shown = range(Math.min(Math.max(1, state.cut), 4, table.components)), order = range(table.m).filter((i) => Number.isFinite(days.numbers[i])).sort((a, b) => days.numbers[a] - days.numbers[b]);
  const tall = narrow() ? 90 : 110, left = 52, width = pen.width - left - 14, x = extent(days.numbers, order);
  pen.height = shown.length * (tall + 14) + 44;
  const ends = range(narrow() ? 3 : 6).map((s) => x[0] + ((x[1] - x[0]) * s) / (narrow() ? 2 : 5));
  shown.forEach((j, at) => {
    const s = table.score(j), most = largest(order.map((i) => s[i])) * 1.08, last = at === shown.length - 1, plane = { left, top: 8 + at * (tall + 14), width, height: tall, x, y: [-most, most] };
    const { X, Y } = pen.plane({ ...plane, xTicks: last ? ends.map((v) => [v, dayOf(Math.round(v / 86400) * 86400)]) : [], yTicks: ticks(plane.y, 3) });
    pen.line(left, Y(0), left + width, Y(0), colors.muted);
    pen.path(`M${order.map((i) => `${X(days.numbers[i]).toFixed(1)} ${Y(s[i]).toFixed(1)}`).join("L")}`, { stroke: hueOf(j), "stroke-width": 1.3, "stroke-linejoin": "round" });
    [...state.picked, state.current].filter((i) => i >= 0).slice(0, 400).forEach((i) => pen.path(shapePath("circle", X(days.numbers[i]), Y(s[i]), 3.5), { fill: colors.flag }));
    pen.text(left + 6, plane.top + 14, titled(j), { weight: 700, color: hueOf(j), halo: true });
  });
  pen.text(left + width / 2, pen.height - 4, days.name, { size: 13, weight: 600, anchor: "middle" });
}

function startGroups() {
  if ($("groups-table")) {
    const lines = () => ["groups", ["label", "component", "part between groups", "p"], data.groups.flatMap((label) => label.effects.map((effect, j) => [label.name, data.components[j] ?? `${j + 1}`, effect, label.p[j]]))];
    figures["groups-table"] = { lines };
    on(["cut", "color", "component"], showGroups);
    figure("groups-plot", ["color", "component", "hidden", "picked"], paintGroups, lines);
  }
  if ($("time-plot")) figure("time-plot", ["cut", "picked", "current"], paintTime, () => ["scores-over-time", [table.dates[0].name, ...range(table.components).map((j) => data.components[j])], range(table.m).map((i) => [dayOf(table.dates[0].numbers[i]), ...range(table.components).map((j) => table.score(j)[i])])]);
}
