/* Colors and type come from the style sheet, so that pictures follow the theme. */

const redraws = [];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const marks = () => range(6).map((i) => css(`--mark-${i + 1}`));
const shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x"];
const narrow = () => window.innerWidth < 720;
const FONT = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif";
const settings = { responsive: true, displaylogo: false, displayModeBar: false };

// Asked once: a browser gives out few such contexts.
const webgl = (() => {
  try { return Boolean(document.createElement("canvas").getContext("webgl")); } catch { return false; }
})();

function axis(title, more) {
  return {
    title: { text: escaped(title), standoff: 8 }, gridcolor: css("--grid"), zerolinecolor: css("--line"),
    linecolor: css("--line"), tickfont: { color: css("--soft") }, automargin: true, ...more,
  };
}

function layout(more) {
  return {
    font: { family: FONT, size: 13, color: css("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 56, r: 12, t: 12, b: 48 },
    hoverlabel: { bgcolor: css("--panel"), bordercolor: css("--line"), font: { color: css("--ink") } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent"), orientation: "v" },
    showlegend: false, ...more,
  };
}

function paint(canvas, values, low, high) {
  const { width, height } = data.imageShape;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  values.forEach((value, i) => {
    const gray = (255 * (value - low)) / (high - low || 1);
    image.data.set([gray, gray, gray, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
}

function figure(caption, values, [low, high]) {
  const made = element("figure"), canvas = element("canvas");
  paint(canvas, values, low, high);
  made.append(canvas, element("figcaption", caption));
  return made;
}
