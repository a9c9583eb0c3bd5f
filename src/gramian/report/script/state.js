/* One state. A figure, sentence or table says which parts of it it reads, and is drawn again when one of them changes. */

const state = {
  cut: data.kept, // components kept
  x: 0, y: Math.min(1, data.components.length - 1), // axes of the map and of the circle
  component: 0, // of the table, the strips and the images
  color: 0, hidden: new Set(), // what colors the rows; groups that are not shown
  picked: new Set(), why: "", current: -1, // rows picked, by what; the row that is read
  query: "", names: true, ellipses: true, arrows: false, thumbs: false, lasso: true, view: null,
  theme: "", width: 0, // of the screen
};

const readers = [];

function on(keys, read) {
  readers.push({ keys: new Set([...keys, "theme", "width"]), read });
}

function set(patch) {
  const changed = Object.keys(patch).filter((key) => state[key] !== patch[key]);
  Object.assign(state, patch);
  readers.filter(({ keys }) => changed.some((key) => keys.has(key))).forEach(({ read }) => read());
}

const cuts = Object.keys(data.cuts).map(Number).sort((a, b) => a - b);
const now = () => data.cuts[state.cut];
const nearestCut = (k) => cuts.reduce((best, other) => (Math.abs(other - k) < Math.abs(best - k) ? other : best));
const stepCut = (by) => set({ cut: cuts[clamp(cuts.indexOf(state.cut) + by, 0, cuts.length - 1)] });
const titled = (j) => `${data.components[j]} · ${percent(data.scree.shares[j])}`;
const pole = (j, side) => (data.poles && data.poles[j] ? data.poles[j][side] : []);
