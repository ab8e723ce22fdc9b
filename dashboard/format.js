// Numbers, sizes and times, as people read them.

import { el } from "./element.js";

const whole = new Intl.NumberFormat("en");
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

export const number = (value) => whole.format(value);

/** One noun or several. */
export const count = (value, one, several = `${one}s`) => `${number(value)} ${value === 1 ? one : several}`;

/** A share as percent: no more digits than say something. */
export function share(value) {
  const percent = value * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  // All is all: what is nearly all is not rounded up to it.
  if (percent < 100 && percent >= 99.5) return `${Math.min(percent, 99.9).toFixed(1)} %`;
  return `${percent === 0 ? 0 : percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

/** A rate: what is slow needs digits, what is fast does not. */
export const rate = (value) => (value > 0 && value < 10 ? value.toFixed(1) : number(Math.round(value)));

/** A score. */
export const score = (value) => (Number.isInteger(value) ? number(value) : value.toFixed(3));

export function bytes(value) {
  for (const unit of ["B", "KiB", "MiB", "GiB", "TiB"]) {
    if (value < 1024 || unit === "TiB") return `${value >= 100 || unit === "B" ? Math.round(value) : value.toFixed(1)} ${unit}`;
    value /= 1024;
  }
}

export function duration(seconds) {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60 ? `${s % 60} s` : ""}`.trim();
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

function since(moment) {
  const s = (moment - Date.now()) / 1000;
  const size = Math.abs(s);
  if (size < 5) return "now";
  if (size < 60) return relative.format(Math.round(s), "second");
  if (size < 3600) return relative.format(Math.round(s / 60), "minute");
  if (size < 86400) return relative.format(Math.round(s / 3600), "hour");
  return relative.format(Math.round(s / 86400), "day");
}

/** How long ago, with the full time for who wants to know. Without one: nothing. */
export function ago(time) {
  const moment = Date.parse(time ?? "");
  if (Number.isNaN(moment)) return null;
  return el("time", { datetime: new Date(moment).toISOString(), title: full.format(moment), class: "ago" }, since(moment));
}

setInterval(() => {
  for (const element of document.querySelectorAll("time.ago")) {
    const text = since(Date.parse(element.dateTime));
    if (element.textContent !== text) element.textContent = text;
  }
}, 5000);
