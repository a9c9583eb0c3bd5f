/* Rows by both of their distances, and the limits. */

function outlierMap() {
  const { t2Limit, speLimit } = data.outliers, t2 = unpack(data.outliers.t2), { m, names } = table;
  // Where every direction is kept nothing is left to be off them: rows lie in the order of the table instead.
  const kept = data.outliers.spe === null, spe = kept ? table.numbers : unpack(data.outliers.spe);
  const beyond = (i) => (t2Limit !== null && t2[i] > t2Limit) || (speLimit !== null && spe[i] > speLimit);
  const scale = (v, limit) => (limit !== null && largest(v) > 15 * limit ? { type: "log" } : { rangemode: "tozero" });
  const far = range(m).filter(beyond), near = range(m).filter((i) => !beyond(i));

  function trace(members, color, symbol, title) {
    return {
      type: m > 2000 && webgl ? "scattergl" : "scatter", mode: "markers", name: title, x: members.map((i) => t2[i]), y: members.map((i) => spe[i]),
      text: members.map((i) => escaped(names[i])), hovertemplate: `%{text}<br>T² %{x:.3g}${kept ? "" : ", SPE %{y:.3g}"}<extra></extra>`, marker: { color, symbol, size: m > 2000 ? 4 : 7, opacity: 0.75 },
    };
  }

  function limits() {
    const line = { color: css("--ink"), width: 1.2, dash: "dash" }, lines = [];
    if (t2Limit !== null) lines.push({ type: "line", x0: t2Limit, x1: t2Limit, y0: 0, y1: 1, yref: "paper", line });
    if (speLimit !== null) lines.push({ type: "line", y0: speLimit, y1: speLimit, x0: 0, x1: 1, xref: "paper", line });
    return lines;
  }

  const draw = () => Plotly.react($("outliers-plot"), [trace(near, css("--mark-1"), "circle", "within"), trace(far, css("--mark-2"), "diamond", "beyond")], layout({
    height: narrow() ? 340 : 400, shapes: limits(), xaxis: axis("T²: far out within the components", scale(t2, t2Limit)), yaxis: axis(kept ? "row number" : "SPE: far off them", scale(spe, speLimit)),
  }), settings);
  draw();
  redraws.push(draw);
  csv.outliers = () => save("outliers.csv", ["row", "name", "T2", ...(kept ? [] : ["SPE"]), "beyond"], range(m).map((i) => [table.positions[i] + 1, names[i], t2[i], ...(kept ? [] : [spe[i]]), beyond(i) ? "yes" : "no"]));
}
