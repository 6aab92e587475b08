/* The page: an entry and four tabs that ask the API under /api and show its answers. Each is a module; this one holds them together.

   The address keeps what is looked at:
   nothing for the entry, #word=...&model=..., #sentence=..., #compare=BASELINE&other=..., #map=MORPHEME&model=... */

import { answer } from "./asking.js";
import { setUpComparison } from "./comparisons.js";
import { byId, make, number, plural } from "./elements.js";
import { chosenMorpheme, exploreMap } from "./maps.js";
import { exploreSentence } from "./sentences.js";
import { exploreStart } from "./start.js";
import { exploreWord } from "./words.js";

const TABS = ["start", "word", "sentence", "compare", "map"];
const MAX_WORD = 100;
const MAX_LINK = 1500; // characters of a text that goes into the address
const TEXTS = [
  ["raw", "as people write it"],
  ["tokenised", "tokenised: spaces between tokens"],
  ["prepared", "prepared like the models' own"],
];

export let models = [];
export let tab = "start";

// ---------------------------------------------------------------- the address

function readAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  const named = models.find((model) => model.name === values.get("model"));
  if (named) byId("model").value = named.name;
  const found = TABS.find((name) => values.has(name)) || "start";
  if (found === "word") byId("word").value = (values.get("word") || "").slice(0, MAX_WORD);
  if (found === "sentence") {
    byId("sentence").value = values.get("sentence");
    choose("sentence-is", values.get("is"), TEXTS.map(([name]) => name));
  }
  if (found === "compare") {
    choose("baseline", values.get("compare"), models.map((model) => model.name));
    choose("other", values.get("other"), models.map((model) => model.name));
  }
  showTab(found, found === "map" ? values.get("map") : "");
}

function choose(id, value, possible) {
  if (possible.includes(value)) byId(id).value = value;
}

function address() {
  const values = new URLSearchParams();
  if (tab === "start") return "";
  if (tab === "word") values.set("word", byId("word").value.trim());
  if (tab === "sentence") {
    values.set("sentence", byId("sentence").value.slice(0, MAX_LINK));
    if (byId("sentence-is").value !== "raw") values.set("is", byId("sentence-is").value);
  }
  if (tab === "compare") {
    values.set("compare", byId("baseline").value);
    values.set("other", byId("other").value);
  }
  if (tab === "map") values.set("map", chosenMorpheme);
  if (tab === "word" || tab === "map") values.set("model", byId("model").value);
  return `#${values}`;
}

// What is typed replaces the address; where a click leads can be gone back from.
export function keepAddress(isStep) {
  const now = address();
  if (now === location.hash) return;
  const place = now || location.pathname;
  if (isStep) history.pushState(null, "", place);
  else history.replaceState(null, "", place);
}

window.addEventListener("popstate", readAddress);

// ---------------------------------------------------------------- tabs

export function showTab(name, morpheme = "") {
  tab = name;
  for (const other of TABS) {
    const isShown = other === name;
    byId(`panel-${other}`).hidden = !isShown;
    byId(`tab-${other}`).setAttribute("aria-selected", String(isShown));
    byId(`tab-${other}`).tabIndex = isShown ? 0 : -1;
  }
  document.querySelector(".top-model").hidden = name === "compare" || models.length < 2;
  if (name === "start") exploreStart();
  if (name === "word") exploreWord();
  if (name === "sentence") exploreSentence();
  if (name === "map") exploreMap(morpheme);
  if (name === "compare") setUpComparison();
}

export function openTab(name) {
  showTab(name);
  keepAddress(true);
}

TABS.forEach((name, place) => {
  const own = byId(`tab-${name}`);
  own.addEventListener("click", () => openTab(name));
  own.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = step ? TABS[(place + step + TABS.length) % TABS.length] : { Home: TABS[0], End: TABS[TABS.length - 1] }[event.key];
    if (!to) return;
    event.preventDefault();
    openTab(to);
    byId(`tab-${to}`).focus();
  });
});

// ---------------------------------------------------------------- models

const modelNamed = (name) => models.find((model) => model.name === name);
export const currentModel = () => modelNamed(byId("model").value);

function fillModels() {
  for (const id of ["model", "baseline", "other"]) {
    byId(id).replaceChildren(...models.map((model) => make("option", { value: model.name }, model.name)));
  }
  const best = models.find((model) => model.morphemes) || models.find((model) => model.vectors) || models[0];
  byId("model").value = best.name;
  byId("other").value = (models.find((model) => model !== models[0] && model === best) || models[1] || models[0]).name;
  for (const select of document.querySelectorAll(".text-is")) {
    select.replaceChildren(...TEXTS.map(([value, text]) => make("option", { value }, text)));
  }
  byId("models").replaceChildren(...models.map(modelCard));
}

function modelCard(model) {
  const facts = [
    ["what it is", model.description],
    ["kind", model.kind],
    ["words", number(model.words)],
    ["order", String(model.order)],
    ["vectors", model.vectors ? `of ${plural(model.vectors, "number")}` : "none"],
    ["morphemes", model.morphemes ? number(model.morphemes) : "none"],
    ["new words", model.composes ? "composed of their morphemes" : "unknown"],
    ["classes", model.classes ? number(model.classes) : "none"],
    ["text", [model.tokeniser, model.normalisation].filter(Boolean).join(", ") || "no record of how it was prepared"],
  ];
  return make(
    "section",
    { class: "card" },
    make("h3", {}, model.name),
    make("dl", { class: "facts" }, facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    make("div", { class: "signature" }, model.signature),
  );
}

byId("model").addEventListener("change", () => {
  keepAddress(true);
  showTab(tab);
});

// ---------------------------------------------------------------- the start

async function start() {
  try {
    models = await answer(await fetch("/api/models"));
  } catch (error) {
    byId("trouble").textContent = `The models cannot be listed: ${error.message}`;
    byId("trouble").hidden = false;
    return;
  }
  fillModels();
  readAddress();
  if (tab === "start" || tab === "word") byId(tab).focus({ preventScroll: true });
}

start();
