/* The components of a kernel: contours over a plane; else pre-images along each component, and rows rebuilt. */

// Lines of equal value over a grid, a piece per cell (marching squares).
function contours(z, w, tall, level, X, Y) {
  const out = [];
  for (let j = 0; j + 1 < tall; j += 1) {
    for (let i = 0; i + 1 < w; i += 1) {
      const at = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], v = at.map(([a, b]) => z[b * w + a] - level), cut = [];
      for (let s = 0; s < 4; s += 1) {
        const e = (s + 1) % 4;
        if (v[s] > 0 !== v[e] > 0) { const f = v[s] / (v[s] - v[e]); cut.push(`${X(at[s][0] + f * (at[e][0] - at[s][0])).toFixed(1)} ${Y(at[s][1] + f * (at[e][1] - at[s][1])).toFixed(1)}`); }
      }
      for (let s = 0; s + 1 < cut.length; s += 2) out.push(`M${cut[s]}L${cut[s + 1]}`);
    }
  }
  return out.join("");
}

function paintSurfaces(pen, values) {
  const { x, y } = data.surfaces, points = unpack(data.surfaces.points), m = points.length / 2, w = x.length, tall = y.length, across = clamp(Math.floor(pen.width / (narrow() ? 150 : 260)), 2, 4), size = (pen.width - 14 * (across - 1)) / across;
  const unit = Math.min(size / (x[w - 1] - x[0]), size / (y[tall - 1] - y[0])), pw = unit * (x[w - 1] - x[0]), ph = unit * (y[tall - 1] - y[0]), each = ph + 34;
  values.forEach((flat, j) => {
    const left = (j % across) * (size + 14), top = Math.floor(j / across) * each + 22, most = largest(flat), X = (i) => left + (i / (w - 1)) * pw, Y = (i) => top + ph - (i / (tall - 1)) * ph, up = new Float32Array(flat.length);
    for (let i = 0; i < tall; i += 1) up.set(flat.subarray((tall - 1 - i) * w, (tall - i) * w), i * w);
    const panel = pen.add("g", { opacity: j < state.cut ? 1 : 0.4, class: "surface" }), from = pen.layer.length;
    pen.text(left, top - 7, titled(j), { weight: 600, size: 13 });
    pen.image(left, top, pw, ph, painted(up, w, tall, signOf(most)), undefined, { style: "" });
    [-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75].forEach((level) => pen.path(contours(flat, w, tall, level * most, X, Y), { stroke: colors.ink, "stroke-width": level ? 0.5 : 1.2, opacity: 0.6 }));
    range(m).forEach((i) => pen.add("circle", { cx: left + (points[i] - x[0]) * unit, cy: top + ph - (points[m + i] - y[0]) * unit, r: 1.6, fill: colors.ink, opacity: 0.6 }));
    panel.append(...pen.layer.splice(from));
  });
  pen.height = Math.ceil(values.length / across) * each + 4;
}

function profileOf(j) {
  const { names, steps, mean, spread } = data.preimages, flat = unpack(data.preimages.profiles[j]), q = names.length, away = (s, c) => (flat[s * q + c] - mean[c]) / (spread[c] || 1);
  const bend = range(q).map((c) => largest(steps.map((_, s) => away(s, c) - away(0, c))));
  return { flat, q, away, order: range(q).sort((a, b) => bend[b] - bend[a]) };
}

function paintProfiles(pen) {
  const { names, steps, profiles } = data.preimages, total = profiles.length, pictured = Boolean(data.imageShape), across = clamp(Math.floor(pen.width / (narrow() ? 320 : 300)), 1, 4), size = (pen.width - 24 * (across - 1)) / across;
  const tall = pictured ? ((size - 16) / steps.length) * (data.imageShape.height / data.imageShape.width) : 150, lines = pictured ? 0 : Math.min(5, names.length), each = tall + 52 + 17 * lines;
  range(total).forEach((j) => {
    const left = (j % across) * (size + 24), top = Math.floor(j / across) * each + 22, { flat, q, away, order } = profileOf(j), panel = pen.add("g", { opacity: j < state.cut ? 1 : 0.4, class: "profile" }), from = pen.layer.length;
    pen.text(left, top - 8, titled(j), { weight: 600, size: 13 });
    if (pictured) {
      const gray = grayOf(extent(flat)), w = (size - 16) / steps.length;
      steps.forEach((step, s) => { pen.image(left + s * (w + 4), top, w, tall, asImage(flat.subarray(s * q, (s + 1) * q), gray)); pen.text(left + s * (w + 4) + w / 2, top + tall + 15, `${Math.round(100 * step)}%`, { anchor: "middle", color: colors.soft }); });
    } else {
      const shown = order.slice(0, 5), most = largest(shown.flatMap((c) => steps.map((_, s) => away(s, c)))) * 1.1, { X, Y } = pen.plane({ left: left + 34, top, width: size - 44, height: tall, x: [0, 1], y: [-most, most], xTicks: steps.map((step) => [step, `${Math.round(100 * step)}%`]).filter((_, s) => s % 2 === 0), yTicks: ticks([-most, most], 4) });
      pen.line(X(0), Y(0), X(1), Y(0), colors.muted);
      shown.forEach((c, at) => {
        pen.path(`M${steps.map((step, s) => `${X(step)} ${Y(away(s, c))}`).join("L")}`, { stroke: hueOf(at), "stroke-width": 1.8 });
        steps.forEach((step, s) => pen.path(shapePath(SHAPES[at], X(step), Y(away(s, c)), 3.4), { fill: hueOf(at) }));
        pen.path(shapePath(SHAPES[at], left + 40, top + tall + 32 + 17 * at, 4), { fill: hueOf(at) });
        pen.text(left + 50, top + tall + 36 + 17 * at, fitted(names[c], size - 70), { color: colors.soft });
      });
    }
    panel.append(...pen.layer.splice(from));
  });
  pen.height = Math.ceil(total / across) * each + 6;
}

function paintRebuilt(pen) {
  const p = data.preimages;
  if (data.imageShape) {
    const items = p.examples.flatMap((name, i) => { const original = unpack(p.originals[i]), gray = grayOf(extent(original)); return [{ href: asImage(original, gray), text: name }, { href: asImage(unpack(p.rebuilt[i]), gray), text: "what is kept" }]; });
    paintStrip(pen, items, narrow() ? 80 : 110);
    return;
  }
  const row = Number($("rebuilt-row").value), original = unpack(p.originals[row]), made = unpack(p.rebuilt[row]), away = (v) => range(p.names.length).map((c) => (v[c] - p.mean[c]) / (p.spread[c] || 1)), a = away(original), b = away(made);
  const order = range(p.names.length).sort((i, j) => Math.abs(b[j] - a[j]) - Math.abs(b[i] - a[i])).slice(0, 12), left = narrow() ? 110 : 180, most = largest([...order.map((c) => a[c]), ...order.map((c) => b[c])]) * 1.1, plane = { left, top: 8, width: pen.width - left - 120, height: 26 * order.length, x: [-most, most], y: [0, 1] };
  pen.height = plane.height + 60;
  const { X } = pen.plane({ ...plane, xTicks: ticks(plane.x, 6) });
  pen.line(X(0), plane.top, X(0), plane.top + plane.height, colors.muted);
  order.forEach((c, at) => {
    const y = plane.top + 26 * (at + 0.5);
    pen.text(left - 10, y + 4, fitted(p.names[c], left - 14), { anchor: "end" });
    pen.line(X(a[c]), y, X(b[c]), y, colors.muted, { "stroke-width": 2 });
    pen.path(shapePath("circle", X(a[c]), y, 5), { stroke: colors.ink, fill: colors.paper, "stroke-width": 1.6 });
    pen.path(shapePath("circle", X(b[c]), y, 5), { fill: colors.accent });
    pen.text(pen.width - 4, y + 4, `${number(original[c])} → ${number(made[c])}`, { anchor: "end", color: colors.soft });
  });
  pen.text(plane.left + plane.width / 2, plane.height + 48, "sd from the mean: ○ row, ● what is kept", { size: 13, weight: 600, anchor: "middle" });
}

function startKernel() {
  if (data.surfaces) {
    const values = data.surfaces.values.map(unpack), { x, y, names } = data.surfaces;
    figure("surfaces-plot", ["cut"], (pen) => paintSurfaces(pen, values), () => ["eigenfunctions", [names[0], names[1], ...values.map((_, j) => data.components[j])], y.flatMap((b, i) => x.map((a, j) => [a, b, ...values.map((flat) => flat[i * x.length + j])]))]);
  }
  if (!data.preimages) return;
  const p = data.preimages;
  figure("profiles-plot", ["cut"], paintProfiles, () => ["profiles", ["component", "rows below this score", ...p.names], p.profiles.flatMap((_, j) => { const { flat, q } = profileOf(j); return p.steps.map((step, s) => [data.components[j], step, ...flat.subarray(s * q, (s + 1) * q)]); })]);
  fill($("rebuilt-row"), p.examples, 0);
  $("rebuilt-row").parentElement.hidden = Boolean(data.imageShape);
  $("rebuilt-row").addEventListener("change", () => figures["rebuilt-plot"].draw());
  figure("rebuilt-plot", [], paintRebuilt, () => ["rebuilt", ["row", "which", ...p.names], p.examples.flatMap((name, i) => [[name, "row", ...unpack(p.originals[i])], [name, "rebuilt", ...unpack(p.rebuilt[i])]])]);
}
