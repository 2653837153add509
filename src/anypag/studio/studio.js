// The studio: shows what the server's events say, and sends what the user does. Text enters the page as text, never as HTML.
(() => {
  const facts = JSON.parse(byId("content").textContent);
  const SLOW = 750, QUICK = 220; // milliseconds that a graph is shown before the next one of the queue
  const calm = matchMedia("(prefers-reduced-motion:reduce)").matches;
  let part = "table", run = { status: "" }, known = null, opened = false;
  let runs = -1, scenes = [], at = -1, follows = true, timer = null, drawnBoxes = "", isUnfit = true;
  let pinned = null, question = 0, picked = null;

  // ---- talking to the server ----------------------------------------------------------------------------------
  function note(text) {
    byId("note").textContent = text || "";
    byId("note").hidden = !text;
  }
  async function ask(path, body) {
    const sent = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(path, sent).catch(() => null);
    const content = answer && await answer.json().catch(() => null);
    if (answer && answer.ok && content !== null) return content;
    const error = content && content.error ? content.error : "The studio does not answer. It may have been ended; start it again on the command line.";
    note(error);
    throw new Error(error);
  }
  const change = (...values) => { note(""); return ask("change", values).catch(() => {}); };

  let events = null;
  const LISTENERS = {
    table: shown => showTable(shown), known: shown => showKnown(shown), run: shown => showRun(shown), take: shown => showTake(shown),
    start: number => { if (number !== runs) { runs = number; startScenes(); } },
    scene: scene => { if (!scenes.length || scene.k > scenes.at(-1).k) addScene(scene); },
    elsewhere: () => { heard.delete("elsewhere"); listen(false); },
    ended: () => { listen(false, true); note("The studio was ended. Nothing is lost: start it again with the same command."); },
  };
  let isOver = false;
  const heard = new Map();
  function listen(isOn, isLast = false) {
    isOver = isOver || isLast;
    if (events && !isOn) { events.close(); events = null; }
    if (!isOn || events || isOver) return;
    events = new EventSource("events");
    for (const [name, hear] of Object.entries(LISTENERS)) events.addEventListener(name, event => {
      if (heard.get(name) === event.data && name !== "scene") return; // nothing new: rendering would interrupt a click in progress
      heard.set(name, event.data);
      hear(JSON.parse(event.data));
    });
  }
  // A hidden page closes its stream, because browsers keep few connections to one server.
  document.addEventListener("visibilitychange", () => listen(!document.hidden));
  addEventListener("focus", () => listen(true));
  document.addEventListener("pointerdown", () => listen(true));

  // Render again, and keep the focus where it was.
  function rerender(container, children) {
    const focused = document.activeElement, name = container.contains(focused) && focused.dataset ? focused.dataset.key : undefined;
    container.replaceChildren(...children);
    if (name !== undefined) [...container.querySelectorAll("[data-key]")].find(one => one.dataset.key === name)?.focus();
  }
  const option = (value, text = value) => make("option", { value }, text);
  function fillSelect(select, values, texts = values) {
    const before = select.value;
    if ([...select.options].map(one => one.value).join("\0") === values.join("\0")) return;
    select.replaceChildren(...values.map((value, k) => option(value, texts[k])));
    if (values.includes(before)) select.value = before;
  }

  // ---- the parts ----------------------------------------------------------------------------------------------
  const tabs = [...document.querySelectorAll("nav button")];
  function show(wanted) {
    part = wanted;
    tabs.forEach(tab => {
      tab.setAttribute("aria-selected", tab.dataset.part === part);
      tab.tabIndex = tab.dataset.part === part ? 0 : -1;
      tab.disabled = !opened && tab.dataset.part !== "table";
    });
    for (const name of ["table", "known", "learn", "ask", "take"]) byId("part-" + name).hidden = name !== part;
    byId("part-graph").hidden = part !== "learn" && part !== "ask";
    if (!byId("part-graph").hidden && isUnfit && at >= 0) fit();
    if (part === "ask" && !pinned) greet();
  }
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => show(tab.dataset.part));
    tab.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(k + step + tabs.length) % tabs.length];
      if (!next.disabled) { show(next.dataset.part); next.focus(); }
    });
  });
  document.querySelectorAll(".next").forEach(button => button.addEventListener("click", () => { show(button.dataset.to); scrollTo(0, 0); }));

  // ---- 1 table ------------------------------------------------------------------------------------------------
  byId("endings").textContent = facts.endings.join(" ") + ", up to " + Math.round(facts.largest / 1e6) + " MB. The table stays on this machine.";
  byId("pick").addEventListener("change", event => { if (event.target.files[0]) upload(event.target.files[0]); event.target.value = ""; });
  addEventListener("dragover", event => { if (event.dataTransfer.types.includes("Files")) { event.preventDefault(); byId("drop").classList.add("over"); } });
  addEventListener("dragleave", () => byId("drop").classList.remove("over"));
  addEventListener("drop", event => {
    byId("drop").classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    upload(event.dataTransfer.files[0]);
  });
  function upload(file) {
    note("");
    if (file.size > facts.largest) return note("The page takes up to " + Math.round(facts.largest / 1e6) + " MB. `anypag studio FILE` opens a larger file in place.");
    const sent = new XMLHttpRequest(), bar = byId("uploading");
    bar.hidden = false;
    sent.upload.addEventListener("progress", event => { bar.max = event.total; bar.value = event.loaded; });
    sent.addEventListener("loadend", () => {
      bar.hidden = true;
      if (sent.status === 200) return show("table");
      let told = null;
      try { told = JSON.parse(sent.responseText).error; } catch { /* no answer */ }
      note(told || "The file could not be sent.");
    });
    sent.open("POST", "upload?name=" + encodeURIComponent(file.name));
    sent.send(file);
  }
  async function showEarlier() {
    const found = await ask("earlier");
    byId("earlier").replaceChildren(...found.slice(0, 8).map(one => make("li", {},
      make("button", { type: "button", class: "link", click: () => ask("open", one.key).catch(() => {}) }, "Go on with " + one.name), " ",
      make("button", { type: "button", class: "remove", click: () => ask("forget", one.key).then(showEarlier, () => {}) }, "forget it"))));
  }

  function showTable(shown) {
    opened = true;
    byId("file").textContent = shown.file;
    document.title = shown.file + ": anypag studio";
    byId("drop").classList.add("small");
    byId("invites").textContent = "Drop another table here";
    byId("opened").hidden = false;
    const on = shown.columns.filter(one => !one.is_off && !one.is_left_out).length;
    byId("size").textContent = shown.rows.toLocaleString("en") + " rows, " + on + " of " + shown.columns.length + " columns";
    byId("counted").textContent = shown.looked_at < shown.rows ? "Bars show the first " + shown.looked_at.toLocaleString("en") + " rows." : "";
    const own = new Map();
    shown.findings.filter(one => one.columns.length === 1).forEach(one => own.set(one.columns[0], [...(own.get(one.columns[0]) || []), one]));
    const whole = shown.findings.filter(one => one.columns.length !== 1);
    const error = shown.error ? [finding({ severity: "error", message: shown.error, remedy: "", buttons: shown.buttons })] : [];
    const notes = shown.notes.map(text => finding({ severity: "note", message: text, remedy: "", buttons: [] }));
    const errors = whole.filter(one => one.severity === "error").map(finding), warnings = whole.filter(one => one.severity !== "error").map(finding);
    rerender(byId("findings"), [...error, ...errors, ...folded("warnings about several columns", warnings), ...folded("notes", notes)]);
    rerender(byId("columns"), shown.columns.map(one => columnCard(one, own.get(one.name) || [])));
    const { gaps, encoding, sheet, header } = shown.reading;
    byId("gaps").value = (gaps || []).filter(Boolean).join(", ");
    byId("gaps").placeholder = "NA, N/A, NaN, null, None";
    byId("encoding").value = encoding || "";
    byId("sheet").value = sheet || "";
    byId("header").checked = header !== false;
    if (shown.error) byId("reading").open = true;
    show(part);
  }
  function finding(one) {
    const buttons = one.buttons.map(button => make("button", { type: "button", "data-key": one.message + button.label, click: () => change(...button.change) }, button.label));
    return make("div", { class: "finding " + one.severity }, make("p", {}, one.message), ...(one.remedy ? [make("p", { class: "soft" }, one.remedy)] : []), ...buttons);
  }
  // Long lists are folded until the user opens them; then they stay open.
  const unfolded = new Set();
  function folded(title, items) {
    if (items.length < 4) return items;
    const list = make("details", { class: "card", toggle: event => unfolded[event.target.open ? "add" : "delete"](title) },
      make("summary", {}, items.length + " " + title), make("div", { class: "findings" }, ...items));
    list.open = unfolded.has(title);
    return [list];
  }
  function columnCard(one, findings) {
    const box = make("input", { type: "checkbox", "data-key": "on " + one.name, change: event => change("off", one.name, !event.target.checked) });
    box.checked = !one.is_off;
    const kinds = make("select", { "aria-label": "Kind of " + one.name, "data-key": "kind " + one.name, title: one.why,
      change: event => change("kind", one.name, event.target.value || null) },
      option("", one.is_given ? "guess" : one.kind), option("continuous", one.is_given || one.kind !== "continuous" ? "continuous" : "continuous, fixed"),
      option("discrete", one.is_given || one.kind !== "discrete" ? "discrete" : "discrete, fixed"));
    kinds.value = one.is_given ? one.kind : "";
    const ends = one.ends.length ? (one.n_levels ? one.n_levels + " levels: " + one.levels.slice(0, 6).join(", ") : one.ends.join(" to ")) : "no values";
    return make("div", { class: "card column" + (one.is_off || one.is_left_out ? " off" : "") },
      make("label", { title: one.name }, box, make("span", {}, one.name)), kinds, bars(one),
      make("p", { class: "facts" }, make("span", { title: one.why }, ends), ...(one.gaps ? [make("span", { class: "gaps" }, one.gaps.toLocaleString("en") + " gaps")] : []), ...(one.is_left_out ? [make("span", { class: "gaps" }, "left out")] : [])),
      ...findings.map(finding));
  }
  function bars({ bars: heights, levels, name }) {
    const tallest = Math.max(1, ...heights), step = 160 / Math.max(1, heights.length);
    return draw("svg", { class: "bars", viewBox: "0 0 160 34", preserveAspectRatio: "none", role: "img", "aria-label": "Histogram of " + name },
      ...heights.map((height, k) => draw("rect", { x: k * step, y: 34 - 33 * height / tallest, width: Math.max(1, step - 1), height: 33 * height / tallest },
        draw("title", {}, (levels ? levels[k] + ": " : "") + height.toLocaleString("en") + " rows"))));
  }
  byId("gaps").addEventListener("change", event => {
    const words = event.target.value.split(",").map(word => word.trim()).filter(Boolean);
    change("reading", "gaps", words.length ? words : null);
  });
  byId("encoding").addEventListener("change", event => change("reading", "encoding", event.target.value.trim() || null));
  byId("sheet").addEventListener("change", event => change("reading", "sheet", event.target.value.trim() || null));
  byId("header").addEventListener("change", event => change("reading", "header", event.target.checked));

  // ---- 2 what you know ----------------------------------------------------------------------------------------
  function showKnown(shown) {
    known = shown;
    byId("contradiction").textContent = shown.problem || "";
    byId("contradiction").hidden = !shown.problem;
    const tiers = shown.tiers.filter(tier => tier.length);
    const rows = [["Any time", -1, shown.free], ...tiers.map((tier, k) => ["Tier " + (k + 1) + (k ? "" : ", the earliest"), k, tier]), ["A new tier", tiers.length, []]];
    rerender(byId("tiers"), rows.map(([title, k, names]) => tierRow(title, k, names)));
    const one = shown.names[0], two = shown.names[1];
    fillSelect(byId("left"), shown.names);
    fillSelect(byId("right"), shown.names);
    if (one && byId("left").value === byId("right").value && two) byId("right").value = byId("left").value === two ? one : two;
    fillSelect(byId("words"), shown.words.map(pair => pair[0]), shown.words.map(pair => pair[1]));
    tellForm();
    const isWithin = ([, text]) => text === "within tiers: no causes";
    byId("within").checked = shown.statements.some(isWithin);
    byId("within").disabled = tiers.length < 2;
    rerender(byId("statements"), shown.statements.map((pair, k) => [pair, k]).filter(([pair]) => !isWithin(pair)).map(([[words], k]) => make("li", {},
      make("span", {}, words), make("button", { type: "button", class: "remove", "data-key": "statement " + k, click: () => change("unsay", k) }, "remove"))));
  }
  function tierRow(title, k, names) {
    const chips = names.map(name => make("button", { type: "button", class: "chip", draggable: "true", title: name, "data-key": "chip " + name, "aria-pressed": picked === name,
      "aria-description": title + "; arrow keys move it", click: event => { event.stopPropagation(); picked = picked === name ? null : name; showKnown(known); },
      dragstart: event => { picked = name; event.dataTransfer.setData("text/plain", name); event.dataTransfer.effectAllowed = "move"; },
      keydown: event => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) { event.preventDefault(); move(name, k + step); }
      } }, name));
    const put = () => { if (picked !== null) move(picked, k); };
    const row = make("div", { class: "tier", "data-tier": k, click: put,
      dragover: event => { if (picked !== null) { event.preventDefault(); row.classList.add("over"); } },
      dragleave: () => row.classList.remove("over"),
      drop: event => { event.preventDefault(); event.stopPropagation(); put(); } },
      make("h3", {}, make("button", { type: "button", click: event => { event.stopPropagation(); put(); }, "aria-label": "Put the chosen column into: " + title }, title)), ...chips,
      ...(k < 0 || names.length ? [] : [make("span", { class: "soft" }, "drop a column here")]));
    return row;
  }
  function move(name, k) {
    const tiers = known.tiers.filter(tier => tier.length).map(tier => tier.filter(other => other !== name));
    const target = Math.max(-1, Math.min(k, tiers.length));
    if (target === tiers.length) tiers.push([]);
    if (target >= 0) tiers[target].push(name);
    picked = null;
    const left = tiers.filter(tier => tier.length), placed = new Set(left.flat());
    showKnown({ ...known, tiers: left, free: known.names.filter(other => !placed.has(other)) });
    change("tiers", left);
  }
  const tellForm = () => { byId("right").hidden = byId("words").value === "not_selecting"; };
  byId("words").addEventListener("change", tellForm);
  byId("say").addEventListener("submit", event => {
    event.preventDefault();
    change("say", byId("words").value, byId("left").value, byId("right").value);
  });
  byId("within").addEventListener("change", event => {
    const k = known.statements.findIndex(([, text]) => text === "within tiers: no causes");
    if (event.target.checked) change("say", "within_tiers");
    else if (k >= 0) change("unsay", k);
  });

  // ---- 3 learn ------------------------------------------------------------------------------------------------
  const SAID = { reading: "Reading…", unready: "Not ready", ready: "Ready", running: "Learning…", stopped: "Stopped", done: "Done", failed: "Failed" };
  function showRun(shown) {
    run = shown;
    const { status } = shown, running = status === "running";
    byId("go").textContent = running ? "Stop" : status === "stopped" ? "Go on" : status === "done" ? "Learned" : "Learn";
    byId("go").disabled = !running && status !== "ready" && status !== "stopped";
    const counts = shown.tests ? shown.tests.toLocaleString("en") + " tests, " + shown.seconds + " s" : "";
    byId("said").textContent = status === "unready" || status === "failed" ? shown.said : [running ? shown.said : "", counts].filter(Boolean).join("; ");
    byId("status").textContent = SAID[status] + (counts && status !== "ready" ? " " + counts : "");
    byId("progress").hidden = !running;
    if (shown.share !== null) byId("progress").value = shown.share;
    else byId("progress").removeAttribute("value");
    byId("end").textContent = shown.end;
    byId("about").textContent = shown.about;
    if (status === "failed") note(shown.said);
    byId("steps").hidden = !shown.steps.length;
    byId("steps").tBodies[0].replaceChildren(...shown.steps.map(step => make("tr", {},
      ...[step.name, step.edges, step.removed === null ? "" : step.removed, step.tests ? step.tests.toLocaleString("en") : "", step.seconds.toFixed(2)].map(cell => make("td", {}, String(cell))))));
    byId("empty").hidden = at >= 0;
    byId("empty").textContent = running ? "Learning…" : status === "ready" ? "Ready. Press Learn." : shown.said || "No graph yet.";
    if (!running) rerender(byId("choices").querySelector("div"), shown.offered.map(choiceField));
  }
  byId("go").addEventListener("click", () => { follows = true; ask(run.status === "running" ? "stop" : "go", {}).catch(() => {}); });
  function choiceField(one) {
    const set = value => change("choice", one.name, value), title = one.name.replaceAll("_", " ");
    const attributes = { "data-key": "choice " + one.name };
    let field;
    if (one.values.length) {
      field = make("select", { ...attributes, change: event => set(event.target.value) }, ...one.values.map(value => option(value)));
      field.value = one.value;
    } else if (typeof one.default === "boolean") {
      field = make("input", { ...attributes, type: "checkbox", change: event => set(event.target.checked) });
      field.checked = one.value;
      return make("label", {}, "sample may be selected", field, make("small", {}, "Switch it off if you know that none of these variables affects who or what is in the sample."));
    } else {
      field = make("input", { ...attributes, inputmode: "decimal", value: one.value === null ? "" : one.value, placeholder: one.default === null ? "no limit" : one.default,
        change: event => { const typed = event.target.value.trim(); set(typed === "" ? null : Number.isNaN(Number(typed)) ? typed : Number(typed)); } });
    }
    return make("label", {}, title, field, make("small", {}, one.help));
  }

  // ---- the graph ----------------------------------------------------------------------------------------------
  const drawing = new Drawing({ point: () => {}, choose });
  function startScenes() {
    scenes = [];
    at = -1;
    follows = true;
    clearTimeout(timer);
    timer = null;
    choose(null);
    drawnBoxes = "";
    drawing.setNodes([], [], [100, 100]);
    drawing.setLines([]);
    drawing.show([], () => ({}));
    byId("moment").textContent = "";
    byId("empty").hidden = false;
    byId("banner").replaceChildren();
    byId("replay").max = 0;
  }
  function addScene(scene) {
    scenes.push(scene);
    byId("replay").max = scenes.length - 1;
    if (timer === null) advance();
  }
  // Shows the graphs of the queue one by one, so that each can be seen.
  function advance() {
    timer = null;
    if (!follows || at >= scenes.length - 1) return;
    draw_(calm ? scenes.length - 1 : at + 1);
    timer = setTimeout(advance, scenes[at].shares.length ? QUICK : SLOW);
  }
  byId("replay").addEventListener("input", event => {
    follows = Number(event.target.value) === scenes.length - 1;
    if (scenes.length) draw_(Number(event.target.value));
  });
  function draw_(k) {
    const scene = scenes[k], boxes = JSON.stringify([scene.boxes, scene.lines]);
    at = k;
    if (boxes !== drawnBoxes) {
      drawnBoxes = boxes;
      drawing.setNodes(scene.names, scene.boxes, scene.size);
      drawing.setLines(scene.lines);
    }
    const doubted = new Set(scene.doubted);
    drawing.show(scene.rows, line => ({ state: doubted.has(line) ? " doubted" : "", doubt: doubted.has(line) ? "takes part in claims that cannot all be true" : "",
      share: scene.shares.length ? scene.shares[line] : null, words: "probability " }));
    byId("replay").value = k;
    byId("empty").hidden = true;
    byId("moment").textContent = scene.step.name + ": " + scene.n_edges.toLocaleString("en") + " edges"
      + (scene.is_whole ? "" : ", too many to draw: choose a variable to see its edges");
    if (scene.legend.length) byId("legend").replaceChildren(...scene.legend.map(legendItem));
    byId("banner").replaceChildren(...scene.banner.map(text => paragraph(text)));
    fillSelect(byId("one"), ["", ...scene.names.map((_, i) => String(i))], ["choose…", ...scene.names]);
    fillSelect(byId("two"), ["", ...scene.names.map((_, i) => String(i))], ["any", ...scene.names]);
    isUnfit = true;
    if (!byId("part-graph").hidden) fit();
    drawing.highlight(pinned, Boolean(pinned));
  }
  let fitted = "";
  function fit() {
    const wanted = JSON.stringify(scenes[at].size) + byId("graph").clientWidth;
    isUnfit = false;
    if (fitted !== wanted || drawing.window === undefined) drawing.open(scenes[at].is_whole);
    fitted = wanted;
  }

  addEventListener("resize", () => { isUnfit = true; if (at >= 0 && !byId("part-graph").hidden) fit(); });

  // ---- 4 ask --------------------------------------------------------------------------------------------------
  function greet() {
    byId("told").replaceChildren(make("h2", {}, "Ask the graph"),
      paragraph("Click an edge to read what it says, why it is there and how sure it is. Click two variables, one after the other, for the effect of one on the other. Or choose the variables above."));
  }
  function choose(target) {
    pinned = Drawing.joined(pinned, target);
    const ends = !pinned ? ["", ""] : pinned.pair ? pinned.pair.map(String) : [String(pinned.node), ""];
    [byId("one").value, byId("two").value] = ends;
    question += 1;
    if (!pinned) {
      if (drawing.now) drawing.highlight(null, false);
      return greet();
    }
    if (at < scenes.length - 1) { follows = true; draw_(scenes.length - 1); }
    if (part !== "ask") show("ask");
    drawing.highlight(pinned, true);
    tell(pinned, question).catch(() => {});
  }
  for (const id of ["one", "two"]) byId(id).addEventListener("change", () => {
    const one = byId("one").value, two = byId("two").value;
    pinned = null;
    if (one === "") return choose(null);
    choose(two === "" || two === one ? { node: Number(one) } : { pair: [Number(one), Number(two)] });
  });
  function block([tag, style, text]) {
    if (tag === "svg") return pictured(text, style, "draws");
    return make(tag, style ? { class: style } : {}, text);
  }
  async function tell(target, mine) {
    const told = byId("told"), wait = paragraph("Computing…", "soft");
    if (!target.pair) {
      const found = await ask("node?i=" + target.node);
      if (mine !== question) return;
      told.replaceChildren(...found.told.map(block));
      if (scenes.length && !scenes.at(-1).is_whole) { drawing.setLines(found.lines); drawing.show(found.rows, () => ({})); drawing.highlight(target, false); drawnBoxes = ""; }
      return;
    }
    const [i, j] = target.pair;
    told.replaceChildren(wait);
    const why = await ask("pair?i=" + i + "&j=" + j);
    if (mine !== question) return;
    told.replaceChildren(...why.map(block), wait);
    for (const [x, y] of [[i, j], [j, i]]) {
      const effect = await ask("effect?i=" + x + "&j=" + y).catch(() => []);
      if (mine !== question) return;
      wait.before(...effect.map(block));
    }
    wait.remove();
  }

  // ---- 5 take away --------------------------------------------------------------------------------------------
  function showTake(shown) {
    byId("python").textContent = shown ? shown.python : "Learn a graph first.";
    byId("shell").textContent = shown ? shown.shell : "Learn a graph first.";
    byId("stopped").textContent = shown ? shown.note : "";
    byId("files").toggleAttribute("inert", !shown);
  }
  document.querySelectorAll("[data-copy]").forEach(button => button.addEventListener("click", () => {
    navigator.clipboard.writeText(byId(button.dataset.copy).textContent).then(() => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); });
  }));

  greet();
  show("table");
  showEarlier().catch(() => {});
  listen(!document.hidden);
})();
