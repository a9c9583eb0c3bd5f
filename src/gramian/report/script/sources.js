/* Sources over time with their spectra, each to be kept or dropped. */

const dropped = new Set();

function drawSource(i, box, low, high, spectrum) {
  const t = data.traces, out = dropped.has(i), last = i === t.names.length - 1, bare = { showgrid: false, zeroline: false, showticklabels: false, fixedrange: true };
  const line = {
    type: "scatter", mode: "lines", x: t.time.flatMap((at) => [at, at]), y: t.time.flatMap((_, j) => [low[j], high[j]]),
    line: { color: css(out ? "--muted" : "--mark-1"), width: 1 }, hovertemplate: "%{x:.3f}: %{y:.2f}<extra></extra>",
  };
  const power = {
    type: "scatter", mode: "lines", x: t.frequencies, y: [...spectrum], xaxis: "x2", yaxis: "y2", fill: "tozeroy",
    line: { color: css(out ? "--muted" : "--mark-3"), width: 1.2 }, hovertemplate: "%{x:.3g}: %{y:.2%}<extra></extra>",
  };
  const cycles = last ? (t.unit === "seconds" ? "hertz" : "cycles per row") : "";
  return Plotly.react(box, [line, power], layout({
    height: last ? 130 : 100, margin: { l: 8, r: 8, t: 4, b: last ? 40 : 14 },
    xaxis: axis(last ? t.unit : "", { domain: [0, 0.7], showticklabels: last, zeroline: false }), yaxis: { ...bare },
    xaxis2: axis(cycles, { domain: [0.76, 1], anchor: "y2", type: "log", dtick: 1, showticklabels: last, zeroline: false, fixedrange: true }), yaxis2: { ...bare, anchor: "x2" },
  }), settings);
}

function sayDropped() {
  const t = data.traces, out = [...dropped].sort((a, b) => a - b);
  $("drop-words").textContent = out.length ? `${t.total - out.length} of ${t.total} sources kept; ${listed(out.map((i) => t.names[i]))} taken out.` : `All ${t.total} sources kept.`;
  $("drop-code").textContent = `cleaned = model.remove(X, [${out.join(", ")}])`;
}

function sourceFacts(i) {
  const t = data.traces;
  return [
    `${percent(t.shares[i])} of the variance`, t.kurtosis ? `kurtosis ${signed(t.kurtosis[i])}` : "",
    t.stability ? `stability ${t.stability[i].toFixed(2)}` : "", t.gaussian.includes(i) ? "too Gaussian to be told apart" : "",
  ].filter(Boolean).join(" · ");
}

function sourceRow(name, i) {
  const row = element("div", undefined, "source"), label = element("label"), tick = element("input"), head = element("div"), box = element("div", undefined, "trace");
  tick.type = "checkbox";
  tick.checked = true;
  tick.id = `keep-${i}`;
  label.append(tick, element("strong", name));
  head.append(label, element("p", sourceFacts(i), "note"));
  row.append(head, box);
  $("sources").append(row);
  return { tick, box };
}

function sources() {
  const t = data.traces, low = t.low.map(unpack), high = t.high.map(unpack), spectra = t.spectra.map(unpack);
  t.names.forEach((name, i) => {
    const { tick, box } = sourceRow(name, i), draw = () => drawSource(i, box, low[i], high[i], spectra[i]);
    tick.addEventListener("change", () => { if (tick.checked) dropped.delete(i); else dropped.add(i); sayDropped(); draw(); });
    draw();
    redraws.push(draw);
  });
  sayDropped();
  const header = [t.unit, ...t.names.flatMap((name) => [`${name} low`, `${name} high`])];
  csv.traces = () => save("sources.csv", header, t.time.map((at, j) => [at, ...t.names.flatMap((_, i) => [low[i][j], high[i][j]])]));
}
