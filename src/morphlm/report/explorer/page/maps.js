/* The tab of the map, and the map below a word. map.js draws it. */

import { answer, ask, cancel, query, sleep, updating } from "./asking.js";
import { byId, make, rankingCard, sentenceCase, setStatus } from "./elements.js";
import { currentModel, keepAddress, showTab, tab } from "./explorer.js";
import { partCard } from "./parts.js";
import { goToWord } from "./words.js";

const MAP_TEXT = "The most frequent morphemes: those that are used alike lie together. Choose one to see more.";

const maps = new Map(); // model -> promise of its points, or of the reason why there are none
const drawn = {}; // container -> {model, map}
export let chosenMorpheme = "";

function pointsOf(model) {
  if (!maps.has(model)) {
    const found = waitForMap(model);
    found.catch(() => maps.delete(model)); // it may be asked for again
    maps.set(model, found);
  }
  return maps.get(model);
}

async function waitForMap(model) {
  for (;;) {
    const view = await answer(await fetch(query("/api/map", { model })));
    if (view.state !== "computing") return view;
    await sleep(700);
  }
}

// The map in a container, drawn anew only for another model; null if there is none.
async function mapIn(id, model, onSelect) {
  const view = await pointsOf(model);
  if (!view.points.length) return null;
  if (!drawn[id] || drawn[id].model !== model) {
    byId(id).replaceChildren();
    const options = { label: `Map of the morphemes of ${model}`, onSelect };
    drawn[id] = { model, map: morphemeMap(byId(id), view.points, options) };
  }
  return drawn[id].map;
}

export async function placeOnMap(view) {
  const card = byId("word-map-card");
  const wanted = byId("word").value;
  if (!view.parts.length || view.understood === "unknown") {
    card.hidden = true;
    return;
  }
  try {
    const found = await pointsOf(view.model);
    if (!found.points.length) return;
    const spot = await ask("place", query("/api/place", { model: view.model, word: view.query }));
    if (spot === null || spot.place === null || byId("word").value !== wanted) return;
    card.hidden = false;
    const map = await mapIn("word-map", view.model);
    map.unmark();
    map.mark(spot.place.x, spot.place.y, view.form);
    map.select(null);
  } catch {
    card.hidden = true;
  }
}

export function goToMorpheme(name) {
  showTab("map", name);
  keepAddress(true);
  window.scrollTo({ top: 0 });
}

export async function exploreMap(morpheme) {
  const model = currentModel().name;
  chosenMorpheme = morpheme;
  cancel("morpheme");
  byId("morpheme-result").replaceChildren();
  if (!maps.has(model)) setStatus("map", "The map is being made; that takes some seconds.");
  try {
    const map = await mapIn("map", model, mapSelected);
    if (tab !== "map" || currentModel().name !== model) return;
    byId("map-card").hidden = map === null;
    if (map === null) setStatus("map", sentenceCase((await pointsOf(model)).note));
    else if (!morpheme) setStatus("map", MAP_TEXT);
    else showMorpheme(morpheme, map);
  } catch (error) {
    byId("map-card").hidden = true;
    setStatus("map", error.message, true);
  }
}

function mapSelected(point) {
  if (tab !== "map" || !point || point.name === chosenMorpheme) return;
  chosenMorpheme = point.name;
  keepAddress(true);
  tellMorpheme(point.name);
}

async function showMorpheme(name, map) {
  const onMap = (await pointsOf(currentModel().name)).points.some((point) => point.name === name);
  map.select(onMap ? name : null);
  await tellMorpheme(name, onMap ? MAP_TEXT : `${name} is not among the most frequent ones, which are on the map.`);
}

function tellMorpheme(name, note = MAP_TEXT) {
  setStatus("map", note);
  const tell = async (result) => {
    const view = await ask("morpheme", query("/api/morpheme", { model: currentModel().name, name }));
    if (view !== null) result.replaceChildren(morphemeCards(view));
  };
  return updating("morpheme", tell, "map");
}

function morphemeCards(view) {
  return make(
    "div",
    { class: "columns" },
    partCard(view.part),
    rankingCard("Nearest words", view.nearest_words, goToWord),
  );
}
