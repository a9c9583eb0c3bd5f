/* What a kernel's components mean in the columns: pre-images along each component, and rows as they are rebuilt. */

function profileOf(j) {
  const { names, steps, mean, spread } = data.preimages, flat = unpack(data.preimages.profiles[j]), q = names.length;
  const away = (s, c) => (flat[s * q + c] - mean[c]) / (spread[c] || 1);
  const change = range(q).map((c) => away(steps.length - 1, c) - away(0, c)), bend = range(q).map((c) => largest(steps.map((_, s) => away(s, c) - away(0, c))));
  return { flat, q, away, change, order: range(q).sort((a, b) => bend[b] - bend[a]) };
}

function drawProfile(j, box) {
  const { names, steps } = data.preimages, { away, order } = profileOf(j), palette = marks();
  const traces = order.slice(0, 5).map((c, at) => ({
    type: "scatter", mode: "lines+markers", name: escaped(names[c].length > 22 ? `${names[c].slice(0, 21)}…` : names[c]), x: steps, y: steps.map((_, s) => away(s, c)),
    line: { color: palette[at], width: 2 }, marker: { symbol: shapes[at], size: 7 }, hovertemplate: `${escaped(names[c])}: %{y:+.2f} sd<extra></extra>`,
  }));
  return Plotly.react(box, traces, layout({
    height: 300, margin: { l: 44, r: 8, t: 8, b: 24 }, showlegend: true, legend: { orientation: "h", x: 0, y: -0.16, yanchor: "top", font: { size: 12 } },
    xaxis: axis("", { tickformat: ".0%", tickvals: steps, fixedrange: true, zeroline: false }), yaxis: axis("sd from the mean", { fixedrange: true }),
  }), settings);
}

function profileImages(j) {
  const { flat, q } = profileOf(j), strip = element("div", undefined, "strip"), limits = extent(flat);
  data.preimages.steps.forEach((step, s) => strip.append(figure(percent(step, 0), flat.subarray(s * q, (s + 1) * q), limits)));
  return strip;
}

function profileCard(j) {
  const card = element("article", undefined, "card"), head = element("h3", `${data.components[j]} `);
  card.dataset.component = String(j);
  head.append(element("span", percent(data.scree.shares[j])));
  card.append(head);
  if (data.imageShape) { card.append(profileImages(j)); return card; }
  const box = element("div", undefined, "profile"), draw = () => drawProfile(j, box);
  card.append(box);
  redraws.push(draw);
  requestAnimationFrame(draw);
  return card;
}

function showRebuilt() {
  const p = data.preimages, row = Number($("preimage-row").value), original = unpack(p.originals[row]), made = unpack(p.rebuilt[row]);
  const change = range(p.names.length).map((c) => (made[c] - original[c]) / (p.spread[c] || 1));
  const lines = range(p.names.length).sort((a, b) => Math.abs(change[b]) - Math.abs(change[a])).slice(0, 10).map((c) => [p.names[c], original[c], made[c], change[c]]);
  $("preimage-rows").replaceChildren(barTable(["column", "row", "rebuilt", "sd changed"], lines));
}

function rebuiltImages() {
  const p = data.preimages;
  $("preimage-row").parentElement.hidden = true;
  $("preimage-rows").replaceChildren(...p.examples.map((name, i) => {
    const original = unpack(p.originals[i]), pair = figure(name, original, extent(original)), below = element("canvas");
    paint(below, unpack(p.rebuilt[i]), ...extent(original));
    pair.prepend(below);
    pair.prepend(pair.querySelector("canvas:nth-of-type(2)"));
    return pair;
  }));
}

function preimages() {
  const p = data.preimages;
  $("profiles").append(...p.profiles.map((_, j) => profileCard(j)));
  options($("preimage-row"), p.examples, 0);
  $("preimage-row").addEventListener("change", showRebuilt);
  if (data.imageShape) rebuiltImages(); else showRebuilt();
  csv.profiles = () => save("profiles.csv", ["component", "rows below this score", ...p.names], p.profiles.flatMap((packed, j) => {
    const { flat, q } = profileOf(j);
    return p.steps.map((step, s) => [data.components[j], step, ...flat.subarray(s * q, (s + 1) * q)]);
  }));
  csv.preimages = () => save("preimages.csv", ["row", "which", ...p.names], p.examples.flatMap((name, i) => [[name, "row", ...unpack(p.originals[i])], [name, "rebuilt", ...unpack(p.rebuilt[i])]]));
}
