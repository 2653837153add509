"use strict";
// What the report and the studio share: elements, words, and the drawing of a graph. Text enters a page as text only
// (textContent, never markup).
const SVG = "http://www.w3.org/2000/svg";
const byId = id => document.getElementById(id);

// ---- making elements ------------------------------------------------------------------------------------------
const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
const paragraph = (text, style = "") => make("p", style ? { class: style } : {}, text);

// ---- words ----------------------------------------------------------------------------------------------------
const SYMBOL_LEFT = { 1: "o", 2: "<", 3: "-" }, SYMBOL_RIGHT = { 1: "o", 2: ">", 3: "-" };
const MARK_WORDS = { 1: "a circle", 2: "an arrowhead", 3: "a tail" };
const symbol = (a, b) => SYMBOL_LEFT[a] + "-" + SYMBOL_RIGHT[b];
const key = (i, j) => (i < j ? i + "," + j : j + "," + i);
const kind = (a, b) => (a === 1 || b === 1 ? "open" : a !== b ? "cause" : a === 2 ? "confounded" : "selected");
// Does what `shown_share` in markup.py does.
function shownShare(share) {
  if (share > 0 && share < 0.005) return "<0.01";
  if (share >= 0.995 && share < 1) return ">0.99";
  return (Math.floor(100 * share + 0.5 + 1e-9) / 100).toFixed(2);
}
function legendItem([a, b, text]) {
  const sample = draw("svg", { class: "anypag", width: 78, height: 18, "aria-hidden": "true" },
    draw("text", { x: 0, y: 14, "font-size": 13 }, "A"), draw("text", { x: 68, y: 14, "font-size": 13 }, "B"),
    draw("g", { class: "edge " + kind(a, b) }, draw("path", { d: "M25 9H51" }),
      draw("use", { href: "#mark-" + a, transform: "translate(14 9) rotate(180)" }),
      draw("use", { href: "#mark-" + b, transform: "translate(62 9)" })));
  return make("li", {}, sample, make("span", {}, text));
}
// A picture that Python made (an SVG without text from the data), with words for screen readers.
function pictured(svg, words, style) {
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  fill(drawn, { role: "img", "aria-label": words, class: style }, []);
  return drawn;
}

// ---- the graph ------------------------------------------------------------------------------------------------
// A target is { node: i } or { pair: [i, j] }. The host says what happens when a target is pointed at (`point`) or
// chosen (`choose`).
class Drawing {
  constructor(host) {
    Object.assign(this, { host, svg: byId("graph"), names: [], boxes: [], lines: [], nodes: [], edges: new Map(), visible: [] });
    this.roving(byId("edges"), () => this.visible);
    this.roving(byId("nodes"), () => this.nodes);
    document.addEventListener("keydown", event => { if (event.key === "Escape") host.choose(null); });
    this.zoomable();
  }

  // Draw the nodes; those that were there before glide to their new places.
  setNodes(names, boxes, [width, height]) {
    const before = new Map(this.names.map((name, i) => [name, this.boxes[i]]));
    Object.assign(this, { names, boxes, paper: { x: 0, y: 0, width, height } });
    this.nodes = boxes.map((box, i) => this.nodeElement(box, i));
    byId("nodes").replaceChildren(...this.nodes);
    if (matchMedia("(prefers-reduced-motion:reduce)").matches) return;
    this.nodes.forEach((node, i) => {
      const was = before.get(names[i]), [x, y] = boxes[i];
      if (was && (was[0] !== x || was[1] !== y))
        node.animate([{ transform: `translate(${was[0] - x}px,${was[1] - y}px)` }, { transform: "none" }], { duration: 600, easing: "ease-in-out" });
    });
  }

  nodeElement([x, y, width, height, label, corner], i) {
    const node = draw("g", { class: "node", role: "listitem", tabindex: i ? -1 : 0, "data-node": i },
      draw("title", {}, this.names[i]),
      draw("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: corner }),
      draw("text", { x, y: y + 5, "font-size": 14, "text-anchor": "middle" }, label));
    node.setAttribute("aria-label", this.names[i]);
    this.listen(node, { node: i });
    return node;
  }

  // Lines that edges may have: the two nodes, a path, the places of the two marks and of the number (null: no room for one).
  setLines(lines) {
    this.lines = lines;
    this.edges.forEach(element => element.remove());
    this.edges = new Map();
    this.lineOf = new Map(lines.map(([i, j], k) => [key(i, j), k]));
  }

  listen(element, target) {
    element.addEventListener("click", event => { event.stopPropagation(); this.host.choose(target); });
    element.addEventListener("mouseenter", () => this.host.point(target));
    element.addEventListener("mouseleave", () => this.host.point(null));
    element.addEventListener("focus", () => this.host.point(target));
    element.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.host.choose(target); }
    });
  }

  edgeElement(k, isBelow) {
    if (!this.edges.has(k)) {
      const [i, j, path, tipA, tipB] = this.lines[k];
      const group = draw("g", { class: "edge gone", role: "listitem", tabindex: -1, "data-line": k },
        draw("title"), draw("path", { class: "reach", d: path }), draw("path", { d: path }),
        draw("use", { transform: tipA }), draw("use", { transform: tipB }));
      this.listen(group, { pair: [i, j] });
      this.edges.set(k, group);
      if (isBelow) byId("edges").prepend(group);
      else byId("edges").append(group);
      void group.getBoundingClientRect(); // so that a fresh edge fades in
    }
    return this.edges.get(k);
  }

  // Draw these edges ([line, mark, mark]) and no others. `look(line)` says how an edge looks: `state` (classes), `doubt`
  // (words), `share` (a number or null) with its `words`, `isBelow` (is it drawn below the others?).
  show(rows, look) {
    const now = new Set(rows.map(([k]) => k));
    rows.forEach(row => this.drawEdge(row, look(row[0])));
    this.visible = rows.map(([k]) => this.edges.get(k));
    this.edges.forEach((element, k) => { if (!now.has(k)) { element.classList.add("gone"); element.tabIndex = -1; } });
    this.now = now;
    this.roveOver(this.visible, this.visible[0]);
  }

  drawEdge([k, a, b], { state = "", doubt = "", share = null, words = "", isBelow = false }) {
    const [i, j, , , , place] = this.lines[k];
    const element = this.edgeElement(k, isBelow), uses = element.querySelectorAll("use");
    const name = this.names[i] + " " + symbol(a, b) + " " + this.names[j];
    element.setAttribute("class", "edge " + kind(a, b) + state);
    element.setAttribute("aria-label", name);
    element.setAttribute("aria-description", doubt);
    element.dataset.marks = symbol(a, b);
    element.querySelector("title").textContent = name + (doubt ? " (" + doubt + ")" : "") + (share === null ? "" : ", " + words + shownShare(share));
    uses[0].setAttribute("href", "#mark-" + a);
    uses[1].setAttribute("href", "#mark-" + b);
    const faint = share === null ? 1 : 0.25 + 0.75 * share;
    element.setAttribute("stroke-opacity", faint);
    element.setAttribute("fill-opacity", faint);
    element.querySelectorAll(".share").forEach(text => text.remove());
    if (share !== null && place) element.append(draw("text", { class: "share", x: place[0], y: place[1] + 4, "fill-opacity": 1 }, shownShare(share)));
  }

  // Highlight what is chosen. The missing edges of a variable, or of a pair, are dotted lines that can be chosen too.
  highlight(chosen, hasAbsent) {
    const node = chosen && chosen.node !== undefined ? chosen.node : null, pair = chosen && chosen.pair ? chosen.pair : [];
    const near = new Set(node === null ? pair : [node]);
    this.edges.forEach((element, k) => {
      const [i, j] = this.lines[k], isChosen = pair.length === 2 && key(i, j) === key(...pair);
      const isNear = isChosen || i === node || j === node;
      element.classList.toggle("chosen", isChosen && this.now.has(k));
      element.classList.toggle("near", isNear);
      if (node !== null && isNear && this.now.has(k)) near.add(i).add(j);
    });
    this.nodes.forEach((element, i) => {
      element.classList.toggle("chosen", i === node || pair.includes(i));
      element.classList.toggle("near", near.has(i));
    });
    this.svg.classList.toggle("focused", chosen !== null);
    byId("absent").replaceChildren(...(hasAbsent ? this.missing(node, pair) : []));
  }

  missing(node, pair) {
    const isThere = (i, j) => this.now.has(this.lineOf.get(key(i, j)));
    const of = node === null ? (pair.length ? [pair] : []) : this.names.map((_, j) => [node, j]);
    return of.filter(([i, j]) => i !== j && !isThere(i, j)).flatMap(([i, j]) => {
      const d = "M" + this.boxes[i][0] + " " + this.boxes[i][1] + "L" + this.boxes[j][0] + " " + this.boxes[j][1];
      const reach = draw("path", { class: "absent-reach", d, "data-absent": key(i, j) });
      this.listen(reach, { pair: [i, j] });
      return [reach, draw("path", { class: "absent" + (pair.length ? " chosen" : ""), d })];
    });
  }

  // The pair, if one variable is chosen after another; else the target itself.
  static joined(before, target) {
    const isSecond = target && target.node !== undefined && before && before.node !== undefined && before.node !== target.node;
    return isSecond ? { pair: [before.node, target.node] } : target;
  }

  // ---- going from one to the next by keyboard ----
  roveOver(elements, current) {
    elements.forEach(element => { element.tabIndex = element === current ? 0 : -1; });
  }
  roving(container, elements) {
    container.addEventListener("keydown", event => {
      const all = elements(), here = all.indexOf(event.target);
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (here < 0 || !step) return;
      event.preventDefault();
      const next = all[(here + step + all.length) % all.length];
      this.roveOver(all, next);
      next.focus();
    });
  }

  // ---- zoom and pan ----
  look(at) {
    this.window = at;
    this.svg.setAttribute("viewBox", [at.x, at.y, at.width, at.height].join(" "));
  }
  zoom(factor, x = this.window.x + this.window.width / 2, y = this.window.y + this.window.height / 2) {
    const at = this.window, width = Math.min(Math.max(at.width * factor, 120), this.paper.width * 3), scale = width / at.width;
    this.look({ x: x - (x - at.x) * scale, y: y - (y - at.y) * scale, width, height: at.height * scale });
  }
  onPaper(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [point.x, point.y];
  }
  zoomable() {
    const { svg } = this;
    svg.addEventListener("wheel", event => {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...this.onPaper(event));
    }, { passive: false });
    let grabbed = null, moved = false;
    svg.addEventListener("pointerdown", event => { grabbed = this.onPaper(event); moved = false; });
    svg.addEventListener("pointermove", event => {
      if (!grabbed || !event.buttons) return;
      const [x, y] = this.onPaper(event), dx = grabbed[0] - x, dy = grabbed[1] - y;
      if (Math.hypot(dx, dy) > 3) { moved = true; svg.classList.add("dragged"); this.look({ ...this.window, x: this.window.x + dx, y: this.window.y + dy }); }
    });
    svg.addEventListener("pointerup", () => { grabbed = null; svg.classList.remove("dragged"); });
    svg.addEventListener("click", () => { if (!moved) this.host.choose(null); });
    byId("closer").addEventListener("click", () => this.zoom(1 / 1.3));
    byId("wider").addEventListener("click", () => this.zoom(1.3));
    byId("fit").addEventListener("click", () => this.look({ ...this.paper }));
  }
  // Show the whole graph. If that is too small to read (on a telephone), show the part around the variable with most edges.
  open(isWhole) {
    const { clientWidth, clientHeight } = this.svg, { paper } = this, LEGIBLE = 0.85;
    this.look({ ...paper });
    const isSmall = Math.min(clientWidth / paper.width, clientHeight / paper.height) < LEGIBLE;
    byId("cut").hidden = true;
    if (!isWhole || !isSmall || !matchMedia("(max-width:40rem)").matches) return;
    const width = clientWidth / LEGIBLE, height = clientHeight / LEGIBLE, degree = this.names.map(() => 0);
    this.now.forEach(k => this.lines[k].slice(0, 2).forEach(i => { degree[i] += 1; }));
    const [x, y] = this.boxes[degree.indexOf(Math.max(...degree))];
    const within = (at, size, whole) => (size >= whole ? (whole - size) / 2 : Math.min(Math.max(at - size / 2, 0), whole - size));
    this.look({ x: within(x, width, paper.width), y: within(y, height, paper.height), width, height });
    byId("cut").hidden = width >= paper.width && height >= paper.height;
  }
}
