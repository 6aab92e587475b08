/* Questions to the API: one at a time for each part of the page, the newest counts. */

import { byId, setStatus } from "./elements.js";

const WAIT = 180; // milliseconds after the last key

const asked = new Map(); // what each part of the page is waiting for

// The answer, or null if a newer question of the same part has been asked meanwhile.
export async function ask(part, path, body) {
  cancel(part);
  const own = new AbortController();
  asked.set(part, own);
  const options = { signal: own.signal, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  try {
    return await answer(await fetch(path, options));
  } catch (error) {
    if (own.signal.aborted) return null;
    throw error instanceof TypeError ? new Error("No answer; is `morphlm explore` still running?") : error;
  } finally {
    if (asked.get(part) === own) asked.delete(part);
  }
}

export async function answer(response) {
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.error || `The answer was ${response.status}.`);
  return content;
}

export function cancel(part) {
  const before = asked.get(part);
  if (before) before.abort();
  asked.delete(part);
}

export const query = (path, values) => `${path}?${new URLSearchParams(values)}`;

export function later(action) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, WAIT);
  };
}

// Shows that a result is of an earlier question while the next is on its way.
export async function updating(name, action, status = name) {
  const result = byId(`${name}-result`);
  const working = setTimeout(() => setStatus(status, "Working …"), 500);
  result.classList.add("stale");
  result.setAttribute("aria-busy", "true");
  try {
    await action(result);
  } catch (error) {
    result.replaceChildren();
    setStatus(status, error.message, true);
  } finally {
    clearTimeout(working);
    result.classList.remove("stale");
    result.removeAttribute("aria-busy");
  }
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
