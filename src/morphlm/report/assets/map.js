"use strict";

/* The map of morphemes: one function, no libraries, no requests.

   morphemeMap(container, points, options) draws into an empty element and returns an object with
     highlight(names)      shows these morphemes and dims the others; an empty list shows all again
     mark(x, y, label)     puts a labelled mark on the map, e.g. where a word lies; `unmark()` takes all marks away
     select(name)          tells about a morpheme below the map, as clicking on it does; `select(null)` stops it
     search(text)          as typing into the search box does; returns the names that match
     show(names)           zooms so that these morphemes fill the map
     reset()               the whole map again
     view()                {scale, x, y}: how far it is zoomed, and what is at its left top, as shares of the map
   points: [{name, form, label, words, examples: [...], x, y, near: [[name, cosine], ...]}], x and y within [0, 1].
   options: {label: accessible name, onSelect: function (point or null)}

   All texts are set as text, never as HTML; styles are classes of style.css, so no inline style is needed. */
function morphemeMap(container, points, options = {}) {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = 28;
  const MAX_SCALE = 40;
  const REACH = 18; // how near, in pixels, the pointer has to be to a point
  const SYMBOLS = [
    "M-5,0 L4,-5 L4,5 Z", // prefixes point to the left
    "M-4.5,0 A4.5,4.5 0 1 0 4.5,0 A4.5,4.5 0 1 0 -4.5,0 Z",
    "M-4,-4 H4 V4 H-4 Z",
    "M0,-5.5 L5.5,0 L0,5.5 L-5.5,0 Z",
    "M-5,4 L0,-5 L5,4 Z",
    "M-5,-4 L5,-4 L0,5 Z",
  ];
  const USUAL_LABELS = ["PRE", "STM", "SUF"];
  const LABEL_NAMES = { PRE: "prefix", STM: "stem", SUF: "suffix" };

  const byName = new Map(points.map((point) => [point.name, point]));
  const labels = [...new Set(points.map((point) => point.label || ""))];
  const kinds = [
    ...USUAL_LABELS.filter((label) => labels.includes(label)),
    ...labels.filter((label) => !USUAL_LABELS.includes(label)),
  ];
  // Prefixes, stems and suffixes keep their colour and shape, whichever of them are on the map.
  const kindOf = (label) => {
    const usual = USUAL_LABELS.indexOf(label);
    if (usual >= 0) return usual;
    return 3 + (kinds.filter((kind) => !USUAL_LABELS.includes(kind)).indexOf(label || "") % (SYMBOLS.length - 3));
  };

  let width = 0;
  let height = 0;
  let view = { scale: 1, x: 0, y: 0 };
  let highlighted = null; // null: all
  let matches = null; // of the search; null: there is none
  let nextMatch = 0;
  let chosen = null;
  let hovered = null;
  let engaged = false; // whether the person is at the map: the wheel scrolls the page otherwise
  let scrolledAt = -Infinity;
  let frame = 0;
  const marks = [];

  // ---------------------------------------------------------------- elements

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function svgElement(tag, attributes = {}) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  function button(sign, title, action) {
    const made = element("button", "", sign);
    made.type = "button";
    made.title = title;
    made.setAttribute("aria-label", title);
    made.addEventListener("click", action);
    return made;
  }

  const controls = element("div", "controls");
  const searchBox = element("input", "map-search");
  searchBox.type = "search";
  searchBox.placeholder = "Find a morpheme or a word";
  searchBox.setAttribute("aria-label", "Find a morpheme, or an example word, on the map");
  searchBox.autocomplete = "off";
  searchBox.spellcheck = false;
  const status = element("span", "muted map-status");
  status.setAttribute("role", "status");
  const buttons = element("div", "map-buttons");
  buttons.append(
    button("+", "Zoom in", () => zoomBy(1.6)),
    button("\u2212", "Zoom out", () => zoomBy(1 / 1.6)),
    button("\u27f2", "Show the whole map", reset),
  );
  controls.append(searchBox, buttons, status);

  const area = element("div", "map-area");
  const svg = svgElement("svg", { tabindex: "0", role: "application" });
  svg.setAttribute(
    "aria-label",
    `${options.label || "Map of morphemes"}. Arrow keys go from morpheme to morpheme, plus and minus zoom, 0 shows all.`,
  );
  const pointLayer = svgElement("g");
  const labelLayer = svgElement("g"); // above all points, so that none covers a label
  const markLayer = svgElement("g");
  svg.append(pointLayer, labelLayer, markLayer);
  area.append(svg);

  const legend = element("ul", "legend map-legend");
  if (kinds.length > 1 && kinds.length <= SYMBOLS.length) legend.append(...kinds.map(legendEntry));
  const details = element("div", "map-details");
  details.setAttribute("aria-live", "polite");
  container.classList.add("map");
  container.append(controls, area, legend, details);

  function legendEntry(label) {
    const entry = element("li");
    const sample = svgElement("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" });
    sample.append(symbol(label));
    entry.append(sample, element("span", "", LABEL_NAMES[label] || label || "other"));
    return entry;
  }

  function symbol(label) {
    const kind = kindOf(label);
    return svgElement("path", { d: SYMBOLS[kind], class: `map-symbol kind-${kind + 1}` });
  }

  // Frequent morphemes are drawn last, above the others, and get their labels first.
  const drawn = points.map((point) => {
    const group = svgElement("g", { class: "map-point" });
    const text = svgElement("text", { class: "map-label" });
    text.textContent = point.form || point.name;
    group.append(symbol(point.label));
    group.dataset.name = point.name;
    text.dataset.name = point.name;
    return { point, group, text, textWidth: 0, x: 0, y: 0 };
  });
  drawn.sort((a, b) => b.point.words - a.point.words || (a.point.name < b.point.name ? -1 : 1));
  for (const entry of [...drawn].reverse()) {
    pointLayer.append(entry.group);
    labelLayer.append(entry.text);
  }
  const drawnByName = new Map(drawn.map((entry) => [entry.point.name, entry]));

  // ---------------------------------------------------------------- drawing

  const plotWidth = () => Math.max(1, width - 2 * MARGIN);
  const plotHeight = () => Math.max(1, height - 2 * MARGIN);
  // The view is in shares of the rectangle that holds all points, so that they fill the whole area.
  const bounds = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return high > low ? { low, size: high - low } : { low: low - 0.5, size: 1 };
  };
  const across = bounds(points.map((point) => point.x));
  const down = bounds(points.map((point) => point.y));
  const shareX = (x) => (x - across.low) / across.size;
  const shareY = (y) => (y - down.low) / down.size;
  const toScreen = (x, y) => [
    MARGIN + (shareX(x) - view.x) * view.scale * plotWidth(),
    MARGIN + (shareY(y) - view.y) * view.scale * plotHeight(),
  ];
  const toView = (sx, sy) => [
    view.x + (sx - MARGIN) / (view.scale * plotWidth()),
    view.y + (sy - MARGIN) / (view.scale * plotHeight()),
  ];

  function schedule() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    if (!width) return;
    const shown = visibleNames();
    for (const entry of drawn) {
      [entry.x, entry.y] = toScreen(entry.point.x, entry.point.y);
      entry.group.setAttribute("transform", `translate(${entry.x.toFixed(1)},${entry.y.toFixed(1)})`);
      const lit = shown !== null && shown.has(entry.point.name);
      const classes = [];
      if (shown !== null) classes.push(lit ? "lit" : "dimmed");
      if (entry.point.name === chosen || entry.point.name === hovered) classes.push("chosen");
      entry.group.setAttribute("class", ["map-point", ...classes].join(" "));
      entry.text.setAttribute("class", ["map-label", ...classes].join(" "));
    }
    placeLabels(shown, drawMarks());
    svg.setAttribute("data-scale", view.scale.toFixed(3));
    svg.style.touchAction = view.scale > 1.001 ? "none" : "pan-y";
  }

  function visibleNames() {
    if (matches !== null) return new Set(matches);
    return highlighted;
  }

  // As many labels as fit: one that would cover another, or a symbol, is left out until the map is zoomed.
  function placeLabels(shown, marked) {
    const important = (entry) =>
      (entry.point.name === chosen || entry.point.name === hovered ? 4 : 0) + (shown && shown.has(entry.point.name) ? 2 : 0);
    const order = drawn.map((entry, place) => [important(entry), place, entry]);
    order.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const taken = boxIndex();
    for (const box of marked) taken.add(box, null);
    for (const entry of drawn) {
      if (!shown || shown.has(entry.point.name)) taken.add(symbolBox(entry), entry);
    }
    for (const [rank, , entry] of order) {
      const inside = entry.x > -20 && entry.x < width + 20 && entry.y > -10 && entry.y < height + 10;
      const place = inside && !(shown && !rank) ? freePlace(entry, taken, rank >= 4) : null;
      entry.text.setAttribute("visibility", place ? "visible" : "hidden");
      if (!place) continue;
      entry.text.setAttribute("x", place.x.toFixed(1));
      entry.text.setAttribute("y", place.y.toFixed(1));
      taken.add(place.box, entry);
    }
  }

  const symbolBox = ({ x, y }) => [x - 5, y - 5, x + 5, y + 5];

  // Beside the symbol, else above or below it; what is pointed at has its label in any case.
  function freePlace(entry, taken, always) {
    const size = textWidth(entry);
    const places = [[8, 0], [-8 - size, 0], [-size / 2, -13], [-size / 2, 13], [6, -10], [6, 10], [-6 - size, -10], [-6 - size, 10]];
    const boxes = places.map(([dx, dy]) => [entry.x + dx - 1, entry.y + dy - 8, entry.x + dx + size + 1, entry.y + dy + 8]);
    const fits = (box) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height;
    const box = boxes.find((each) => fits(each) && taken.isFree(each, entry)) || (always ? boxes.find(fits) || boxes[0] : null);
    return box ? { x: box[0] + 1, y: box[1] + 12, box } : null;
  }

  // Boxes by the cells that they touch, so that each is compared with its neighbourhood only.
  function boxIndex() {
    const CELL = 48;
    const cells = new Map();
    function* touched(box) {
      for (let column = Math.floor(box[0] / CELL); column <= Math.floor(box[2] / CELL); column += 1) {
        for (let row = Math.floor(box[1] / CELL); row <= Math.floor(box[3] / CELL); row += 1) yield `${column},${row}`;
      }
    }
    const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
    return {
      add(box, owner) {
        for (const cell of touched(box)) {
          if (!cells.has(cell)) cells.set(cell, []);
          cells.get(cell).push([box, owner]);
        }
      },
      isFree(box, owner) {
        for (const cell of touched(box)) {
          if ((cells.get(cell) || []).some(([other, by]) => by !== owner && overlap(box, other))) return false;
        }
        return true;
      },
    };
  }

  function textWidth(entry) {
    if (!entry.textWidth) entry.textWidth = entry.text.getComputedTextLength();
    return entry.textWidth;
  }

  // Draws the marks, and returns the boxes that their names take.
  function drawMarks() {
    markLayer.replaceChildren();
    return marks.flatMap((mark) => {
      const [x, y] = toScreen(mark.x, mark.y);
      const group = svgElement("g", { class: "map-mark", transform: `translate(${x.toFixed(1)},${y.toFixed(1)})` });
      group.append(svgElement("path", { d: "M-9,0 A9,9 0 1 0 9,0 A9,9 0 1 0 -9,0 M-14,0 H-5 M5,0 H14 M0,-14 V-5 M0,5 V14" }));
      const left = x > width * 0.7;
      const text = svgElement("text", { x: left ? -16 : 16, y: -8, "text-anchor": left ? "end" : "start" });
      text.textContent = mark.label;
      group.append(text);
      markLayer.append(group);
      const size = text.getComputedTextLength();
      const from = x + (left ? -16 - size : 16);
      return [[x - 14, y - 14, x + 14, y + 14], [from - 2, y - 22, from + size + 2, y - 2]];
    });
  }

  // ---------------------------------------------------------------- zooming and panning

  function setView(scale, x, y) {
    const clamped = Math.min(MAX_SCALE, Math.max(1, scale));
    const span = 1 / clamped;
    view = { scale: clamped, x: clamp(x, 0, 1 - span), y: clamp(y, 0, 1 - span) };
    schedule();
  }

  function clamp(value, low, high) {
    return Math.min(Math.max(value, low), Math.max(low, high));
  }

  function zoomBy(factor, sx = width / 2, sy = height / 2) {
    const scale = Math.min(MAX_SCALE, Math.max(1, view.scale * factor));
    const [x, y] = toView(sx, sy); // stays under the pointer
    setView(scale, x - (sx - MARGIN) / (scale * plotWidth()), y - (sy - MARGIN) / (scale * plotHeight()));
  }

  function reset() {
    setView(1, 0, 0);
  }

  function show(names) {
    const found = names.map((name) => byName.get(name)).filter(Boolean);
    if (!found.length) return;
    const xs = found.map((point) => shareX(point.x));
    const ys = found.map((point) => shareY(point.y));
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = clamp(0.8 / Math.max(right - left, bottom - top, 0.8 / 8), 1, 8);
    setView(scale, (left + right) / 2 - 0.5 / scale, (top + bottom) / 2 - 0.5 / scale);
  }

  function centre(point) {
    setView(view.scale, shareX(point.x) - 0.5 / view.scale, shareY(point.y) - 0.5 / view.scale);
  }

  function panBy(dx, dy) {
    setView(view.scale, view.x - dx / (view.scale * plotWidth()), view.y - dy / (view.scale * plotHeight()));
  }

  function place(event) {
    const box = svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  svg.addEventListener(
    "wheel",
    (event) => {
      const pinch = event.ctrlKey; // so a trackpad tells it
      const factor = Math.exp(-clamp(event.deltaY * (event.deltaMode === 1 ? 20 : 1), -120, 120) * (pinch ? 0.01 : 0.0025));
      const stuck = (factor < 1 && view.scale <= 1) || (factor > 1 && view.scale >= MAX_SCALE);
      if (!pinch && (!engaged || stuck)) return; // the page scrolls
      event.preventDefault();
      zoomBy(factor, ...place(event));
    },
    { passive: false },
  );
  window.addEventListener("scroll", scrolled, { passive: true });

  function scrolled() {
    engaged = false;
    scrolledAt = performance.now();
  }

  const pointers = new Map();
  let moved = 0;

  svg.addEventListener("pointerdown", (event) => {
    engaged = true;
    moved = pointers.size ? REACH : 0;
    pointers.set(event.pointerId, place(event));
    svg.setPointerCapture(event.pointerId);
    svg.classList.add("dragging");
  });

  svg.addEventListener("pointermove", (event) => {
    if (performance.now() - scrolledAt > 200) engaged = true; // not only the page that moved under a pointer at rest
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      hover(nearestTo(now));
      return;
    }
    if (pointers.size === 2) pinch(event.pointerId, before, now);
    else panBy(now[0] - before[0], now[1] - before[1]);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    pointers.set(event.pointerId, now);
  });

  function pinch(id, before, now) {
    const other = [...pointers].find(([key]) => key !== id)[1];
    const distance = (a, b) => Math.max(10, Math.hypot(a[0] - b[0], a[1] - b[1]));
    panBy((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    zoomBy(distance(now, other) / distance(before, other), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  function released(event) {
    if (!pointers.delete(event.pointerId)) return;
    if (!pointers.size) svg.classList.remove("dragging");
    if (event.type === "pointerup" && moved < 5) {
      const found = nearestTo(place(event));
      select(found && found.point.name);
    }
  }
  svg.addEventListener("pointerup", released);
  svg.addEventListener("pointercancel", released);
  svg.addEventListener("pointerleave", () => {
    engaged = false;
    hover(null);
  });

  function nearestTo([sx, sy]) {
    const shown = visibleNames();
    let best = null;
    let least = REACH;
    for (const entry of drawn) {
      if (shown && !shown.has(entry.point.name)) continue;
      const distance = Math.hypot(entry.x - sx, entry.y - sy);
      if (distance < least) [best, least] = [entry, distance];
    }
    return best;
  }

  // ---------------------------------------------------------------- telling about a morpheme

  function hover(entry) {
    const name = entry ? entry.point.name : null;
    if (name === hovered) return;
    hovered = name;
    tell();
    schedule();
  }

  function select(name) {
    chosen = byName.has(name) ? name : null;
    hovered = null;
    tell();
    schedule();
    if (options.onSelect) options.onSelect(chosen === null ? null : byName.get(chosen));
  }

  function tell() {
    const point = byName.get(hovered === null ? chosen : hovered);
    details.replaceChildren(...(point ? about(point) : [element("p", "muted", "Point at a morpheme to read about it.")]));
  }

  function about(point) {
    const title = element("p");
    title.append(element("strong", "map-name", point.form || point.name));
    const label = LABEL_NAMES[point.label] || point.label;
    const words = `in ${point.words.toLocaleString("en-US")} word${point.words === 1 ? "" : "s"}`;
    title.append(element("span", "muted", ` ${[label, words].filter(Boolean).join(", ")}`));
    const lines = [title];
    if (point.examples && point.examples.length) lines.push(examples(point.examples));
    if (point.near && point.near.length) lines.push(nearest(point.near));
    return lines;
  }

  function examples(words) {
    const line = element("p", "", "For example: ");
    words.forEach((word, at) => line.append(at ? ", " : "", element("bdi", "", word))); // each in its own direction
    return line;
  }

  function nearest(near) {
    const line = element("p", "", "Nearest: ");
    near.forEach(([name, cosine], at) => {
      if (at) line.append(", ");
      if (byName.has(name)) {
        const link = element("button", "link", name);
        link.type = "button";
        link.addEventListener("click", () => goTo(name));
        line.append(link);
      } else line.append(name);
      line.append(element("span", "muted", ` ${cosine.toFixed(2)}`));
    });
    return line;
  }

  function goTo(name) {
    const point = byName.get(name);
    const [sx, sy] = toScreen(point.x, point.y);
    if (sx < 0 || sx > width || sy < 0 || sy > height) centre(point);
    select(name);
  }

  // ---------------------------------------------------------------- the keyboard

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) step(...STEPS[event.key]);
    else if (event.key === "+" || event.key === "=") zoomBy(1.6);
    else if (event.key === "-") zoomBy(1 / 1.6);
    else if (event.key === "0") reset();
    else if (event.key === "Escape") select(null);
    else return;
    event.preventDefault();
  });

  // To the nearest morpheme in that direction, where going sideways counts twice.
  function step(dx, dy) {
    const from = drawnByName.get(chosen) || { x: width / 2 - dx, y: height / 2 - dy };
    let best = null;
    let least = Infinity;
    for (const entry of drawn) {
      const along = (entry.x - from.x) * dx + (entry.y - from.y) * dy;
      const aside = Math.abs((entry.x - from.x) * dy + (entry.y - from.y) * dx);
      if (along > 0.5 && along + 2 * aside < least) [best, least] = [entry, along + 2 * aside];
    }
    if (best) goTo(best.point.name);
  }

  // ---------------------------------------------------------------- searching

  const plain = (text) => text.normalize("NFC").toLowerCase();

  function search(text) {
    const wanted = plain(text.trim());
    nextMatch = 0;
    matches = wanted ? found(wanted) : null;
    const many = matches === null ? 0 : matches.length;
    if (matches === null) status.textContent = "";
    else if (!many) status.textContent = "nothing found";
    else status.textContent = `${many} of ${points.length}; Enter goes through them`;
    schedule();
    return matches || [];
  }

  // Morphemes with that name; else those that contain it; else those with such an example.
  function found(wanted) {
    const those = (test) => points.filter(test).map((point) => point.name);
    const containing = those((point) => plain(point.name).includes(wanted));
    if (containing.length) {
      const exact = new Set(those((point) => plain(point.form || point.name) === wanted));
      return [...containing.filter((name) => exact.has(name)), ...containing.filter((name) => !exact.has(name))];
    }
    return those((point) => (point.examples || []).some((word) => plain(word).includes(wanted)));
  }

  searchBox.addEventListener("input", () => search(searchBox.value));
  searchBox.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      searchBox.value = "";
      search("");
    } else if (event.key === "Enter" && matches && matches.length) {
      goTo(matches[nextMatch % matches.length]);
      nextMatch += 1;
      event.preventDefault();
    }
  });

  // ---------------------------------------------------------------- the size

  function resize() {
    const now = area.clientWidth;
    if (!now || now === width) return;
    width = now;
    // What is told below the map should be in the window with it.
    height = Math.round(Math.max(340, Math.min(760, width * 0.62, window.innerHeight - 200)));
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    schedule();
  }
  new ResizeObserver(resize).observe(area);
  resize();
  tell();

  return {
    element: container,
    highlight(names) {
      highlighted = names && names.length ? new Set(names) : null;
      schedule();
    },
    mark(x, y, label) {
      marks.push({ x, y, label: label || "" });
      schedule();
    },
    unmark() {
      marks.length = 0;
      schedule();
    },
    select,
    search(text) {
      searchBox.value = text;
      return search(text);
    },
    show,
    reset,
    view: () => ({ ...view }),
  };
}
