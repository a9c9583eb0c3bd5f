/* Rows that are images: components, and an image put together from more and more of them. */

const pixels = data.images && {
  mean: unpack(data.images.mean), parts: data.images.components.map(unpack), originals: data.images.originals.map(unpack),
};

function rebuilt(scores, count) {
  const made = Float32Array.from(pixels.mean);
  for (let a = 0; a < count; a += 1) for (let i = 0; i < made.length; i += 1) made[i] += scores[a] * pixels.parts[a][i];
  return made;
}

// A row of the map, from the few scores that the page has of it.
function rebuiltFigure(i) {
  const scores = table.dims.map((_, j) => table.score(j)[i]), count = Math.min(scores.length, pixels.parts.length), made = rebuilt(scores, count);
  const shown = figure(`from ${count} numbers`, made, extent(made));
  shown.className = "thumb";
  return shown;
}

function drawImage() {
  const row = Number($("image-row").value), kept = Number($("image-count").value), original = pixels.originals[row], scores = data.images.scores[row];
  const limits = extent(original), made = rebuilt(scores, kept), steps = [1, 5, 15, 50].filter((count) => count <= pixels.parts.length);
  const error = Math.sqrt(made.reduce((sum, value, i) => sum + (value - original[i]) ** 2, 0) / made.length);
  paint($("image-rebuilt"), made, ...limits);
  $("image-strip").replaceChildren(
    figure("the mean", pixels.mean, limits), ...steps.map((count) => figure(`${count}`, rebuilt(scores, count), limits)), figure("original", original, limits),
  );
  const name = data.images.examples[row];
  $("image-words").textContent = `${name[0].toUpperCase()}${name.slice(1)} from ${kept} of ${data.images.count} numbers: off by ${number(error)} a pixel, ${percent(error / (limits[1] - limits[0] || 1))} of its range.`;
  return made;
}

function images() {
  document.querySelectorAll("canvas.eigenimage").forEach((canvas) => {
    const part = pixels.parts[Number(canvas.dataset.component)];
    if (part) paint(canvas, part, -largest(part), largest(part));
  });
  options($("image-row"), data.images.examples, 0);
  $("image-row").addEventListener("change", drawImage);
  $("image-count").addEventListener("input", drawImage);
  drawImage();
  csv.images = () => {
    const made = drawImage(), original = pixels.originals[Number($("image-row").value)], { width } = data.imageShape;
    save("image.csv", ["pixel row", "pixel column", "mean", "rebuilt", "original"], range(made.length).map((i) => [Math.floor(i / width), i % width, pixels.mean[i], made[i], original[i]]));
  };
  csv.weights = () => save("components.csv", ["pixel row", "pixel column", ...pixels.parts.map((_, j) => data.components[j])],
    range(pixels.mean.length).map((i) => [Math.floor(i / data.imageShape.width), i % data.imageShape.width, ...pixels.parts.map((part) => part[i])]));
}
