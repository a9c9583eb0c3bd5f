/* Theme, files, copying, and the drawing of whatever the page has. */

function dark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function nameTheme() {
  $("theme").textContent = dark() ? "Light" : "Dark";
  $("theme").setAttribute("aria-pressed", String(dark()));
}

function drawAgain() {
  nameTheme();
  redraws.forEach((draw) => draw());
}

function theme() {
  $("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; drawAgain(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
  let wide = window.innerWidth;
  window.addEventListener("resize", () => {
    if (Math.abs(window.innerWidth - wide) < 40) return;
    wide = window.innerWidth;
    drawAgain();
  });
  nameTheme();
}

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

theme();
if (data.rows) rowMap(); else document.body.dataset.ready = "true";
variance();
if (data.traces) sources();
if (data.columns) columnMap();
if (data.outliers) outlierMap();
if (data.surfaces) surfaces();
if (data.preimages) preimages();
if (data.images) images();
if (data.weights) csv.weights = () => save("weights.csv", ["component", "column", "weight"], data.weights.lines);
document.querySelectorAll("[data-csv]").forEach((button) => button.addEventListener("click", () => csv[button.dataset.csv]()));
document.querySelectorAll(".copy").forEach((button) => button.addEventListener("click", () => copy(button)));
