/* What every page has: a theme to choose, and code that can be copied. */

const dark = () => { const asked = document.documentElement.dataset.theme; return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; };

function showTheme() {
  $("theme").textContent = dark() ? "Light" : "Dark";
  $("theme").setAttribute("aria-pressed", String(dark()));
  document.dispatchEvent(new Event("theme"));
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

showTheme();
$("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; showTheme(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
document.querySelectorAll(".copy").forEach((button) => button.addEventListener("click", () => copy(button)));
