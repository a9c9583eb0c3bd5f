/* Rows that are images: components, and an image put together from more and more of them. */

const pixels = data.images && { mean: unpack(data.images.mean), parts: data.images.components.map(unpack), originals: (data.images.originals || []).map(unpack) };

function rebuilt(scores, kept) {
  const made = Float32Array.from(pixels.mean);
  for (let a = 0; a < Math.min(kept, pixels.parts.length, scores.length); a += 1) for (let i = 0; i < made.length; i += 1) made[i] += scores[a] * pixels.parts[a][i];
  return made;
}

const asImage = (values, colorOf) => painted(values, data.imageShape.width, data.imageShape.height, colorOf);

function rebuiltImage(scores, kept) {
  const made = rebuilt(scores, kept);
  return asImage(made, grayOf(extent(made)));
}

// Pictures side by side, with their captions under them: [{ href, text, pale, strong }].
function paintStrip(pen, items, least) {
  const across = clamp(Math.floor(pen.width / least), 2, 8), w = (pen.width - (across - 1) * 12) / across, tall = (w * data.imageShape.height) / data.imageShape.width, each = tall + 30;
  items.forEach(({ href, text, pale, strong }, at) => {
    const x = (at % across) * (w + 12), y = Math.floor(at / across) * each;
    pen.image(x, y, w, tall, href, text, { opacity: pale ? 0.45 : 1 });
    if (strong) pen.rect(x - 1, y - 1, w + 2, tall + 2, { fill: "none", stroke: colors.ink, "stroke-width": 2 });
    pen.text(x + w / 2, y + tall + 17, fitted(text, w), { anchor: "middle", color: pale ? colors.soft : colors.ink, weight: strong ? 700 : 400 });
  });
  pen.height = Math.ceil(items.length / across) * each;
  return { across, w, each };
}

const PAGE_OF_PARTS = 16;

function paintParts(pen) {
  const first = Math.floor(state.component / PAGE_OF_PARTS) * PAGE_OF_PARTS, shown = range(pixels.parts.length).slice(first, first + PAGE_OF_PARTS);
  const grid = paintStrip(pen, shown.map((j) => ({ href: asImage(pixels.parts[j], signOf(largest(pixels.parts[j]))), text: titled(j), pale: j >= state.cut, strong: j === state.component })), narrow() ? 90 : 130);
  $("parts-plot").setAttribute("aria-label", `${listed(shown.map((j) => data.components[j]))} as images.`);
  return { ...grid, first };
}

function paintImage(pen) {
  const row = Number($("image-row").value), kept = Number($("image-count").value), original = pixels.originals[row], scores = data.images.scores[row], limits = extent(original);
  const made = rebuilt(scores, kept), error = Math.sqrt(made.reduce((sum, value, i) => sum + (value - original[i]) ** 2, 0) / made.length), name = data.images.examples[row], gray = grayOf(limits);
  const steps = [1, 5, 15, 50].filter((k) => k <= pixels.parts.length && k !== kept);
  paintStrip(pen, [{ href: asImage(made, gray), text: `from ${counted(kept, "number")}`, strong: true }, { href: asImage(pixels.mean, gray), text: "the mean" },
    ...steps.map((k) => ({ href: asImage(rebuilt(scores, k), gray), text: `${k}` })), { href: asImage(original, gray), text: "original" }], narrow() ? 90 : 140);
  $("image-words").textContent = `${name[0].toUpperCase()}${name.slice(1)} from ${kept} of ${data.images.count} numbers: off by ${number(error)} a pixel, ${percent(error / (limits[1] - limits[0] || 1))} of its range.`;
}

function startImages() {
  if (!pixels) return;
  const { width } = data.imageShape, spots = (i) => [Math.floor(i / width), i % width];
  pager("parts", pixels.parts.length);
  figure("parts-plot", ["cut", "component"], paintParts, () => ["components", ["pixel row", "pixel column", ...pixels.parts.map((_, j) => data.components[j])], range(pixels.mean.length).map((i) => [...spots(i), ...pixels.parts.map((part) => part[i])])]);
  $("parts-plot").addEventListener("click", (event) => {
    const box = $("parts-plot").getBoundingClientRect(), { across, w, each, first } = figures["parts-plot"].hit;
    set({ component: clamp(first + Math.floor((event.clientY - box.top) / each) * across + Math.floor((event.clientX - box.left) / (w + 12)), 0, pixels.parts.length - 1) });
  });
  if (!$("image-plot")) return;
  fill($("image-row"), data.images.examples, 0);
  figure("image-plot", [], paintImage, () => {
    const row = Number($("image-row").value), made = rebuilt(data.images.scores[row], Number($("image-count").value));
    return ["image", ["pixel row", "pixel column", "mean", "rebuilt", "original"], range(made.length).map((i) => [...spots(i), pixels.mean[i], made[i], pixels.originals[row][i]])];
  });
  $("image-row").addEventListener("change", () => figures["image-plot"].draw());
  $("image-count").addEventListener("input", () => figures["image-plot"].draw());
  on(["cut"], () => { if (state.cut !== data.kept) { $("image-count").value = String(state.cut); figures["image-plot"].draw(); } });
}
