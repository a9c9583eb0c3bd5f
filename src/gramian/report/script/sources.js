/* Sources over time with their spectra, each to be kept or dropped. */

const dropped = new Set();
const TRACE = 74;

function sourceFacts(i) {
  const t = data.traces;
  return [percent(t.shares[i]), t.kurtosis ? `kurtosis ${signed(t.kurtosis[i])}` : "", t.stability ? `stability ${t.stability[i].toFixed(2)}` : "", t.gaussian.includes(i) ? "too Gaussian to be told apart" : ""].filter(Boolean).join(" · ");
}

function paintTraces(pen, t, low, high, spectra) {
  const left = narrow() ? 8 : 190, wide = (pen.width - left - 8) * (narrow() ? 0.68 : 0.74), apart = left + wide + 24, rest = pen.width - apart - 8;
  const known = range(t.frequencies.length).filter((f) => t.frequencies[f] > 0), logs = (f) => Math.log10(t.frequencies[f]), span = [logs(known[0]), logs(known[known.length - 1])];
  pen.height = t.names.length * TRACE + 44;
  t.names.forEach((name, i) => {
    const top = i * TRACE + (narrow() ? 22 : 4), tall = TRACE - (narrow() ? 28 : 12), [a] = extent(low[i]), [, b] = extent(high[i]), ink = dropped.has(i) ? colors.muted : colors.accent, X = (at) => left + (at / (t.time.length - 1)) * wide, Y = (v) => top + tall - ((v - a) / (b - a || 1)) * tall;
    pen.line(0, i * TRACE, pen.width, i * TRACE, colors.grid);
    pen.path(`M${t.time.map((_, at) => `${X(at).toFixed(1)} ${Y(low[i][at]).toFixed(1)}L${X(at).toFixed(1)} ${Y(high[i][at]).toFixed(1)}`).join("L")}`, { stroke: ink, "stroke-width": 0.9 });
    const most = largest(known.map((f) => spectra[i][f])), at = (f) => `${(apart + ((logs(f) - span[0]) / (span[1] - span[0] || 1)) * rest).toFixed(1)} ${(top + tall - (spectra[i][f] / most) * tall).toFixed(1)}`;
    pen.path(`M${apart} ${top + tall}L${known.map(at).join("L")}L${apart + rest} ${top + tall}Z`, { fill: ink, "fill-opacity": 0.3, stroke: ink });
    if (pen.alone) pen.text(4, top + 14, name, { weight: 700, halo: true });
  });
  const foot = t.names.length * TRACE + 16;
  ticks([t.time[0], t.time[t.time.length - 1]], narrow() ? 4 : 8).forEach(([v, text]) => pen.text(left + ((v - t.time[0]) / (t.time[t.time.length - 1] - t.time[0])) * wide, foot, text, { anchor: "middle", color: colors.soft }));
  range(6).map((s) => s - 4).filter((v) => v >= span[0] && v <= span[1]).forEach((v) => pen.text(apart + ((v - span[0]) / (span[1] - span[0])) * rest, foot, String(10 ** v), { anchor: "middle", color: colors.soft }));
  pen.text(left + wide / 2, foot + 20, t.unit, { size: 13, weight: 600, anchor: "middle" });
  pen.text(apart + rest / 2, foot + 20, t.unit === "seconds" ? "hertz" : "cycles per row", { size: 13, weight: 600, anchor: "middle" });
}

function sayDropped() {
  const t = data.traces, out = [...dropped].sort((a, b) => a - b), total = t.names.length;
  $("drop-words").textContent = out.length ? `${total - out.length} of ${total} sources kept; ${listed(out.map((i) => t.names[i]))} taken out.` : `All ${total} sources kept.`;
  $("drop-code").textContent = `cleaned = model.remove(X, [${out.join(", ")}])`;
}

function startSources() {
  const t = data.traces;
  if (!t) return;
  const low = t.low.map(unpack), high = t.high.map(unpack), spectra = t.spectra.map(unpack), box = $("traces-plot");
  const ticksOf = h("div", { class: "sources" }, ...t.names.map((name, i) => h("div", { style: `top:${i * TRACE + 2}px` },
    h("label", {}, h("input", { type: "checkbox", id: `keep-${i}`, checked: true, change: (event) => { if (event.target.checked) dropped.delete(i); else dropped.add(i); sayDropped(); figures["traces-plot"].draw(); } }), h("strong", {}, name)),
    h("p", {}, sourceFacts(i)))));
  figure("traces-plot", [], (pen) => paintTraces(pen, t, low, high, spectra), () => ["sources", [t.unit, ...t.names.flatMap((name) => [`${name} low`, `${name} high`])], t.time.map((at, j) => [at, ...t.names.flatMap((_, i) => [low[i][j], high[i][j]])])]);
  box.before(ticksOf);
  box.parentElement.classList.add("traces");
  sayDropped();
}
