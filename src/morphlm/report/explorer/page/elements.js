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

// As the report writes it: 24 %, 3.2 %, 0.032 %.
export function probability(value) {
  if (value >= 0.0995) return `${Math.round(100 * value)} %`;
  if (value >= 0.0000995) return `${Number((100 * value).toPrecision(2))} %`;
  return value > 0 ? "< 0.01 %" : "0 %";
}

export const odds = (value) => (value > 0 && value < 0.0000995 ? `1 in ${number(Number((1 / value).toPrecision(2)))}` : probability(value));

// The direction of a text, by its first letter that has one.
export function direction(words) {
  const first = words.join(" ").match(/[\p{L}]/u);
  return first && /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u.test(first[0]) ? "rtl" : "ltr";
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

export function ranking(entries, go) {
  const rows = entries.map(([name, value]) => rankingRow(name, value, value.toFixed(2), go));
  return make("ol", { class: "ranking" }, rows);
}

// Bars are roots of probabilities, so that 3 % can be seen beside 90 %; style.css knows where the ticks are.
export function probabilities(entries, answer, go) {
  const row = (entry) => rankingRow(entry.word, Math.sqrt(entry.probability), probability(entry.probability), go, entry.word === answer);
  const ticks = make("span", { class: "ticks" }, ["1 %", "10 %", "50 %"].map((text) => make("span", {}, text)));
  return make("ol", { class: "ranking" }, entries.map(row), make("li", { class: "axis", "aria-hidden": "true" }, ticks));
}

function rankingRow(name, length, shown, go, isAnswer) {
  const canGo = go && name !== "</s>";
  return make(
    "li",
    { class: isAnswer ? "is-answer" : null },
    canGo ? button("link name", shownName(name), () => go(name), { dir: "auto" }) : make("span", { class: "name" }, endName(name)),
    make("progress", { class: "bar", max: 1, value: Math.max(0, length), "aria-hidden": "true" }),
    make("span", { class: "value" }, shown),
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
