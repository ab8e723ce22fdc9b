// Questions to the server, by its public interface (/openapi.json). A problem says what to do about it.

import { ask, forget, token } from "./token.js";

/** What the server says when it does not answer. */
export class Problem extends Error {
  constructor(status, reason, detail) {
    super(detail);
    Object.assign(this, { status, reason });
  }
}

/** So often somebody who was told to come again does so. */
const TRIES_MAX = 5;

const pause = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Asks, with the token where there is one; asks for it where it is needed. The answer is good. */
export async function request(path, { method = "GET", body, headers = {}, signal } = {}) {
  let wasWrong = false;
  for (let n = 1; ; n += 1) {
    const held = token();
    const all = {
      ...headers,
      ...(held && { authorization: `Bearer ${held}` }),
      ...(body && { "content-type": "application/json" }),
    };
    const options = { method, headers: all, signal, body: body && JSON.stringify(body), credentials: "omit", redirect: "error" };
    const response = await fetch(path, options).catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, "unreachable", "The server cannot be reached. Does `seamripper run` still run?");
    });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    if (response.status === 401) {
      if (held) (forget(), (wasWrong = true));
      if (await ask(wasWrong)) continue;
    }
    const later = Number(response.headers.get("retry-after"));
    if ([429, 503].includes(response.status) && problem.reason !== "role" && later > 0 && n < TRIES_MAX) {
      await pause(Math.min(later, 5), signal);
      if (!signal?.aborted) continue;
    }
    throw new Problem(response.status, problem.reason ?? "unknown", problem.detail ?? `The server answers ${response.status}.`);
  }
}

export const get = async (path, signal) => (await request(path, { signal })).json();
export const send = async (method, path, body) => (await request(path, { method, body })).json();

/** A path with an id at its end. Browsers take these two for ways through folders, however they are written. */
export function at(path, id) {
  if (id !== "." && id !== "..") return `${path}/${encodeURIComponent(id)}`;
  throw new Problem(0, "name", `A browser cannot ask for this id. A program can: curl --path-as-is ${location.origin}${path}/${id}`);
}

/** Does something every so often while the page is in sight, until told to stop. */
export function every(seconds, signal, work) {
  const look = () => document.hidden || signal.aborted || work();
  const timer = setInterval(look, seconds * 1000);
  document.addEventListener("visibilitychange", look, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
  work();
}
