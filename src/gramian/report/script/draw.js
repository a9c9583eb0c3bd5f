/* Pictures: SVG with a canvas for marks on the screen, and SVG alone in a file. Colors come from the style sheet. */

const FONT = 'Inter, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Liberation Sans", sans-serif';
const SHAPES = ["circle", "square", "up", "diamond", "down", "plus", "cross"];
const narrow = () => window.innerWidth < 720;
let colors = {};

function readColors() {
  const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["paper", "panel", "ink", "soft", "line", "grid", "muted", "band", "accent", "flag", "low", "middle", "high", "falling", "zero", "rising"];
  colors = Object.fromEntries(names.map((name) => [name, of(name)]));
  colors.hues = range(10).map((i) => of(`hue-${i + 1}`));
}

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const mix = (a, b, t) => `rgb(${rgb(a).map((from, i) => Math.round(from + (rgb(b)[i] - from) * t)).join(",")})`;
const ramp = (t) => (t < 0.5 ? mix(colors.low, colors.middle, 2 * t) : mix(colors.middle, colors.high, 2 * t - 1));
const diverging = (t) => (t < 0 ? mix(colors.zero, colors.falling, Math.min(1, -t)) : mix(colors.zero, colors.rising, Math.min(1, t)));
const hueOf = (g) => colors.hues[g % 10];
const shapeOf = (g, groups) => (groups > 6 ? SHAPES[g % 7] : "circle");

const ruler = document.createElement("canvas").getContext("2d");

function widthOf(text, size = 12, weight = 400) {
  ruler.font = `${weight} ${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

function fitted(text, width, size = 12, weight = 400) {
  if (widthOf(text, size, weight) <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(`${text.slice(0, middle)}…`, size, weight) <= width) low = middle; else high = middle - 1;
  }
  return low ? `${text.slice(0, low).trimEnd()}…` : "";
}

function shapePath(shape, x, y, r) {
  const p = (dx, dy) => `${(x + dx * r).toFixed(1)} ${(y + dy * r).toFixed(1)}`, poly = (...at) => `M${at.map(([a, b]) => p(a, b)).join("L")}Z`;
  if (shape === "square") return poly([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]);
  if (shape === "up") return poly([0, -1.2], [1.1, 0.8], [-1.1, 0.8]);
  if (shape === "down") return poly([0, 1.2], [1.1, -0.8], [-1.1, -0.8]);
  if (shape === "diamond") return poly([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]);
  if (shape === "plus") return poly([-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]);
  if (shape === "cross") return poly([-1.1, -0.6], [-0.6, -1.1], [0, -0.5], [0.6, -1.1], [1.1, -0.6], [0.5, 0], [1.1, 0.6], [0.6, 1.1], [0, 0.5], [-0.6, 1.1], [-1.1, 0.6], [-0.5, 0]);
  return `M${p(-1, 0)}A${r} ${r} 0 1 0 ${p(1, 0)}A${r} ${r} 0 1 0 ${p(-1, 0)}Z`;
}

class Pen {
  constructor(width, alone) {
    this.width = Math.max(200, width);
    this.height = 300;
    this.alone = alone; // a file of its own, which has its legend inside
    this.under = [];
    this.over = [];
    this.dots = [];
    this.layer = this.under;
    this.top = 0;
  }

  add(tag, attributes, text, title) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => { if (value !== undefined) made.setAttribute(name, typeof value === "number" ? String(Math.round(value * 100) / 100) : value); });
    if (text !== undefined) made.textContent = text;
    if (title) made.append(Object.assign(document.createElementNS("http://www.w3.org/2000/svg", "title"), { textContent: title }));
    this.layer.push(made);
    return made;
  }

  line(x1, y1, x2, y2, stroke = colors.line, more = {}) { return this.add("line", { x1, y1, x2, y2, stroke, ...more }); }

  path(d, more = {}) { return this.add("path", { d, fill: "none", ...more }); }

  rect(x, y, width, height, more = {}) { return this.add("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), ...more }); }

  text(x, y, text, { size = 12, anchor = "start", color = colors.ink, weight = 400, halo = false, turn } = {}) {
    return this.add("text", {
      x, y, "font-size": size, "text-anchor": anchor, fill: color, "font-weight": weight === 400 ? undefined : weight,
      ...(halo ? { stroke: colors.paper, "stroke-width": 3.5, "stroke-linejoin": "round", "paint-order": "stroke" } : {}),
      transform: turn ? `rotate(${turn} ${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10})` : undefined,
    }, text);
  }

  image(x, y, width, height, href, title, more = {}) {
    return this.add("image", { x, y, width, height, href, preserveAspectRatio: "none", style: "image-rendering:pixelated", ...more }, undefined, title);
  }

  // Marks { x, y, r, color, shape, alpha, hollow }; what is drawn after them lies above.
  marks(list) {
    this.dots = list;
    if (this.alone) list.forEach((mark) => this.path(shapePath(mark.shape, mark.x, mark.y, mark.r), mark.hollow ? { stroke: mark.color, "stroke-width": 1.4, opacity: mark.alpha } : { fill: mark.color, opacity: mark.alpha }));
    this.layer = this.alone ? this.under : this.over;
  }

  canvas() {
    const made = document.createElement("canvas"), scale = window.devicePixelRatio || 1, context = made.getContext("2d");
    made.width = Math.round(this.width * scale);
    made.height = Math.round(this.height * scale);
    context.scale(scale, scale);
    this.dots.forEach(({ x, y, r, color, shape, alpha, hollow }) => {
      context.globalAlpha = alpha;
      context.fillStyle = context.strokeStyle = color;
      context.lineWidth = 1.4;
      if (shape === "circle") { context.beginPath(); context.arc(x, y, r, 0, 6.2832); if (hollow) context.stroke(); else context.fill(); return; }
      const path = new Path2D(shapePath(shape, x, y, r));
      if (hollow) context.stroke(path); else context.fill(path);
    });
    return made;
  }

  svg(children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    Object.entries({ width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}`, "font-family": FONT, "aria-hidden": "true" }).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  }

  mount(box) {
    box.style.height = `${this.height}px`;
    box.replaceChildren(this.svg(this.under), ...(this.dots.length ? [this.canvas()] : []), ...(this.over.length ? [this.svg(this.over)] : []));
  }

  file() {
    const made = this.svg(this.under), back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    made.removeAttribute("aria-hidden");
    Object.entries({ width: "100%", height: "100%", fill: colors.paper }).forEach(([name, value]) => back.setAttribute(name, value));
    made.prepend(back);
    return new XMLSerializer().serializeToString(made);
  }

  // A plane with axes: returns what takes values to places. Ticks are [value, text] pairs.
  plane({ left, top, width, height, x, y, xTicks, yTicks, grid = true }) {
    const X = (v) => left + ((v - x[0]) / (x[1] - x[0] || 1)) * width, Y = (v) => top + height - ((v - y[0]) / (y[1] - y[0] || 1)) * height;
    (xTicks || []).forEach(([v, text]) => {
      if (grid) this.line(X(v), top, X(v), top + height, colors.grid);
      this.text(X(v), top + height + 16, text, { anchor: "middle", color: colors.soft });
    });
    (yTicks || []).forEach(([v, text]) => {
      if (grid) this.line(left, Y(v), left + width, Y(v), colors.grid);
      this.text(left - 8, Y(v) + 4, text, { anchor: "end", color: colors.soft });
    });
    return { X, Y };
  }
}

function ticks([low, high], most, words = (v) => minus(String(v))) {
  const rough = (high - low) / Math.max(1, most) || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999), out = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) { const at = Math.abs(v) < step * 1e-6 ? 0 : Number(v.toPrecision(10)); out.push([at, words(at)]); }
  return out;
}

/* Figures by the box they are drawn in: what they read of the state, how they are drawn, and their data. */

const figures = {};

function figure(id, keys, paint, lines) {
  const box = $(id);
  if (!box) return;
  const draw = () => {
    const pen = new Pen(box.clientWidth, false);
    figures[id].hit = paint(pen);
    pen.mount(box);
  };
  figures[id] = { paint, lines, draw };
  on(keys, draw);
}

function svgOf(id) {
  const pen = new Pen($(id).clientWidth, true);
  figures[id].paint(pen);
  return { pen, text: pen.file() };
}

function savePicture(id, kind) {
  const { pen, text } = svgOf(id), name = id.replace("-plot", "");
  if (kind === "svg") { download(`${name}.svg`, new Blob([text], { type: "image/svg+xml" })); return; }
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: String(2 * pen.width), height: String(2 * pen.height) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

// Numbers as an image of their own: an address that pictures and files can use.
function painted(values, width, height, colorOf) {
  const canvas = h("canvas", { width: String(width), height: String(height) }), context = canvas.getContext("2d"), image = context.createImageData(width, height);
  for (let i = 0; i < width * height; i += 1) image.data.set([...colorOf(values[i]), 255], 4 * i);
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const grayOf = ([low, high]) => (value) => { const gray = (255 * (value - low)) / (high - low || 1); return [gray, gray, gray]; };
const signOf = (most) => (value) => diverging(value / most).match(/\d+/g).map(Number);

// A bar from zero to a value between -most and most, with a whisker: lines that read at a glance.
function bar(value, most, { width = 150, whisker, color = colors.accent } = {}) {
  const pen = new Pen(200, false), X = (v) => width / 2 + (clamp(v, -most, most) / most) * (width / 2 - 3), strong = value < 0 ? [X(value), X(0)] : [X(0), X(value)];
  pen.rect(strong[0], 4, strong[1] - strong[0], 8, { fill: color });
  pen.line(X(0), 0, X(0), 16, colors.muted);
  if (whisker && Number.isFinite(whisker[0])) {
    pen.line(X(whisker[0]), 8, X(whisker[1]), 8, colors.ink, { "stroke-width": 1.2 });
    whisker.forEach((end) => pen.line(X(end), 5, X(end), 11, colors.ink, { "stroke-width": 1.2 }));
  }
  pen.width = width;
  pen.height = 16;
  return pen.svg(pen.under);
}
