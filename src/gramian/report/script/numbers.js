/* Numbers come packed (see report/contents.py); names are only ever set as text, or escaped where plotly reads tags. */

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

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
const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);
const titled = (j) => `${data.components[j]} (${percent(data.scree.shares[j])})`;

function extent(values) {
  let low = Infinity, high = -Infinity;
  values.forEach((value) => { low = Math.min(low, value); high = Math.max(high, value); });
  return [low, high];
}

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function options(select, names, chosen) {
  select.replaceChildren(...names.map((name, i) => {
    const option = element("option", name);
    option.value = String(i);
    return option;
  }));
  select.value = String(chosen);
}
