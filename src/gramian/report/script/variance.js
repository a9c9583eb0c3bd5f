/* What each component holds, and the cut that a reader moves. */

function varianceTraces(sums, cut) {
  const { shares, noise } = data.scree, places = shares.map((_, i) => i + 1);
  const bars = {
    type: "bar", x: places, y: shares, name: "share", marker: { color: shares.map((_, i) => css(i < cut ? "--mark-1" : "--muted")) },
    hovertemplate: "component %{x}: %{y:.2%}<extra></extra>",
  };
  const line = {
    type: "scatter", mode: shares.length > 40 ? "lines" : "lines+markers", x: places, y: sums, name: "all up to here",
    line: { color: css("--mark-2"), width: 2 }, hovertemplate: "the first %{x}: %{y:.2%}<extra></extra>",
  };
  const alone = {
    type: "scatter", mode: "lines+markers", x: noise.map((_, i) => i + 1), y: noise, name: "noise alone (95%)",
    fill: "tozeroy", fillcolor: css("--band"), line: { color: css("--soft"), dash: "dot", width: 1.5, shape: "hvh" },
    marker: { size: 4 }, hovertemplate: "noise alone reaches %{y:.2%}<extra></extra>",
  };
  return noise.length ? [bars, line, alone] : [bars, line];
}

function varianceLayout(cut, movable) {
  const count = data.scree.shares.length, below = { orientation: "h", x: 0, y: -0.28, yanchor: "top" };
  const line = {
    type: "line", x0: cut + 0.5, x1: cut + 0.5, y0: 0, y1: 1, yref: "paper", line: { color: css("--ink"), width: 2.5, dash: "dash" },
  };
  return layout({
    height: narrow() ? 340 : 360, bargap: count < 8 ? 0.6 : 0.25, shapes: movable ? [line] : [], showlegend: true,
    legend: narrow() ? below : { orientation: "h", x: 1, xanchor: "right", y: 1.12 },
    margin: { l: 56, r: 12, t: narrow() ? 12 : 36, b: 48 },
    xaxis: axis(data.kind === "ica" ? "source" : "component", { fixedrange: true, range: [0.3, count + 0.7], showgrid: false, ...(count <= 20 ? { dtick: 1 } : {}) }),
    yaxis: axis("share of the variance", { fixedrange: true, tickformat: ".0%", range: [0, 1.04] }),
  });
}

function cutWords(cut, sums) {
  const next = data.scree.shares[cut], agree = data.scree.rules.filter((rule) => rule.k === cut).map((rule) => rule.rule);
  const added = next === undefined ? "." : `; the next would add ${percent(next)}.`;
  const rules = agree.length ? ` So ${agree.length === 1 ? "says the rule" : "say the rules"} ${listed(agree)}.` : "";
  return `${cut} ${cut === 1 ? "component holds" : "components hold"} ${percent(cut ? sums[cut - 1] : 0)} of the variance${added}${rules}`;
}

function sayCut(cut, sums) {
  $("cut-words").textContent = cutWords(cut, sums);
  $("cut-code").textContent = data.scree.code.replace("{}", cut);
  document.querySelectorAll(".card").forEach((card) => card.classList.toggle("beyond", Number(card.dataset.component) >= cut));
}

function variance() {
  const { shares, noise, variances, total } = data.scree, box = $("scree-plot"), slider = $("cut"), sums = [];
  shares.reduce((sum, share, i) => (sums[i] = sum + share), 0);
  let cut = slider ? Math.min(data.scree.chosen, shares.length) : shares.length;
  const draw = () => Plotly.react(box, varianceTraces(sums, cut), varianceLayout(cut, slider), { ...settings, edits: { shapePosition: Boolean(slider) } });

  function move(to) {
    cut = Math.max(0, Math.min(shares.length, to));
    slider.value = String(cut);
    sayCut(cut, sums);
    draw();
  }

  draw().then(() => box.on("plotly_relayout", (change) => {
    const to = change["shapes[0].x0"];
    if (to !== undefined) move(Math.round(to - 0.5));
  }));
  if (slider) {
    slider.addEventListener("input", () => move(Number(slider.value)));
    sayCut(cut, sums);
  }
  redraws.push(draw);
  const header = ["component", "variance", "share", "share of all up to it", "noise alone reaches"];
  csv.scree = () => save("variance.csv", header, shares.map((share, i) => [data.components[i], variances[i], share, sums[i], noise[i]]));
  if (total > shares.length) $("variance").append(element("p", `${total - shares.length} more components are not drawn.`, "note"));
}
