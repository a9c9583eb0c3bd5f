/* Rows by both of their distances, in units of their limits, and those beyond. */

function paintCheck(pen) {
  const far = distances();
  if (!far) return { marks: [] };
  const lone = !far.spe, xs = far.t2 || Float64Array.from(table.positions, (i) => i + 1), ys = lone ? Float64Array.from(table.positions, (i) => i + 1) : far.spe;
  const scale = (values, plain) => (!plain && largest(values) > 12 ? { to: (v) => Math.log10(Math.max(v, 0.01)), log: true } : { to: (v) => v, log: false }), sx = scale(xs, !far.t2), sy = scale(ys, lone);
  const span = (values, { to, log }, plain) => [log ? Math.min(to(1) - 0.5, Math.max(-2, to(extent(values)[0]))) : 0, plain ? extent(values)[1] * 1.03 : to(Math.max(1.2, largest(values))) * (log ? 1 : 1.06) + (log ? 0.15 : 0)];
  const plane = { left: 56, top: 12, width: pen.width - 70, height: narrow() ? 280 : 380, x: span(xs, sx, !far.t2), y: span(ys, sy, lone) };
  const marksOf = ({ log }, domain) => (log ? [0.01, 0.1, 1, 10, 100, 1000, 10000].map((v) => [Math.log10(v), String(v)]).filter(([v]) => v >= domain[0] && v <= domain[1]) : ticks(domain, 6));
  pen.height = plane.height + 62;
  const { X, Y } = pen.plane({ ...plane, xTicks: marksOf(sx, plane.x), yTicks: marksOf(sy, plane.y) }), limit = { "stroke-width": 1.4, "stroke-dasharray": "5 3" };
  if (far.t2) pen.line(X(sx.to(1)), plane.top, X(sx.to(1)), plane.top + plane.height, colors.flag, limit);
  if (!lone) pen.line(plane.left, Y(sy.to(1)), plane.left + plane.width, Y(sy.to(1)), colors.flag, limit);
  const out = flagged(), beyond = new Set(out), some = state.picked.size > 0, r = table.m > 2000 ? 2.2 : 4;
  const marks = range(table.m).map((i) => ({ i, x: X(sx.to(xs[i])), y: Y(sy.to(ys[i])), r: beyond.has(i) ? r + 1 : r, color: beyond.has(i) ? colors.flag : colors.accent, shape: beyond.has(i) ? "diamond" : "circle", alpha: some && !state.picked.has(i) ? 0.12 : beyond.has(i) ? 0.95 : 0.5 }));
  pen.marks([...marks.filter(({ i }) => !beyond.has(i)), ...marks.filter(({ i }) => beyond.has(i))]);
  const named = [...new Set([state.current, ...(some && state.picked.size <= 20 ? state.picked : []), ...out.slice(0, 20)])].filter((i) => i >= 0).map((i) => ({ i, ...marks[i], color: colors.ink, text: fitted(table.names[i], 170), weight: i === state.current ? 700 : 400, rings: 3 }));
  if (state.current >= 0) pen.path(shapePath("circle", marks[state.current].x, marks[state.current].y, r + 5), { stroke: colors.ink, "stroke-width": 2 });
  writeNames(pen, placeNames(named, marks.length > 3000 ? [] : marks, { x: plane.left, y: plane.top, w: plane.width, h: plane.height }));
  pen.text(plane.left + plane.width / 2, plane.top + plane.height + 40, far.t2 ? "T² over its limit: far out within the components" : "row number", { size: 13, weight: 600, anchor: "middle" });
  pen.text(14, plane.top + plane.height / 2, lone ? "row number" : "SPE over its limit: far off them", { size: 13, weight: 600, anchor: "middle", turn: -90 });
  $("check-plot").setAttribute("aria-label", `Distances of ${counted(table.m, "row")} with ${counted(state.cut, "component")} kept; ${counted(now().check.flagged, "row")} beyond a limit.`);
  return { marks };
}

function showChecked() {
  if (!distances()) return;
  const { unusual } = now().check, box = $("check-table"), far = distances(), at = new Map(range(table.m).map((i) => [table.positions[i], i]));
  const over = (times) => (times ? `${times.toFixed(1)}×` : "");
  const known = unusual.length ? unusual : flagged().slice(0, 20).map((i) => ({ row: table.positions[i], name: table.names[i], t2: far.t2 && far.t2[i], spe: far.spe && far.spe[i], blame: [] }));
  const found = now().said.find(({ kind }) => kind === "outliers"), words = h("p", { class: "result" }, found && found.text);
  const lines = known.map((row) => {
    const i = at.get(row.row), columnWords = row.blame.map(([name, value, sd]) => `${name} ${number(value)} (${signed(sd)} sd)`).join(", ");
    return [h("button", { type: "button", class: "plain", click: () => i !== undefined && set({ current: i }), "aria-pressed": String(i === state.current) }, row.name), over(row.t2), over(row.spe), columnWords];
  });
  const blamed = lines.some((line) => line[3]), titles = ["row", "T²", "SPE", ...(blamed ? ["columns to blame"] : [])];
  box.replaceChildren(words, ...(lines.length ? [gridTable(titles, lines.map((line) => line.slice(0, titles.length)), ["name", "number", "number", "soft"])] : []));
}

function startCheck() {
  if (!$("check-plot")) return;
  const lines = () => {
    const { t2, spe } = distances() || {}, out = new Set(flagged());
    return ["rows-to-check", ["row", "name", "T2 over its limit", "SPE over its limit", "beyond"], range(table.m).map((i) => [table.positions[i] + 1, table.names[i], t2 ? t2[i] : NaN, spe ? spe[i] : NaN, out.has(i) ? "yes" : "no"])];
  };
  on(["cut"], () => { $("check").hidden = !distances(); });
  figure("check-plot", ["cut", "picked", "current"], paintCheck, lines);
  on(["cut", "current"], showChecked);
  const box = $("check-plot");
  box.addEventListener("click", (event) => {
    const from = box.getBoundingClientRect(), i = nearest(figures["check-plot"].hit.marks, event.clientX - from.left, event.clientY - from.top);
    set({ current: i });
  });
}
