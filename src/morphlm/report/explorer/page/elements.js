/* Small pieces that all tabs are made of. Whatever comes from a model or a person is set as text, never as HTML. */

export const LABELS = { PRE: "prefix", STM: "stem", SUF: "suffix" };

export const byId = (id) => document.getElementById(id);

export function make(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "click") made.addEventListener("click", value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (className, content, click, more) =>
  make("button", { type: "button", class: className, click, ...more }, content);
export const number = (value, digits = 0) =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

export function probability(value) {
  if (value >= 0.0995) return value.toFixed(2);
  if (value >= 0.0001) return String(Number(value.toPrecision(2)));
  return value > 0 ? value.toExponential(1).replace("e-", "e−") : "0";
}

export function setStatus(name, text, isError) {
  const line = byId(`${name}-status`);
  line.textContent = text;
  line.classList.toggle("is-error", Boolean(isError));
}

export const sentenceCase = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

export function ordinal(value) {
  const tail = value % 100;
  const ending = tail > 10 && tail < 14 ? "th" : ["th", "st", "nd", "rd"][value % 10] || "th";
  return `${number(value)}${ending}`;
}

export function ranking(entries, go, show = (value) => value.toFixed(2)) {
  return make(
    "ol",
    { class: "ranking" },
    entries.map(([name, value]) =>
      make(
        "li",
        {},
        go && name !== "</s>" ? button("link", shownName(name), () => go(name)) : make("span", {}, endName(name)),
        make("progress", { class: "bar", max: 1, value: Math.max(0, value), "aria-hidden": "true" }),
        make("span", { class: "value" }, show(value)),
      ),
    ),
  );
}

export function rankingCard(title, entries, go) {
  const shown = ranking(entries.map((entry) => [entry.name, entry.similarity]), go);
  return make("section", { class: "card" }, make("h3", {}, title), shown);
}

// A morpheme's label is set apart from its form; words have none.
export function shownName(name) {
  const cut = name.lastIndexOf("/");
  const label = cut > 0 ? LABELS[name.slice(cut + 1)] : null;
  return label ? [name.slice(0, cut), " ", make("small", {}, label)] : name;
}

export const endName = (name) => (name === "</s>" ? "end of the sentence" : name);
