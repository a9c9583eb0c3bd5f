/* The components of a kernel of two columns, as contours over the plane. */

function surfaceTraces(flat, axes) {
  const { x, y, names } = data.surfaces, points = unpack(data.surfaces.points), m = points.length / 2, w = x.length, top = largest(flat);
  const colorscale = [[0, css("--falling")], [0.5, css("--paper")], [1, css("--rising")]];
  return [
    { type: "contour", x, y, z: y.map((_, i) => Array.from(flat.subarray(i * w, (i + 1) * w))), zmin: -top, zmax: top, colorscale, showscale: false, ncontours: 14,
      line: { width: 0.5, color: css("--line") }, hovertemplate: `${escaped(names[0])} %{x:.3f}, ${escaped(names[1])} %{y:.3f}: %{z:.3f}<extra></extra>`, ...axes },
    { type: "scatter", mode: "markers", x: [...points.subarray(0, m)], y: [...points.subarray(m)], hoverinfo: "skip", marker: { size: 3, color: css("--ink"), opacity: 0.55 }, ...axes },
  ];
}

function drawSurfaces(values) {
  const { x, y } = data.surfaces, box = $("surfaces-plot"), wide = values.length === 4 ? 4 : 3;
  const columns = narrow() ? 2 : Math.min(wide, values.length), lines = Math.ceil(values.length / columns), annotations = [];
  const height = Math.min(box.clientWidth / columns, 420) * 0.95 * lines + 30;
  const made = layout({ height, grid: { rows: lines, columns, pattern: "independent", xgap: 0.06, ygap: 0.16 }, annotations, margin: { l: 8, r: 8, t: 30, b: 8 } });
  const traces = values.flatMap((flat, j) => {
    const at = j ? j + 1 : "", hidden = { showgrid: false, zeroline: false, showticklabels: false, ticks: "" };
    made[`xaxis${at}`] = { ...hidden, range: [x[0], x[x.length - 1]], constrain: "domain" };
    made[`yaxis${at}`] = { ...hidden, range: [y[0], y[y.length - 1]], scaleanchor: `x${at}`, constrain: "domain" };
    annotations.push({ xref: `x${at} domain`, yref: `y${at} domain`, x: 0.5, y: 1, yanchor: "bottom", showarrow: false, font: { size: 13 }, text: titled(j) });
    return surfaceTraces(flat, { xaxis: `x${at}`, yaxis: `y${at}` });
  });
  return Plotly.react(box, traces, made, settings);
}

function surfaces() {
  const { x, y, names } = data.surfaces, values = data.surfaces.values.map(unpack), draw = () => drawSurfaces(values);
  draw();
  redraws.push(draw);
  const lines = () => y.flatMap((b, i) => x.map((a, j) => [a, b, ...values.map((flat) => flat[i * x.length + j])]));
  csv.surfaces = () => save("eigenfunctions.csv", [names[0], names[1], ...values.map((_, j) => data.components[j])], lines());
}
