/* The page's data, packed (see report/contents.py), and small helpers. Names are only ever set as text. */

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

function unpack(packed) {
  if (packed.f32 !== undefined) return new Float32Array(bytes(packed.f32));
  if (packed.f64 !== undefined) return new Float64Array(bytes(packed.f64));
  if (packed.i32 !== undefined) return new Int32Array(bytes(packed.i32));
  if (packed.u8 !== undefined) return new Uint8Array(bytes(packed.u8));
  const unit = (packed.high - packed.low) / 65535;
  return Float32Array.from(new Uint16Array(bytes(packed.u16)), (step) => packed.low + unit * step);
}

const columnOf = (flat, rows, j) => flat.subarray(j * rows, (j + 1) * rows);
const range = (count) => Array.from({ length: Math.max(0, count) }, (_, i) => i);
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
const minus = (text) => text.replace("-", "−");
const number = (value) => (Number.isFinite(value) ? minus(String(Number(value.toPrecision(4)))) : "missing");
const signed = (value, digits = 1) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
const count = (value) => value.toLocaleString("en");
const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);

// Whole percents, with digits more near both ends, so that a part is neither 0% nor 100%: the rule of analysis/findings.py.
function percent(share) {
  const least = share >= 0.0995 && share <= 0.985 ? 0 : 1, told = (n) => ![0, 100].includes(Number((100 * share).toFixed(n)));
  const digits = share > 0 && share < 1 ? range(5).slice(least).find((n) => told(n)) ?? least : least;
  return `${(100 * share).toFixed(digits)}%`;
}

function extent(values, members) {
  let low = Infinity, high = -Infinity;
  const see = (value) => { if (value < low) low = value; if (value > high) high = value; };
  if (members) members.forEach((i) => see(values[i])); else values.forEach(see);
  return low <= high ? [low, high] : [0, 1];
}

function quantile(sorted, q) {
  const at = q * (sorted.length - 1), low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

// An element with attributes, listeners (functions) and children; text is text, never markup.
function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  });
  made.append(...children.filter((child) => child !== undefined && child !== null && child !== ""));
  return made;
}

function fill(select, names, chosen) {
  select.replaceChildren(...names.map((name, i) => h("option", { value: String(i) }, name)));
  select.value = String(chosen);
}

/* CSV files: text that a spreadsheet would take for a formula gets an apostrophe; numbers stay numbers. */

function cell(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = String(value ?? ""), safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function saveLines(name, header, lines) {
  const text = [header, ...lines].map((line) => line.map(cell).join(",")).join("\r\n");
  download(`${name}.csv`, new Blob([`${text}\r\n`], { type: "text/csv" }));
}
