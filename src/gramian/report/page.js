/* The page's own script: it draws what the data element holds and answers to what a reader does.
   Numbers come packed (see packing.py); names are only ever set as text, or escaped where plotly reads tags. */
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const redraws = [];

  // ---- numbers ---------------------------------------------------------------------------------------------

  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i += 1) out[i] = raw.charCodeAt(i);
    return out.buffer;
  }

  function unpack(packed) {
    if (packed.f32 !== undefined) return new Float32Array(bytes(packed.f32));
    if (packed.i32 !== undefined) return new Int32Array(bytes(packed.i32));
    const unit = (packed.high - packed.low) / 65535;
    return Float32Array.from(new Uint16Array(bytes(packed.u16)), (step) => packed.low + unit * step);
  }

  const columnOf = (flat, rows, j) => flat.subarray(j * rows, (j + 1) * rows);
  const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;
  const number = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "missing");
  const signed = (value, digits = 1) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
  const range = (count) => Array.from({ length: count }, (_, i) => i);
  const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  // ---- files -----------------------------------------------------------------------------------------------

  // Text that a spreadsheet would take for a formula gets an apostrophe; numbers stay numbers.
  function cell(value) {
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
    const text = String(value ?? ""), safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  }

  function save(name, header, lines) {
    const text = [header, ...lines].map((line) => line.map(cell).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${text}\r\n`], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // ---- look ------------------------------------------------------------------------------------------------

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const marks = () => range(6).map((i) => css(`--mark-${i + 1}`));
  const shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x"];
  const narrow = () => window.innerWidth < 720;

  function axis(title, more) {
    return {
      title: { text: escaped(title), standoff: 8 }, gridcolor: css("--grid"), zerolinecolor: css("--line"),
      linecolor: css("--line"), tickfont: { color: css("--soft") }, automargin: true, ...more,
    };
  }

  function layout(more) {
    return {
      font: { family: "system-ui, -apple-system, Segoe UI, Roboto, sans-serif", size: 13, color: css("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 56, r: 12, t: 12, b: 48 },
      hoverlabel: { bgcolor: css("--panel"), bordercolor: css("--line"), font: { color: css("--ink") } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent"), orientation: "v" },
      showlegend: false, ...more,
    };
  }

  const settings = { responsive: true, displaylogo: false, displayModeBar: false };

  function options(select, names, chosen) {
    select.replaceChildren(...names.map((name, i) => {
      const option = element("option", name);
      option.value = String(i);
      return option;
    }));
    select.value = String(chosen);
  }

  // ---- variance and the cut --------------------------------------------------------------------------------

  function variance() {
    const { shares, noise, rules, chosen, total } = data.scree, box = $("scree-plot"), slider = $("cut");
    const sums = [];
    shares.reduce((sum, share, i) => (sums[i] = sum + share), 0);
    let cut = Math.min(chosen, shares.length);

    function traces() {
      const color = shares.map((_, i) => (i < cut || !slider ? css("--mark-1") : css("--muted")));
      const places = shares.map((_, i) => i + 1);
      const bars = {
        type: "bar", x: places, y: shares, marker: { color }, name: "share",
        hovertemplate: "component %{x}: %{y:.2%}<extra></extra>",
      };
      const line = {
        type: "scatter", mode: shares.length > 40 ? "lines" : "lines+markers", x: places, y: sums, name: "all up to here",
        line: { color: css("--mark-2"), width: 2 }, hovertemplate: "the first %{x}: %{y:.2%}<extra></extra>",
      };
      const null_ = {
        type: "scatter", mode: "lines+markers", x: noise.map((_, i) => i + 1), y: noise, name: "noise alone (95%)",
        fill: "tozeroy", fillcolor: css("--band"), line: { color: css("--soft"), dash: "dot", width: 1.5, shape: "hvh" },
        marker: { size: 4 }, hovertemplate: "noise alone reaches %{y:.2%}<extra></extra>",
      };
      return noise.length ? [bars, line, null_] : [bars, line];
    }

    function draw() {
      const few = shares.length <= 20;
      const line = {
        type: "line", x0: cut + 0.5, x1: cut + 0.5, y0: 0, y1: 1, yref: "paper",
        line: { color: css("--ink"), width: 2.5, dash: "dash" },
      };
      return Plotly.react(box, traces(), layout({
        height: narrow() ? 340 : 360, bargap: 0.25, shapes: slider ? [line] : [], showlegend: true,
        legend: narrow() ? { orientation: "h", x: 0, y: -0.28, yanchor: "top" } : { orientation: "h", x: 1, xanchor: "right", y: 1.12 },
        margin: { l: 56, r: 12, t: narrow() ? 12 : 36, b: 48 },
        xaxis: axis("component", { fixedrange: true, range: [0.3, shares.length + 0.7], showgrid: false, ...(few ? { dtick: 1 } : {}) }),
        yaxis: axis("share of the variance", { fixedrange: true, tickformat: ".0%", range: [0, 1.04] }),
      }), { ...settings, edits: { shapePosition: Boolean(slider) } });
    }

    function say() {
      if (!slider) return;
      const held = cut ? sums[cut - 1] : 0, next = shares[cut];
      const agree = rules.filter((rule) => rule.k === cut).map((rule) => rule.rule);
      const verb = cut === 1 ? "component holds" : "components hold";
      $("cut-words").textContent = `${cut} ${verb} ${percent(held)} of the variance`
        + (next === undefined ? "." : `; the next would add ${percent(next)}.`)
        + (agree.length ? ` ${agree.join(", ")} ${agree.length === 1 ? "says" : "say"} the same.` : "");
      $("cut-code").textContent = data.kind === "kernel" ? `KernelPCA(n_components=${cut}, ...)` : `PCA(n_components=${cut}, ...)`;
      document.querySelectorAll(".card").forEach((card) => {
        card.classList.toggle("beyond", Number(card.dataset.component) >= cut);
      });
    }

    function move(to) {
      cut = Math.max(0, Math.min(shares.length, to));
      slider.value = String(cut);
      say();
      draw();
    }

    draw().then(() => {
      box.on("plotly_relayout", (change) => {
        const to = change["shapes[0].x0"];
        if (to !== undefined) move(Math.round(to - 0.5));
      });
    });
    if (slider) slider.addEventListener("input", () => move(Number(slider.value)));
    say();
    redraws.push(draw);
    const header = ["component", "variance", "share", "share of all up to it", "noise alone reaches"];
    csv.scree = () => save("variance.csv", header, shares.map((share, i) => [data.components[i], data.scree.variances[i], share, sums[i], noise[i]]));
    if (total > shares.length) $("variance").append(element("p", `${total - shares.length} more components are not drawn.`, "note"));
  }

  // Asked once: a browser gives out few such contexts.
  const webgl = (() => {
    try { return Boolean(document.createElement("canvas").getContext("webgl")); } catch { return false; }
  })();

  // ---- the map of rows -------------------------------------------------------------------------------------

  function rowMap() {
    const rows = data.rows, m = rows.shown, box = $("rows-plot");
    if (!box) return;
    const positions = unpack(rows.positions), scores = unpack(rows.scores), values = unpack(rows.values);
    const labels = rows.labels.map((label) => (label.groups
      ? { ...label, codes: unpack(label.codes) } : { ...label, numbers: unpack(label.numbers) }));
    const name = (i) => (rows.names ? rows.names[i] : `row ${positions[i] + 1}`);
    const names = range(m).map(name), shown = names.map(escaped);
    const value = (j) => columnOf(values, m, j), score = (j) => columnOf(scores, m, j);
    const fast = m > 2000 && webgl;
    const dims = data.components.slice(0, rows.components);
    const colors = ["nothing", ...labels.map((label) => label.name), ...rows.valueNames];
    const state = { x: 0, y: Math.min(1, dims.length - 1), color: 0, picked: new Set(), current: -1, title: "" };
    const first = labels.findIndex((label) => label.name === rows.color);
    state.color = first + 1;

    const titles = dims.map((dim, j) => `${dim} (${percent(data.scree.shares[j])})`);
    options($("rows-x"), titles, state.x);
    options($("rows-y"), titles, state.y);
    options($("rows-color"), colors, state.color);

    function coloring() {
      const label = labels[state.color - 1];
      if (state.color === 0) return { groups: ["all rows"], codes: new Int32Array(m) };
      if (label) return label;
      return { name: colors[state.color], numbers: value(state.color - 1 - labels.length) };
    }

    function trace(members, marker, title) {
      const x = score(state.x), y = score(state.y);
      const made = {
        type: fast ? "scattergl" : "scatter", mode: "markers", name: escaped(title), x: members.map((i) => x[i]), y: members.map((i) => y[i]),
        customdata: members, text: members.map((i) => shown[i]), hovertemplate: "%{text}<extra></extra>",
        marker: { size: m > 2000 ? 4 : m > 400 ? 6 : 8, opacity: m > 2000 ? 0.6 : 0.8, ...marker }, unselected: { marker: { opacity: 0.12 } },
      };
      if (state.picked.size) made.selectedpoints = range(members.length).filter((at) => state.picked.has(members[at]));
      return made;
    }

    function traces() {
      const by = coloring();
      if (by.numbers) {
        const known = range(m).filter((i) => Number.isFinite(by.numbers[i])), rest = range(m).filter((i) => !Number.isFinite(by.numbers[i]));
        const bar = { title: { text: escaped(by.name), side: narrow() ? "top" : "right" }, thickness: 12, outlinewidth: 0, ...(narrow() ? { orientation: "h", y: -0.32, thickness: 10 } : {}) };
        const full = trace(known, { color: known.map((i) => by.numbers[i]), colorscale: "Viridis", showscale: true, colorbar: bar }, by.name);
        return rest.length ? [full, trace(rest, { color: css("--muted"), symbol: "circle-open" }, "missing")] : [full];
      }
      const members = by.groups.map(() => []);
      by.codes.forEach((code, i) => members[code].push(i));
      const palette = marks();
      return by.groups.map((group, g) => trace(members[g], { color: palette[g % 6], symbol: shapes[g % 7] }, group)).filter((made) => made.x.length);
    }

    function ring() {
      const i = state.current, at = i < 0 ? [] : [i];
      return {
        type: "scatter", mode: "markers", x: at.map(() => score(state.x)[i]), y: at.map(() => score(state.y)[i]), hoverinfo: "skip", showlegend: false,
        marker: { size: 16, symbol: "circle-open", color: css("--ink"), line: { width: 2.5 } },
      };
    }

    const extent = (v) => v.reduce((r, e) => [Math.min(r[0], e), Math.max(r[1], e)], [Infinity, -Infinity]);
    const width = (v) => { const [low, high] = extent(v); return high - low; };

    function draw() {
      const ratio = width(score(state.x)) / (width(score(state.y)) || 1), equal = ratio < 6 && ratio > 1 / 6;
      const named = traces();
      const legend = named.length > 1 && named.length <= 24;
      return Plotly.react(box, [...named, ring()], layout({
        height: narrow() ? 420 : 540, dragmode: matchMedia("(pointer: coarse)").matches ? false : "lasso", showlegend: legend, uirevision: `${state.x},${state.y}`,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", itemsizing: "constant" }, margin: { l: 56, r: 36, t: legend ? 40 : 12, b: 48 },
        xaxis: axis(titles[state.x]), yaxis: axis(titles[state.y], equal ? { scaleanchor: "x" } : {}),
      }), { ...settings, displayModeBar: true, scrollZoom: "cartesian", modeBarButtons: [["lasso2d", "select2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]] });
    }

    function showRow(i) {
      const card = $("row-card"), list = element("ul");
      if (i < 0) {
        card.replaceChildren(element("p", "Point at a mark to see its row, or focus the map and use the arrow keys.", "note"));
        return;
      }
      labels.forEach((label) => list.append(element("li", `${label.name}: ${label.groups ? label.groups[label.codes[i]] : number(label.numbers[i])}`)));
      const away = rows.valueNames.map((_, j) => (value(j)[i] - rows.mean[j]) / (rows.spread[j] || 1));
      range(away.length).sort((a, b) => Math.abs(away[b]) - Math.abs(away[a])).slice(0, 6).forEach((j) => {
        list.append(element("li", `${rows.valueNames[j]}: ${number(value(j)[i])} (${signed(away[j])} sd)`));
      });
      [state.x, state.y].forEach((j) => list.append(element("li", `${dims[j]}: ${number(score(j)[i])}`)));
      card.replaceChildren(element("h3", names[i]), list);
    }

    // What makes the picked rows different: the distance of their mean from that of the others, in deviations.
    function differences() {
      const inside = [...state.picked], outside = range(m).filter((i) => !state.picked.has(i));
      const mean = (v, at) => at.reduce((sum, i) => sum + v[i], 0) / (at.length || 1);
      const kept = rows.valueNames.length ? rows.valueNames.map((title, j) => [title, value(j), rows.spread[j]])
        : dims.map((title, j) => [title, score(j), Math.sqrt(mean(score(j).map((v) => v * v), range(m)))]);
      return kept.map(([title, v, sd]) => {
        const here = mean(v, inside), there = mean(v, outside);
        return { title, here, there, apart: (here - there) / (sd || 1) };
      }).sort((a, b) => Math.abs(b.apart) - Math.abs(a.apart));
    }

    function differenceTable(found) {
      const table = element("table"), head = element("tr"), most = Math.max(...found.map((row) => Math.abs(row.apart)), 1e-12);
      ["column", "here", "others", "apart (sd)"].forEach((title, j) => head.append(element("th", title, j ? "number" : "")));
      table.append(head);
      found.slice(0, 8).forEach((row) => {
        const line = element("tr"), apart = element("td", signed(row.apart, 2), `number apart ${row.apart < 0 ? "falling" : "rising"}`);
        apart.style.setProperty("--w", `${(100 * Math.abs(row.apart)) / most}%`);
        line.append(element("td", row.title), element("td", number(row.here), "number"), element("td", number(row.there), "number"), apart);
        table.append(line);
      });
      return table;
    }

    function showPicked() {
      const panel = $("selection"), inside = [...state.picked].sort((a, b) => a - b);
      if (!inside.length) { panel.replaceChildren(); return; }
      const list = element("ol", undefined, "names"), buttons = element("div", undefined, "buttons");
      inside.slice(0, 200).forEach((i) => list.append(element("li", names[i])));
      const file = element("button", "These rows as CSV"), clear = element("button", "Clear");
      file.type = clear.type = "button";
      file.id = "selection-csv";
      file.addEventListener("click", () => saveRows("rows-picked.csv", inside));
      clear.addEventListener("click", () => pick([], ""));
      buttons.append(file, clear);
      const parts = [element("h3", `${inside.length.toLocaleString("en")} ${inside.length === 1 ? "row" : "rows"} picked${state.title}`), buttons];
      if (inside.length < m) {
        const scroll = element("div", undefined, "scroll");
        scroll.append(differenceTable(differences()));
        parts.push(element("h4", "What makes these different"), scroll);
      }
      panel.replaceChildren(...parts, list);
      if (inside.length > 200) panel.append(element("p", `and ${(inside.length - 200).toLocaleString("en")} more, all in the CSV`, "note"));
    }

    function saveRows(file, members) {
      const header = ["row", "name", ...labels.map((label) => label.name), ...dims, ...rows.valueNames];
      save(file, header, members.map((i) => [
        positions[i] + 1, names[i], ...labels.map((label) => (label.groups ? label.groups[label.codes[i]] : label.numbers[i])),
        ...dims.map((_, j) => score(j)[i]), ...rows.valueNames.map((_, j) => value(j)[i]),
      ]));
    }

    function pick(members, title) {
      state.picked = new Set(members);
      state.title = title;
      showPicked();
      draw();
    }

    function groupChoices() {
      const by = coloring();
      options($("rows-group"), ["none", ...(by.groups && state.color ? by.groups : [])], 0);
    }

    function step(by) {
      const order = range(m).sort((a, b) => score(state.x)[a] - score(state.x)[b]), at = order.indexOf(state.current);
      state.current = order[at < 0 ? 0 : Math.max(0, Math.min(m - 1, at + by))];
      showRow(state.current);
      draw();
    }

    ["x", "y", "color"].forEach((key) => $(`rows-${key}`).addEventListener("change", (event) => {
      state[key] = Number(event.target.value);
      if (key === "color") groupChoices();
      draw();
    }));
    $("rows-group").addEventListener("change", (event) => {
      const code = Number(event.target.value) - 1, by = coloring();
      pick(code < 0 ? [] : range(m).filter((i) => by.codes[i] === code), code < 0 ? "" : `: ${by.groups[code]}`);
    });
    $("rows-search").addEventListener("input", (event) => {
      const text = event.target.value.trim().toLowerCase();
      const found = text ? range(m).filter((i) => names[i].toLowerCase().includes(text)) : [];
      if (found.length) { [state.current] = found; showRow(state.current); }
      pick(found, text ? `: “${event.target.value.trim()}”` : "");
    });
    box.tabIndex = 0;
    box.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
      if (by) { event.preventDefault(); step(by); }
    });
    groupChoices();
    showRow(-1);
    draw().then(() => {
      box.on("plotly_hover", (event) => event.points[0].customdata !== undefined && showRow(event.points[0].customdata));
      box.on("plotly_click", (event) => event.points[0].customdata !== undefined && showRow(event.points[0].customdata));
      box.on("plotly_selected", (event) => event && pick(event.points.map((point) => point.customdata).filter((i) => i !== undefined), ""));
      box.on("plotly_deselect", () => pick([], ""));
      document.body.dataset.ready = "true";
    });
    redraws.push(draw);
    csv.rows = () => saveRows("rows.csv", range(m));
  }


  // ---- the map of columns ----------------------------------------------------------------------------------

  function columnMap() {
    const { names, correlations, components } = data.columns, d = names.length, box = $("columns-plot");
    const places = unpack(data.columns.positions), state = { x: 0, y: Math.min(1, components - 1) };
    const dims = data.components.slice(0, components), place = (j) => columnOf(places, d, j);
    options($("columns-x"), dims, state.x);
    options($("columns-y"), dims, state.y);

    // Names that would cover one another or a longer arrow's are left to the pointer.
    function labelled(x, y, span, size) {
      const boxes = [], unit = Math.min(size.w, size.h) / (2 * span);
      const order = range(d).sort((a, b) => Math.hypot(x[b], y[b]) - Math.hypot(x[a], y[a]));
      return order.filter((i) => {
        const w = 7 * Math.min(names[i].length, 28) + 6, right = x[i] >= 0, left = x[i] * unit + (right ? 4 : -4 - w), top = -y[i] * unit - 9;
        const clash = boxes.some((b) => left < b.left + b.w && left + w > b.left && top < b.top + 18 && top + 18 > b.top);
        const inside = left > -size.w / 2 && left + w < size.w / 2;
        if (clash || !inside || Math.hypot(x[i], y[i]) < 0.12 * span) return false;
        boxes.push({ left, top, w });
        return true;
      });
    }

    function draw() {
      const x = place(state.x), y = place(state.y), height = narrow() ? 380 : 520;
      const span = correlations ? 1.12 : 1.15 * Math.max(...x.map(Math.abs), ...y.map(Math.abs), 1e-12);
      const size = { w: box.clientWidth - 70, h: height - 70 }, shown = labelled(x, y, span, size);
      const arrows = { type: "scatter", mode: "lines", hoverinfo: "skip", line: { color: css("--rising"), width: 1.5 },
        x: range(d).flatMap((i) => [0, x[i], null]), y: range(d).flatMap((i) => [0, y[i], null]), opacity: d > 60 ? 0.35 : 0.8 };
      const heads = { type: "scatter", mode: "markers", x: [...x], y: [...y], text: names.map(escaped), marker: { size: 7, color: css("--rising") },
        hovertemplate: "%{text}: %{x:.3f}, %{y:.3f}<extra></extra>" };
      const notes = shown.map((i) => ({
        x: x[i], y: y[i], text: escaped(names[i].length > 28 ? `${names[i].slice(0, 27)}…` : names[i]), showarrow: false, xanchor: x[i] >= 0 ? "left" : "right",
        xshift: x[i] >= 0 ? 5 : -5, font: { size: 12.5 },
      }));
      const circle = { type: "circle", x0: -1, x1: 1, y0: -1, y1: 1, line: { color: css("--muted"), width: 1 } };
      const title = (j) => `${dims[j]} (${percent(data.scree.shares[j])})`;
      return Plotly.react(box, [arrows, heads], layout({
        height, annotations: notes, shapes: correlations ? [circle] : [],
        xaxis: axis(title(state.x), { range: [-span, span] }), yaxis: axis(title(state.y), { range: [-span, span], scaleanchor: "x" }),
      }), settings);
    }

    ["x", "y"].forEach((key) => $(`columns-${key}`).addEventListener("change", (event) => { state[key] = Number(event.target.value); draw(); }));
    draw();
    redraws.push(draw);
    csv.columns = () => save("columns.csv", ["column", ...dims], names.map((title, i) => [title, ...dims.map((_, j) => place(j)[i])]));
    csv.weights = csv.columns;
  }

  // ---- rows worth a look -----------------------------------------------------------------------------------

  function outlierMap() {
    const { t2Limit, speLimit } = data.outliers, t2 = unpack(data.outliers.t2), spe = unpack(data.outliers.spe), box = $("outliers-plot");
    const positions = unpack(data.rows.positions), m = t2.length;
    const name = (i) => (data.rows.names ? data.rows.names[i] : `row ${positions[i] + 1}`);
    const beyond = (i) => (t2Limit !== null && t2[i] > t2Limit) || (speLimit !== null && spe[i] > speLimit);
    const steep = (v, limit) => limit !== null && v.reduce((a, b) => Math.max(a, b), 0) > 15 * limit;

    function draw() {
      const trace = (members, color, symbol, title) => ({
        type: m > 2000 && webgl ? "scattergl" : "scatter", mode: "markers", name: title, x: members.map((i) => t2[i]), y: members.map((i) => spe[i]),
        text: members.map((i) => escaped(name(i))), hovertemplate: "%{text}<br>T² %{x:.3g}, SPE %{y:.3g}<extra></extra>", marker: { color, symbol, size: m > 2000 ? 4 : 7, opacity: 0.75 },
      });
      const far = range(m).filter(beyond), near = range(m).filter((i) => !beyond(i));
      const line = { color: css("--ink"), width: 1.2, dash: "dash" }, limits = [];
      if (t2Limit !== null) limits.push({ type: "line", x0: t2Limit, x1: t2Limit, y0: 0, y1: 1, yref: "paper", line });
      if (speLimit !== null) limits.push({ type: "line", y0: speLimit, y1: speLimit, x0: 0, x1: 1, xref: "paper", line });
      return Plotly.react(box, [trace(near, css("--mark-1"), "circle", "within"), trace(far, css("--mark-2"), "diamond", "beyond")], layout({
        height: narrow() ? 340 : 400, shapes: limits, xaxis: axis("T²: far out within the components", steep(t2, t2Limit) ? { type: "log" } : { rangemode: "tozero" }),
        yaxis: axis("SPE: far off them", steep(spe, speLimit) ? { type: "log" } : { rangemode: "tozero" }),
      }), settings);
    }

    draw();
    redraws.push(draw);
    csv.outliers = () => save("outliers.csv", ["row", "name", "T2", "SPE", "beyond"], range(m).map((i) => [positions[i] + 1, name(i), t2[i], spe[i], beyond(i) ? "yes" : "no"]));
  }

  // ---- kernels over the plane ------------------------------------------------------------------------------

  function surfaces() {
    const { x, y, names } = data.surfaces, box = $("surfaces-plot"), points = unpack(data.surfaces.points), m = points.length / 2;
    const values = data.surfaces.values.map((packed) => unpack(packed)), w = x.length;

    function draw() {
      const columns = narrow() ? 2 : 3, lines = Math.ceil(values.length / columns);
      const made = layout({ height: (box.clientWidth / columns) * 0.9 * lines + 30, grid: { rows: lines, columns, pattern: "independent", xgap: 0.06, ygap: 0.16 }, annotations: [], margin: { l: 8, r: 8, t: 30, b: 8 } });
      const scale = [[0, css("--falling")], [0.5, css("--paper")], [1, css("--rising")]];
      const traces = values.flatMap((flat, j) => {
        const at = j ? j + 1 : "", top = flat.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-12), axes = { xaxis: `x${at}`, yaxis: `y${at}` };
        const hidden = { showgrid: false, zeroline: false, showticklabels: false, ticks: "", range: [x[0], x[w - 1]] };
        made[`xaxis${at}`] = { ...hidden };
        made[`yaxis${at}`] = { ...hidden, range: [y[0], y[y.length - 1]], scaleanchor: `x${at}`, constrain: "domain" };
        made.annotations.push({ xref: `x${at} domain`, yref: `y${at} domain`, x: 0.5, y: 1, yanchor: "bottom", showarrow: false, font: { size: 13 }, text: `${data.components[j]} (${percent(data.scree.shares[j])})` });
        return [
          { type: "contour", x, y, z: y.map((_, i) => Array.from(flat.subarray(i * w, (i + 1) * w))), zmin: -top, zmax: top, colorscale: scale, showscale: false, ncontours: 14, line: { width: 0.5, color: css("--line") }, hovertemplate: `${escaped(names[0])} %{x:.3f}, ${escaped(names[1])} %{y:.3f}: %{z:.3f}<extra></extra>`, ...axes },
          { type: "scatter", mode: "markers", x: [...points.subarray(0, m)], y: [...points.subarray(m)], hoverinfo: "skip", marker: { size: 3, color: css("--ink"), opacity: 0.7 }, ...axes },
        ];
      });
      return Plotly.react(box, traces, made, settings);
    }

    draw();
    redraws.push(draw);
    csv.surfaces = () => save("eigenfunctions.csv", [names[0], names[1], ...values.map((_, j) => data.components[j])], y.flatMap((b, i) => x.map((a, j) => [a, b, ...values.map((flat) => flat[i * w + j])])));
  }

  // ---- sources ---------------------------------------------------------------------------------------------

  function sources() {
    const t = data.traces, low = t.low.map(unpack), high = t.high.map(unpack), spectra = t.spectra.map(unpack), dropped = new Set(), boxes = [];

    function draw(i) {
      const color = dropped.has(i) ? css("--muted") : css("--mark-1"), last = i === t.names.length - 1;
      const line = { type: "scatter", mode: "lines", x: t.time.flatMap((at) => [at, at]), y: t.time.flatMap((_, j) => [low[i][j], high[i][j]]), line: { color, width: 1 }, hovertemplate: "%{x:.3f}: %{y:.2f}<extra></extra>" };
      const power = { type: "scatter", mode: "lines", x: t.frequencies, y: [...spectra[i]], xaxis: "x2", yaxis: "y2", fill: "tozeroy", line: { color: dropped.has(i) ? css("--muted") : css("--mark-3"), width: 1.2 }, hovertemplate: "%{x:.3g}: %{y:.2%}<extra></extra>" };
      const bare = { showgrid: false, zeroline: false, showticklabels: false, fixedrange: true };
      return Plotly.react(boxes[i], [line, power], layout({
        height: last ? 130 : 100, margin: { l: 8, r: 8, t: 4, b: last ? 40 : 14 },
        xaxis: axis(last ? t.unit : "", { domain: [0, 0.7], showticklabels: last, zeroline: false }), yaxis: { ...bare },
        xaxis2: axis(last ? (t.unit === "seconds" ? "hertz" : "cycles a row") : "", { domain: [0.76, 1], anchor: "y2", type: "log", nticks: 4, showticklabels: last, zeroline: false, fixedrange: true }), yaxis2: { ...bare, anchor: "x2" },
      }), settings);
    }

    function say() {
      const out = [...dropped].sort((a, b) => a - b), kept = t.total - out.length;
      $("drop-words").textContent = out.length ? `${kept} of ${t.total} sources kept; ${out.map((i) => t.names[i]).join(", ")} taken out.` : `All ${t.total} sources kept.`;
      $("drop-code").textContent = `cleaned = model.remove(X, [${out.join(", ")}])`;
    }

    t.names.forEach((name, i) => {
      const row = element("div", undefined, "source"), label = element("label"), tick = element("input"), facts = element("p", undefined, "note");
      tick.type = "checkbox";
      tick.checked = true;
      tick.id = `keep-${i}`;
      label.append(tick, element("strong", name));
      facts.textContent = [`${percent(t.shares[i])} of the variance`, t.kurtosis ? `kurtosis ${signed(t.kurtosis[i])}` : "", t.stability ? `stability ${t.stability[i].toFixed(2)}` : "", t.gaussian.includes(i) ? "too Gaussian to be told apart" : ""].filter(Boolean).join(" · ");
      const box = element("div", undefined, "trace"), head = element("div");
      head.append(label, facts);
      row.append(head, box);
      $("sources").append(row);
      boxes.push(box);
      tick.addEventListener("change", () => { if (tick.checked) dropped.delete(i); else dropped.add(i); say(); draw(i); });
      draw(i);
    });
    say();
    redraws.push(() => t.names.forEach((_, i) => draw(i)));
    csv.traces = () => save("sources.csv", [t.unit, ...t.names.flatMap((name) => [`${name} low`, `${name} high`])], t.time.map((at, j) => [at, ...t.names.flatMap((_, i) => [low[i][j], high[i][j]])]));
  }

  // ---- images ----------------------------------------------------------------------------------------------

  function images() {
    const { height, width, count, scores, examples } = data.images;
    const mean = unpack(data.images.mean), parts = data.images.components.map(unpack), originals = data.images.originals.map(unpack);
    let rebuilt = mean;

    function paint(canvas, values, low, high) {
      canvas.width = width;
      canvas.height = height;
      const context = canvas.getContext("2d"), image = context.createImageData(width, height);
      values.forEach((value, i) => {
        const gray = (255 * (value - low)) / (high - low || 1);
        image.data.set([gray, gray, gray, 255], 4 * i);
      });
      context.putImageData(image, 0, 0);
    }

    function draw() {
      const row = Number($("image-row").value), kept = Number($("image-count").value), original = originals[row];
      const low = original.reduce((a, b) => Math.min(a, b)), high = original.reduce((a, b) => Math.max(a, b));
      rebuilt = Float32Array.from(mean);
      for (let a = 0; a < kept; a += 1) for (let i = 0; i < rebuilt.length; i += 1) rebuilt[i] += scores[row][a] * parts[a][i];
      const error = Math.sqrt(rebuilt.reduce((sum, value, i) => sum + (value - original[i]) ** 2, 0) / rebuilt.length);
      paint($("image-mean"), mean, low, high);
      paint($("image-rebuilt"), rebuilt, low, high);
      paint($("image-original"), original, low, high);
      $("image-words").textContent = `${examples[row]} from ${kept} of ${count} numbers: off by ${number(error)} a pixel, ${percent(error / (high - low || 1))} of its range.`;
    }

    document.querySelectorAll("canvas.eigenimage").forEach((canvas) => {
      const part = parts[Number(canvas.dataset.component)];
      if (!part) return;
      const top = part.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-12);
      paint(canvas, part, -top, top);
    });
    options($("image-row"), examples, 0);
    $("image-row").addEventListener("change", draw);
    $("image-count").addEventListener("input", draw);
    draw();
    csv.images = () => save("image.csv", ["pixel row", "pixel column", "mean", "rebuilt", "original"], range(mean.length).map((i) => [Math.floor(i / width), i % width, mean[i], rebuilt[i], originals[Number($("image-row").value)][i]]));
  }

  // ---- the whole -------------------------------------------------------------------------------------------

  const csv = {};

  function dark() {
    const set = document.documentElement.dataset.theme;
    return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function nameTheme() {
    $("theme").textContent = dark() ? "Light" : "Dark";
    $("theme").setAttribute("aria-pressed", String(dark()));
  }

  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    nameTheme();
    redraws.forEach((draw) => draw());
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { nameTheme(); redraws.forEach((draw) => draw()); });
  let wide = window.innerWidth;
  window.addEventListener("resize", () => {
    if (Math.abs(window.innerWidth - wide) < 40) return;
    wide = window.innerWidth;
    redraws.forEach((draw) => draw());
  });
  document.querySelectorAll("[data-csv]").forEach((button) => button.addEventListener("click", () => csv[button.dataset.csv]()));
  document.querySelectorAll(".copy").forEach((button) => button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("code").textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Press Ctrl+C"; getSelection().selectAllChildren(button.parentElement.querySelector("code")); }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }));

  nameTheme();
  if (data.rows) rowMap(); else document.body.dataset.ready = "true";
  variance();
  if (data.traces) sources();
  if (data.columns) columnMap();
  if (data.outliers) outlierMap();
  if (data.surfaces) surfaces();
  if (data.images) images();
})();
