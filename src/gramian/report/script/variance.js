/* What each component holds, and the one cut. */

function paintVariance(pen) {
  const { shares, noise, intervals } = data.scree, total = shares.length, movable = data.kind !== "ica";
  const most = Math.min(1, 1.12 * Math.max(...shares.slice(0, 3), ...noise.slice(0, 1), ...intervals.slice(0, 3).map(([, high]) => high)));
  const plane = { left: 48, top: 30, width: pen.width - 60, height: narrow() ? 220 : 280, x: [0.4, total + 0.6], y: [0, most] }, step = plane.width / (total + 0.2), wide = Math.min(64, step * 0.68);
  pen.height = plane.top + plane.height + 46;
  const few = total * 26 < plane.width, { X, Y } = pen.plane({ ...plane, yTicks: ticks(plane.y, 5, (v) => `${Math.round(100 * v * 10) / 10}%`) });
  (few ? range(total).map((i) => i + 1) : ticks([1, total], 12).map(([v]) => v)).forEach((v) => pen.text(X(v), plane.top + plane.height + 16, String(v), { anchor: "middle", color: v <= state.cut ? colors.ink : colors.soft, weight: v <= state.cut ? 600 : 400 }));
  shares.forEach((share, i) => pen.rect(X(i + 1) - wide / 2, Y(share), wide, Y(0) - Y(share), { fill: i < state.cut || !movable ? colors.accent : colors.muted, class: "bar" }));
  if (wide > 12) intervals.slice(0, total).forEach(([low, high], i) => {
    if (high === null) return;
    const x = X(i + 1), ends = [low, high].filter((end) => end <= most);
    pen.line(x, Y(Math.min(low, most)), x, Y(Math.min(high, most)), colors.ink, { "stroke-width": 1.3 });
    ends.forEach((end) => pen.line(x - 4, Y(end), x + 4, Y(end), colors.ink, { "stroke-width": 1.3 }));
  });
  if (wide > 30) shares.forEach((share, i) => pen.text(X(i + 1), Y(Math.min(most, Math.max(share, (intervals[i] || [0, 0])[1]))) - 6, percent(share), { anchor: "middle", color: colors.soft, halo: true }));
  if (noise.length) {
    pen.path(`M${noise.slice(0, total).map((v, i) => `${X(i + 0.5)} ${Y(v)}L${X(i + 1.5)} ${Y(v)}`).join("L")}`, { stroke: colors.flag, "stroke-width": 1.6, "stroke-dasharray": "5 3" });
    pen.text(plane.left + plane.width, plane.top + plane.height + 38, narrow() ? "- - noise alone" : "- - what noise alone reaches, 95 times of 100", { color: colors.flag, anchor: "end" });
  }
  pen.line(plane.left, Y(0), plane.left + plane.width, Y(0), colors.muted);
  pen.text(plane.left + plane.width / 2, plane.top + plane.height + 38, data.kind === "ica" ? "source" : "component", { size: 13, weight: 600, anchor: "middle" });
  if (movable) {
    const x = X(state.cut + 0.5), text = `keep ${state.cut}`, w = widthOf(text, 12, 700) + 22, left = clamp(x - w / 2, 2, pen.width - w - 2);
    pen.line(x, plane.top - 4, x, plane.top + plane.height, colors.ink, { "stroke-width": 2, class: "cut-line" });
    pen.rect(left, plane.top - 26, w, 22, { rx: 11, fill: colors.ink });
    pen.text(left + w / 2, plane.top - 11, text, { anchor: "middle", color: colors.paper, weight: 700 });
    sayCut();
  }
  return { X, plane, at: (x) => 0.4 + ((x - plane.left) / plane.width) * (total + 0.2) - 0.5 };
}

function sayCut() {
  const next = data.scree.shares[state.cut], agree = data.scree.rules.filter((rule) => rule.k === state.cut).map((rule) => rule.rule), box = $("variance-plot");
  const holds = `${counted(state.cut, "component")} ${state.cut === 1 ? "holds" : "hold"} ${now().holds} of the variance`;
  $("cut-words").textContent = `${holds}${next === undefined ? "." : `; the next would add ${percent(next)}.`}${agree.length ? ` So ${agree.length === 1 ? "says the rule" : "say the rules"} ${listed(agree)}.` : ""}`;
  $("cut-code").textContent = now().code;
  Object.entries({ role: "slider", "aria-valuemin": cuts[0], "aria-valuemax": cuts[cuts.length - 1], "aria-valuenow": state.cut, "aria-valuetext": holds, "aria-label": "Components kept" }).forEach(([name, value]) => box.setAttribute(name, String(value)));
}

function startVariance() {
  const sums = [];
  data.scree.shares.reduce((sum, share, i) => (sums[i] = sum + share), 0);
  const { shares, variances, noise, intervals } = data.scree;
  figure("variance-plot", ["cut"], paintVariance, () => ["variance", ["component", "variance", "share", "low", "high", "share of all up to it", "noise alone reaches"], shares.map((share, i) => [data.components[i], variances[i], share, ...(intervals[i] || [NaN, NaN]).map((end) => end ?? NaN), sums[i], noise[i] ?? NaN])]);
  if (data.kind === "ica") return;
  const box = $("variance-plot");
  let held = false;
  const move = (event) => { const k = nearestCut(Math.round(figures["variance-plot"].hit.at(event.clientX - box.getBoundingClientRect().left))); if (k !== state.cut) set({ cut: k }); };
  box.style.touchAction = "pan-y";
  box.style.cursor = "ew-resize";
  box.addEventListener("pointerdown", (event) => { held = true; box.setPointerCapture(event.pointerId); move(event); });
  box.addEventListener("pointermove", (event) => { if (held) move(event); });
  ["pointerup", "pointercancel"].forEach((name) => box.addEventListener(name, () => { held = false; }));
  box.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (by) { event.preventDefault(); stepCut(by); }
  });
}
