"use strict";
// Comfort only: without this script everything can still be read. Text of documents is read and written as text.
(function () {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const make = (name, className, text) => {
    const element = document.createElement(name);
    element.className = className;
    element.textContent = text;
    return element;
  };

  // Search: what has the typed words in one of its names stays.
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  const items = all(".item");
  let names = null;
  const filter = () => {
    names = names || items.map((item) => all(".n", item).map((name) => name.textContent).join("\n").toLowerCase());
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    items.forEach((item, index) => {
      item.hidden = !words.every((word) => names[index].includes(word));
      count += item.hidden ? 0 : 1;
    });
    found.textContent = words.length ? count + " of " + items.length : "";
  };
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  input.closest("label").hidden = false;
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && event.target !== input) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && event.target === input) {
      input.value = "";
      filter();
    }
  });

  // Tables: a click on a heading sorts by it, a second one the other way round.
  all("table.sortable").forEach((table) => {
    const body = table.tBodies[0];
    all("th[data-sort]", table).forEach((heading) => {
      const button = make("button", "", heading.textContent);
      button.type = "button";
      heading.textContent = "";
      heading.append(button);
      button.addEventListener("click", () => {
        const column = heading.cellIndex;
        const isNumber = heading.dataset.sort === "number";
        const was = heading.getAttribute("aria-sort");
        // The most comes first, except for ranks and names.
        const first = isNumber && column > 0 ? "descending" : "ascending";
        const now = was === null ? first : was === "ascending" ? "descending" : "ascending";
        all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", now);
        const value = (row) => isNumber ? Number(row.cells[column].dataset.value) : row.cells[column].textContent;
        const order = isNumber ? (a, b) => a.value - b.value : (a, b) => a.value.localeCompare(b.value);
        const rows = Array.from(body.rows, (row) => ({ row: row, value: value(row) }));
        rows.sort(now === "ascending" ? order : (a, b) => order(b, a));
        body.append(...rows.map((entry) => entry.row));
      });
    });
  });

  // Quilts: a patch or a source that is pointed at or has the focus lights up with all that belongs to it.
  all(".viewer").forEach((viewer) => {
    const text = viewer.querySelector(".text");
    if (!text) return;
    const tip = make("p", "tip", "");
    tip.setAttribute("role", "status");
    viewer.append(tip);
    const patches = all("mark", text);
    const sources = new Map(all("button", viewer).map((button) => [button.dataset.source, button]));
    let pinned = null;
    const light = (source) => {
      viewer.classList.toggle("lit", source !== null);
      patches.forEach((patch) => patch.classList.toggle("on", patch.dataset.source === source));
      sources.forEach((button, key) => button.classList.toggle("on", key === source));
      const button = sources.get(source);
      tip.textContent = button ? source + " \u00b7 " + button.querySelector(".n").textContent : "";
    };
    const sourceOf = (target) => {
      const element = target.closest && target.closest("[data-source]");
      return element && viewer.contains(element) ? element.dataset.source : null;
    };
    const focused = () => viewer.contains(document.activeElement) ? sourceOf(document.activeElement) : null;
    viewer.addEventListener("pointerover", (event) => light(sourceOf(event.target) || pinned || focused()));
    viewer.addEventListener("pointerleave", () => light(pinned || focused()));
    viewer.addEventListener("focusin", (event) => light(sourceOf(event.target) || pinned));
    viewer.addEventListener("focusout", () => light(pinned));
    sources.forEach((button, source) => {
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        pinned = pinned === source ? null : source;
        sources.forEach((other, key) => other.setAttribute("aria-pressed", String(key === pinned)));
        light(pinned);
      });
    });
    // One stop of the tab key per text; the arrow keys go from patch to patch.
    patches.forEach((patch, index) => { patch.tabIndex = index === 0 ? 0 : -1; });
    text.addEventListener("keydown", (event) => {
      const at = patches.indexOf(document.activeElement);
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = step && at >= 0 ? patches[at + step] : undefined;
      if (!next) return;
      event.preventDefault();
      patches[at].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });

  // Long sections can be unfolded at once.
  all("section").forEach((section) => {
    const folded = all("details.item", section);
    if (folded.length < 2) return;
    const button = make("button", "tools", "Unfold all");
    button.type = "button";
    section.querySelector("h2").before(button);
    let open = false;
    button.addEventListener("click", () => {
      open = !open;
      folded.forEach((details) => { details.open = open; });
      button.textContent = open ? "Fold all" : "Unfold all";
    });
  });
})();
