/* The words at the top, contents, files, and the first drawing of everything. */

function startScreen() {
  const theme = () => { readColors(); set({ theme: dark() ? "dark" : "light" }); };
  theme();
  state.width = window.innerWidth;
  document.addEventListener("theme", theme);
  window.addEventListener("resize", () => { openContents(); set({ width: window.innerWidth }); });
}

// Contents stand open at the side of a wide screen, and are a menu on a narrow one.
function openContents() {
  const wide = matchMedia("(min-width: 70rem)").matches, menu = $("contents");
  if (menu.dataset.wide === String(wide)) return;
  menu.dataset.wide = String(wide);
  menu.open = wide;
}

function startContents() {
  openContents();
  $("contents").addEventListener("click", (event) => { if (event.target.tagName === "A" && $("contents").dataset.wide === "false") $("contents").open = false; });
  const links = new Map([...document.querySelectorAll("#contents a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    if (!isIntersecting) return;
    links.forEach((link) => link.removeAttribute("aria-current"));
    links.get(target.id).setAttribute("aria-current", "true");
  }), { rootMargin: "-10% 0px -75% 0px" });
  links.forEach((_, id) => seen.observe($(id)));
  document.querySelectorAll('a[href^="#"]').forEach((link) => link.addEventListener("click", () => reveal(link.hash.slice(1))));
}

function reveal(id) {
  const folded = $(id) && $(id).closest("details");
  if (folded) folded.open = true;
}

function startWords() {
  on(["cut"], () => {
    const { said, figures: shown } = now();
    $("lead").textContent = said[0].text;
    $("findings").replaceChildren(...said.slice(1).map(({ text, kind }) => h("li", { class: kind }, text)));
    $("numbers").replaceChildren(...shown.map(([value, what, remark, to]) => h($(to) ? "a" : "div", $(to) ? { href: `#${to}`, click: () => reveal(to) } : {}, h("strong", {}, value), h("span", {}, what), h("small", {}, remark))));
    if ($("cut-count")) {
      $("cut-count").textContent = String(state.cut);
      $("cut-less").disabled = state.cut === cuts[0];
      $("cut-more").disabled = state.cut === cuts[cuts.length - 1];
    }
  });
  if (!$("cut-count")) return;
  $("cut-less").addEventListener("click", () => stepCut(-1));
  $("cut-more").addEventListener("click", () => stepCut(1));
}

function startFiles() {
  document.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", () => {
    const { save, of } = button.dataset;
    if (save === "csv") saveLines(...figures[of].lines()); else savePicture(of, save);
  }));
}

startScreen();
startContents();
startWords();
startMap();
startColumns();
startVariance();
startCheck();
startGroups();
startImages();
startSources();
startKernel();
startFiles();
readers.forEach(({ read }) => read());
window.gramian = { state, set, figures, svgOf, percent }; // for a console, and for tests
document.body.dataset.ready = "true";
