// Draws the report from the JSON in the page, with what drawing.js has.
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const { names, boxes, lines, frames } = content;

  // ---- words --------------------------------------------------------------------------------------------------
  const filled = (sentence, places) => sentence.replace(/\{(\w+)\}/g, (_, place) => places[place]);
  const listed = items => (items.length > 1 ? items.slice(0, -1).join(", ") + " and " + items.at(-1) : items.join(""));
  const short = p => (p === null ? "" : p !== 0 && p < 0.001 ? p.toExponential(1) : String(Number(p.toPrecision(3))));
  // An edge as all texts write it: `B --> A`, never `A <-- B`.
  const BACKWARD = { "<--": "-->", "<-o": "o->", "o--": "--o" };
  const forward = (i, symbol, j) => (BACKWARD[symbol] ? names[j] + " " + BACKWARD[symbol] + " " + names[i] : names[i] + " " + symbol + " " + names[j]);

  const separationOf = new Map(content.apart.map(row => [key(row[0], row[1]), row]));
  const finalOf = new Map(content.edges.map(edge => [edge.line, edge]));
  const edgesAt = frames.map(frame => new Map((frame.edges || []).map(row => [row[0], row])));
  const effectOf = new Map(content.effects.pairs.map(row => [row[0] + " on " + row[1], row]));
  const sampledOf = new Map(content.effects.sampled.map(row => [row[0] + " on " + row[1], row]));
  const lastFrame = frames.length - 1;
  // `doubted`: in the last frame, the lines whose claims cannot all be true. `withdrawnAt`: for each frame, the lines with a
  // mark that was withdrawn later.
  const { consistency } = content, doubted = new Set(consistency.lines);
  const withdrawnAt = consistency.withdrawn.map(list => new Set(list));
  const isDoubted = k => frame === lastFrame && doubted.has(k);
  const isWithdrawn = k => frame >= 0 && frame < lastFrame && frame < withdrawnAt.length && withdrawnAt[frame].has(k);

  // The slider's places: the start (if the search began with every pair joined), then one for each frame.
  const places = frames.map((_, k) => k);
  if (content.starts_complete) places.unshift(-1);
  let frame = lastFrame; // looks() reads it
  let pinned = null; // what was chosen, {pair: [i, j]} or {node: i}; it is shown again when the pointer leaves

  // ---- the graph ----------------------------------------------------------------------------------------------
  const drawing = new Drawing({ point: target => tell(target || pinned), choose });
  drawing.setNodes(names, boxes, content.size);
  drawing.setLines(lines);
  byId("everything").setAttribute("d", everyPair());

  function everyPair() {
    const steps = [];
    if (!content.starts_complete) return "";
    for (let i = 0; i < boxes.length; i++)
      for (let j = 0; j < i; j++) steps.push("M" + boxes[i][0] + " " + boxes[i][1] + "L" + boxes[j][0] + " " + boxes[j][1]);
    return steps.join("");
  }

  // The look of an edge. Its share is its probability, or the share of resamples that have it; only the last graph has
  // shares, because resamples were compared with this graph.
  function looks(k) {
    const state = (finalOf.has(k) ? "" : " going") + (isDoubted(k) ? " doubted" : "") + (isWithdrawn(k) ? " withdrawn" : "") + (isRare(k) ? " rare" : "");
    const doubt = isDoubted(k) ? "takes part in claims that cannot all be true" : isWithdrawn(k) ? "withdrawn later" : "";
    return { state, doubt, share: frame === lastFrame ? shareOf(k) : null, words: content.resamples ? "share of the resamples " : "probability ",
      isBelow: !finalOf.has(k) };
  }
  function shareOf(k) {
    const edge = finalOf.get(k);
    if (!edge) return null;
    if (edge.again) return edge.again.same / edge.again.n;
    return edge.probability === undefined ? null : edge.probability;
  }
  function isRare(k) {
    const edge = frame === lastFrame ? finalOf.get(k) : null;
    return Boolean(edge && edge.again && edge.again.same < Number(byId("threshold").value));
  }

  // Is an edge drawn? In a graph too large to draw as a whole, only if it belongs to what is chosen.
  function isDrawn([k]) {
    if (content.is_whole) return true;
    const [i, j] = lines[k];
    if (!pinned) return false;
    return pinned.pair ? key(i, j) === key(...pinned.pair) : i === pinned.node || j === pinned.node;
  }

  function show(place) {
    frame = place;
    const rows = place < 0 ? [] : [...edgesAt[place].values()].filter(isDrawn);
    drawing.show(rows, looks);
    byId("everything").classList.toggle("on", place < 0);
    byId("slider").value = places.indexOf(place);
    byId("moment").textContent = moment(place);
    byId("slider").setAttribute("aria-valuetext", moment(place));
    document.querySelectorAll("#chart g").forEach((bar, k) => bar.classList.toggle("now", k === place));
    highlight();
    tell(pinned);
  }

  function moment(place) {
    const n = names.length;
    if (place < 0) return "Start: all " + (n * (n - 1)) / 2 + " pairs joined, nothing known";
    const step = frames[place];
    if (step.r === null) return step.count + " edges";
    if (content.by_scores) return "Step " + (place + 1) + " (" + step.phase + "): " + step.count + " edges, " + step.seconds + " s";
    const phase = step.phase && step.phase !== "iteration" ? " (" + step.phase + ")" : "";
    return "r = " + step.r + phase + ": " + step.count + " edges left, " + step.removed + " removed, "
      + step.tests.toLocaleString("en") + " tests, " + step.seconds + " s"
      + (step.conflicts ? ", " + step.conflicts + " conflicts" : "");
  }

  // ---- choosing -----------------------------------------------------------------------------------------------
  function choose(target) {
    pinned = Drawing.joined(pinned, target);
    if (!content.is_whole) return show(frame);
    highlight();
    tell(pinned);
  }

  function highlight() {
    const pair = pinned && pinned.pair ? key(...pinned.pair) : "";
    drawing.highlight(pinned, frame >= 0 && Boolean(frames[frame].edges));
    document.querySelectorAll("tbody tr").forEach(row => row.classList.toggle("chosen", row.dataset.pair === pair));
  }

  // ---- explaining ---------------------------------------------------------------------------------------------
  function tell(target) {
    const told = byId("told");
    if (!target) told.replaceChildren(...greeting());
    else if (target.pair) told.replaceChildren(...pairTold(...target.pair));
    else told.replaceChildren(...nodeTold(target.node));
  }

  function greeting() {
    return [make("h2", {}, "What you see"), ...content.left_out.map(sentence => paragraph(sentence, "left-out")),
      paragraph("Each box is a column of the table. A line joins two columns that stay related whatever else is held fixed. Its ends say "
        + "what causes what: at an arrowhead the variable is no cause of the other, at a plain end it is a cause, at a circle the data "
        + "cannot tell. Two arrowheads: something not measured acts on both. If the sample may be selected, ends say less: see \"How to read the graph\"."),
      ...(consistency.if_right ? [paragraph(consistency.if_right.replace(":", ",") + " so is all that the graph claims. With data, tests and graph can be wrong.")] : []),
      ...(content.resamples ? [paragraph("Numbers: the share of the resamples that have the same edge.")]
        : content.probable ? [paragraph("Numbers: the probability of the edge."
          + (content.probable.has_unlikely ? " An edge below 0.50 can appear here, because the answer is chosen as a whole graph; "
          + "a click on it names the other forms that it may have." : ""))] : []),
      paragraph("Click an edge to read why it is there, a variable to see its edges, and then a second variable for the effects "
        + "between the two. The slider shows " + (content.by_scores ? "the best graph after every step of the search"
        : "how larger condition sets (more variables held fixed in a test) sharpened the graph") + ".", "soft")];
  }

  function pairTold(i, j) {
    if (i > j) [i, j] = [j, i];
    if (frame < 0) return [make("h2", { class: "pair" }, names[i] + " o-o " + names[j]), paragraph("Nothing has been tested yet.")];
    if (!frames[frame].edges) return [make("h2", { class: "pair" }, names[i] + " and " + names[j]), leftOut()];
    const k = drawing.lineOf.get(key(i, j)), row = edgesAt[frame].get(k);
    return [...(row ? edgeTold(i, j, row) : apartTold(i, j)), ...effectsTold(i, j)];
  }

  // What happens to one of two variables when the other is set, as far as the finished graph tells.
  function effectsTold(i, j) {
    const { none, zero } = content.effects;
    if (frame !== lastFrame) return [];
    if (none && !sampledOf.size) return [make("h3", {}, "Effects"), paragraph(none, "soft")];
    return [[i, j], [j, i]].flatMap(([x, y]) => {
      const sampled = sampledOf.get(x + " on " + y);
      if (sampled) return sampledTold(sampled);
      if (none) return [];
      const [, , heading, reason, formula] = effectOf.get(x + " on " + y)
        || [x, y, zero[0], filled(zero[1], { a: names[x], b: names[y] }), null];
      return [make("h3", {}, "The effect of " + names[x] + " on " + names[y] + ": " + heading), paragraph(reason),
        ...(formula ? [paragraph(formula, "formula")] : [])];
    });
  }

  // What sampled graphs say of an effect: the draws as a density with its mass at zero, and shares of graphs as a bar.
  function sampledTold([, , headline, told, picture]) {
    return [make("h3", {}, headline), pictured(picture, told[0], "draws"), ...told.map(line => paragraph(line, "soft"))];
  }

  const leftOut = () => paragraph("The edges of this step are not in the report: there are " + frames[frame].count.toLocaleString("en") + ".");

  function edgeTold(i, j, [k, a, b, w]) {
    const isLast = frame === lastFrame, why = isLast ? finalOf.get(k) : null;
    const [atA, atB, summary] = why ? [...why.meanings, why.summary]
      : content.words[w].map(sentence => filled(sentence, { a: names[i], b: names[j] }));
    const end = (at, mark, meaning, side) => [
      make("h3", {}, "At " + names[at] + " " + MARK_WORDS[mark]), paragraph(meaning),
      ...(why && why.why[side] ? [paragraph(why.why[side], "why")] : []),
      ...(why ? why.conflicts[side].map(text => paragraph(text, "why conflict")) : [])];
    return [make("h2", { class: "pair" }, names[i] + " " + symbol(a, b) + " " + names[j]), ...doubts(why ? why.contradictions : []),
      ...(isWithdrawn(k) ? [paragraph("Withdrawn later: in the end it is " + names[i] + " " + finalOf.get(k).symbol + " " + names[j] + ".", "doubt")] : []),
      paragraph(summary), ...(why && why.strength ? [paragraph("Strength: " + why.strength + ".", "soft")] : []), ...end(i, a, atA, 0), ...end(j, b, atB, 1),
      ...(why ? why.notes.map(note => paragraph(note, "soft")) : [paragraph(later(i, j, k), "soft")])];
  }

  function later(i, j, k) {
    const separated = separationOf.get(key(i, j));
    if (separated && separated[2] !== null)
      return "This edge is removed later. " + apartSentences(separated).join(" ");
    const end = finalOf.get(k);
    return end ? "In the end: " + names[i] + " " + end.symbol + " " + names[j] + "." : "This edge is removed later.";
  }

  // The words that are put before a claim with this probability, to say how sure it is.
  const hedge = probability => (probability === null ? "" : content.sentences.hedges.find(([least]) => probability >= least)[1]);

  function apartSentences([i, j, given, p, r, n, , probability, notes]) {
    const { no_edge, found } = content.sentences;
    const places = { a: names[i], b: names[j], given: listed((given || []).map(g => names[g])), p: short(p), r,
      n: n === null ? "" : n.toLocaleString("en") };
    const sentence = given === null ? no_edge.unknown : given.length ? no_edge.given : no_edge.alone;
    return [hedge(probability) + filled(sentence, places),
      ...(given === null ? [] : [filled(found[n === null ? "no rows" : "rows"], places)]), ...notes];
  }

  const doubts = sentences => sentences.map(text => paragraph(content.sentences.contradicted + " " + text, "doubt"));

  function apartTold(i, j) {
    const row = separationOf.get(key(i, j)) || [i, j, null, null, null, null, [], null, []];
    return [make("h2", { class: "pair" }, names[i] + " and " + names[j] + ": no edge"), ...doubts(row[6]),
      ...apartSentences(row).map((sentence, k) => paragraph(sentence, k ? "soft" : ""))];
  }

  function nodeTold(i) {
    if (frame >= 0 && !frames[frame].edges) return [make("h2", { class: "pair" }, names[i]), leftOut()];
    const rows = frame < 0 ? [] : frames[frame].edges.filter(([k]) => lines[k][0] === i || lines[k][1] === i);
    const items = rows.map(([k, a, b]) => {
      const [x, y] = lines[k], other = x === i ? y : x;
      const text = x === i ? names[i] + " " + symbol(a, b) + " " + names[other] : names[i] + " " + symbol(b, a) + " " + names[other];
      return make("li", {}, make("button", { type: "button", class: "link", click: () => choose({ pair: [i, other] }) }, text));
    });
    return [make("h2", { class: "pair" }, names[i]),
      paragraph(rows.length ? rows.length + (rows.length === 1 ? " edge" : " edges") : "No edges", "soft"), make("ul", {}, ...items),
      paragraph("Click a second variable for the pair, joined or not.", "soft")];
  }

  // ---- replay -------------------------------------------------------------------------------------------------
  const slider = byId("slider");
  slider.max = places.length - 1;
  // Edges fade from one iteration to the next, but not when the page opens.
  const replayed = () => drawing.svg.classList.add("replaying");
  slider.addEventListener("input", () => { replayed(); show(places[Number(slider.value)]); });
  byId("replay").hidden = places.length < 2;
  byId("effort").hidden = frames[0].r === null || content.by_scores;
  let playing = null;
  byId("play").addEventListener("click", () => {
    clearInterval(playing);
    replayed();
    let at = 0;
    show(places[0]);
    playing = setInterval(() => { at += 1; if (at < places.length) show(places[at]); else clearInterval(playing); }, 1100);
  });
  slider.addEventListener("pointerdown", () => clearInterval(playing));

  // ---- resamples ----------------------------------------------------------------------------------------------
  if (content.resamples && content.resamples.n) {
    byId("sure").hidden = false;
    byId("threshold").max = content.resamples.n;
    byId("threshold").addEventListener("input", () => { show(lastFrame); tellSure(); });
    tellSure();
  }
  function tellSure() {
    const { n } = content.resamples, least = Number(byId("threshold").value);
    const often = content.edges.filter(edge => edge.again && edge.again.same >= least).length;
    const text = least + " of " + n + " resamples: " + often + " of " + content.edges.length + " edges";
    byId("sure-of").textContent = text;
    byId("threshold").setAttribute("aria-valuetext", text);
  }

  // ---- search -------------------------------------------------------------------------------------------------
  byId("names").append(...names.map(name => make("option", { value: name })));
  const search = byId("search");
  const sought = () => search.value.trim().toLowerCase();
  const matches = name => sought() !== "" && name.toLowerCase().includes(sought());
  search.addEventListener("input", () => {
    drawing.nodes.forEach((element, i) => element.classList.toggle("match", matches(names[i])));
    const exact = names.indexOf(search.value);
    if (exact >= 0) { pinned = null; choose({ node: exact }); }
    fillTable();
  });
  search.addEventListener("keydown", event => {
    const first = names.findIndex(matches);
    if (event.key === "Enter" && first >= 0) { pinned = null; choose({ node: first }); }
  });

  // ---- the table ----------------------------------------------------------------------------------------------
  const orNull = value => (value === undefined ? null : value); // very large graphs have no reasons
  // A word that all strengths begin with is moved to the heading.
  const measure = ["correlation ", "association "].find(word => content.edges.every(edge => !edge.strength || edge.strength.startsWith(word))) || "";
  const edgeRows = content.edges.map(edge => {
    const [i, j] = lines[edge.line];
    return { pair: [i, j], edge: forward(i, edge.symbol, j), p: edge.p, n: edge.n, r: null,
      probability: orNull(edge.probability), joined: orNull(edge.joined),
      again: edge.again ? edge.again.same : null, given: "", strength: (edge.strength || "").replace(measure, "").replace(/the (.*) joined to either$/, "$1"), why: edge.why.filter(Boolean).join(" "),
      rules: edge.rules.filter(Boolean).join(", "),
      conflict: edge.conflicts.some(list => list.length) ? "yes" : "", doubt: edge.contradictions.length ? "yes" : "" };
  });
  const apartRows = content.apart.map(row => ({ pair: [row[0], row[1]], edge: names[row[0]] + "   " + names[row[1]],
    again: null, probability: row[7], joined: row[7] === null ? null : 1 - row[7], p: row[3], n: row[5], r: row[4],
    given: row[2] === null ? "" : row[2].length ? row[2].map(g => names[g]).join(", ") : "nothing", strength: "", why: "", rules: "", conflict: "",
    doubt: row[6].length ? "yes" : "" }));
  const PROBABLE = content.probable ? [["probability", "Probability"], ["joined", "Joined at all"]] : [];
  const EVERY = [["edge", "Pair"], ...PROBABLE, ["strength", measure ? measure[0].toUpperCase() + measure.slice(1).trim() : "Strength"], ["p", "p"], ["n", "n"], ["given", "Separated by"], ["r", "r"],
    ["rules", "Rules"], ["conflict", "Conflict"], ["doubt", "Contradiction"],
    ...(content.resamples ? [["again", "Of " + content.resamples.n + " resamples"]] : [])];
  // A column is shown if one of these rows has an entry in it. The column n is shown only if its entries differ.
  const isUsed = (rows, name) => rows.some(row => row[name] !== null && row[name] !== "" && (name !== "n" || row.n !== rows[0].n));
  let columns = EVERY;
  const NUMBERS = new Set(["probability", "joined", "p", "n", "r", "rules", "again"]);
  const PAGE = 200;
  let order = null, ascending = true, page = PAGE;

  function heads() {
    const sorted = name => (name === order ? { "aria-sort": ascending ? "ascending" : "descending" } : {});
    byId("table").tHead.replaceChildren(make("tr", {}, ...columns.map(([name, heading]) =>
      make("th", { scope: "col", "data-column": name, ...sorted(name) }, make("button", { type: "button", click: () => sortBy(name) }, heading)))));
  }

  function sortBy(name, up = order === name ? !ascending : true) {
    ascending = up;
    order = name;
    fillTable();
    document.querySelector(`th[data-column="${name}"] button`)?.focus({ preventScroll: true });
  }

  function compare(one, other) {
    const [a, b] = [one[order], other[order]];
    if (a === null || a === "" || b === null || b === "") return (a === null || a === "") - (b === null || b === "");
    const sign = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
    return ascending ? sign : -sign;
  }

  function fillTable() {
    const wanted = byId("shown").value;
    let rows = [...(wanted === "apart" ? [] : edgeRows), ...(wanted === "edges" ? [] : apartRows)];
    columns = EVERY.filter(([name]) => isUsed(rows, name));
    heads();
    if (sought()) rows = rows.filter(row => row.pair.some(i => matches(names[i])));
    if (order) rows.sort(compare);
    byId("table").tBodies[0].replaceChildren(...rows.slice(0, page).map(tableRow));
    byId("counted").textContent = rows.length + (rows.length === 1 ? " row" : " rows");
    byId("more").hidden = rows.length <= page;
    highlight();
  }

  const inShare = count => count.toLocaleString("en") + " (" + shownShare(count / content.resamples.n) + ")";

  function tableRow(row) {
    const button = make("button", { type: "button", class: "link", click: () => { show(lastFrame); choose({ pair: row.pair }); } }, row.edge);
    const shown = value => (value === null ? "" : typeof value === "number" ? value.toLocaleString("en") : value);
    const share = value => (value === null ? "" : shownShare(value));
    const cells = { ...row, edge: button, probability: share(row.probability), joined: share(row.joined), p: short(row.p), again: row.again === null ? "" : inShare(row.again),
      rules: row.rules ? make("abbr", { title: row.why, tabindex: 0 }, row.rules) : "" };
    // Each cell holds its heading, because on a narrow page a row becomes a card of lines, each with its heading.
    return make("tr", { "data-pair": key(...row.pair) }, ...columns.map(([name, heading]) =>
      make("td", { "data-heading": heading, class: NUMBERS.has(name) ? "number" : "" }, shown(cells[name]))));
  }
  byId("shown").addEventListener("change", () => { page = PAGE; fillTable(); });
  byId("more").addEventListener("click", () => { page += 5 * PAGE; fillTable(); });

  // ---- chart, legend, audit, making ------------------------------------------------------------------------------
  function chart() {
    const most = Math.max(1, ...frames.map(step => step.tests || 0)), width = 240, height = 34;
    const slot = width / frames.length, bar = Math.min(slot * 0.7, 34);
    return draw("svg", { viewBox: "0 0 " + width + " " + (height + 24), role: "img",
      "aria-label": "Tests in each iteration. " + frames.map(step => "r = " + step.r + ": " + step.tests).join(", ") },
      ...frames.map((step, k) => {
        const x = slot * (k + 0.5), tall = Math.max(1, height * (step.tests || 0) / most);
        return draw("g", { "data-frame": k, click: () => show(k) }, draw("title", {}, moment(k)),
          draw("rect", { x: x - bar / 2, y: height - tall + 12, width: bar, height: tall, rx: 2 }),
          draw("text", { x, y: height - tall + 9, "text-anchor": "middle" }, brief(step.tests || 0)),
          draw("text", { x, y: height + 23, "text-anchor": "middle" }, step.r));
      }));
  }
  const brief = n => (n < 1000 ? String(n) : n < 1e6 ? Math.round(n / 1000) + "k" : (n / 1e6).toFixed(1) + "M");

  function audit() {
    if (content.audit === null) return [paragraph("No audit of the data came with this result.", "soft")];
    const found = content.audit.length ? "The findings of the audit are at the top of this page." : content.checked;
    const kinds = make("dl", {}, ...content.kinds.flatMap(([name, kind, reason]) =>
      [make("dt", {}, name), make("dd", {}, kind + " (" + reason + ")")]));
    return [paragraph(found), ...content.notes.map(text => paragraph(text, "soft")),
      ...(content.kinds.length ? [make("details", {}, make("summary", {}, "What each column was taken for"), kinds)] : [])];
  }

  // The most probable graphs: their shares, and what differs from the answer.
  function probableGraphs() {
    const { about, graphs } = content.probable;
    return [...about.map(text => paragraph(text)), make("div", { class: "graphs" }, ...graphs.map(probableGraph))];
  }
  function probableGraph([share, heading, differences]) {
    const caption = make("figcaption", {}, make("span", { class: "percent" }, share), make("span", {}, heading));
    return make("figure", {}, caption, make("ul", {}, ...differences.map(text => make("li", {}, text))));
  }

  function knowledge() {
    return [make("ul", {}, ...content.knowledge.map(said =>
      make("li", {}, make("code", {}, said.statement), ": " + said.became + (said.told ? ": " + said.told : "") + ".")))];
  }

  function experiments() {
    const row = (kind, cells) => make("tr", {}, ...cells.map(cell => make(kind, {}, cell)));
    const { told, head, rows } = content.experiments;
    const lines = rows.map(cells => row("td", cells));
    return [make("table", {}, make("thead", {}, row("th", head)), make("tbody", {}, ...lines)),
      ...told.map(text => paragraph(text))];
  }

  function made() {
    const { call, choices, versions, tests, end } = content.made;
    const list = entries => make("dl", {}, ...entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    return [paragraph(end), paragraph(content.made.valid), ...(content.resamples ? [paragraph(content.resamples.summary)] : []), ...(call ? [make("pre", {}, call)] : []),
      make("div", { class: "lists" },
        list([...Object.entries(choices), ...(tests ? [["tests in all", tests.toLocaleString("en")]] : [])]),
        list(Object.entries(versions)))];
  }

  document.querySelector("#take-away span").textContent = [content.take_away, ...content.left_out].join(" ");
  // All reasons to doubt the answer, in one box: contradictions, statements that the data contradict, warnings.
  const against = content.knowledge.filter(said => said.became === "contradicted")
    .map(said => "The data contradict what was said to be known: " + said.statement + (said.told ? " (" + said.told + ")" : "") + ".");
  const mind = [...consistency.banner, ...against, ...content.cautions];
  const findings = content.audit || [];
  byId("banner").append(...mind.map(text => paragraph(text)), ...findings.map(({ severity, brief, more }) =>
    make("details", { class: severity === "error" ? severity : "" }, make("summary", {}, brief), paragraph(more, "soft"))));
  byId("banner").hidden = !mind.length && !findings.length;
  byId("banner").classList.toggle("alarm", consistency.is_alarm);
  byId("chart").append(chart());
  byId("legend").append(...content.legend.map(legendItem));
  byId("audit").append(...audit());
  if (content.probable) byId("probable").append(...probableGraphs());
  byId("probable").hidden = !content.probable;
  if (content.knowledge.length) byId("knowledge").append(...knowledge());
  byId("knowledge").hidden = !content.knowledge.length;
  byId("experiments").hidden = !content.experiments.told.length;
  if (content.experiments.told.length) byId("experiments").append(...experiments());
  byId("assumed").append(make("ul", {}, ...content.assumed.map(sentence => make("li", {}, sentence))));
  byId("made").append(...made());
  show(lastFrame);
  // The surest edges come first, as on the command line.
  order = content.resamples && content.resamples.n ? "again" : content.probable ? "probability" : null;
  ascending = order === null;
  fillTable();
  drawing.open(content.is_whole);
})();
