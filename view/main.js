
/* The page: which method and stage is shown, beside which other; what is selected; the keys of the whole. */
class Page {
  constructor() {
    this.panes = [];
    this.options = { constants: false, guards: false };
    this.graphs = new Map();
    this.functions = (data.functions || []).filter((f) => f.stages.length);
    this.explained = parseReasons(data.run && data.run.reasons);
    this.written = new Times(data.run && data.run.written, data.run && data.run.written_ms);
    this.planned = new Times(data.run && data.run.planned, data.run && data.run.planned_ms);
    byId("file").textContent = data.file.replace(/^.*\//, "");
    byId("file").title = data.file;
    this.live();
    readPalette();
    if (data.failures) return this.fail();
    this.tree = new ModuleTree(this);
    this.tip = make("div", { id: "tip", hidden: true });
    document.body.append(this.tip);
    this.listen();
    this.tabs();
    this.chooseFunction(this.functions.find((f) => f.name === data.method) || this.functions[0]);
  }
  fail() {
    byId("main").replaceChildren(make("div", { class: "failure", role: "alert" }, data.failures.join("\n")));
    byId("main").style.display = "block";
  }

  /* ---- method and stages ---- */
  chooseFunction(chosen) {
    this.function = chosen;
    byId("live-run").textContent = chosen ? `Run ${chosen.name}` : "Run";
    const select = byId("function");
    select.replaceChildren(...this.functions.map((f, i) => make("option", { value: i, selected: f === chosen }, f.name)));
    if (!chosen) {
      byId("panes").replaceChildren(make("p", { class: "failure" }, "There is no method whose graph could be shown."));
      return;
    }
    this.stages = chosen.stages.map(([step, kind, call, block], i) => ({ step, kind, call, block, index: i }));
    const order = [0, 1, 2];
    this.stages.sort((a, b) => order[a.kind] - order[b.kind] || a.index - b.index);
    this.stages.forEach((stage, i) => {
      const before = this.stages[i - 1];
      stage.index = i;
      stage.same = !!before && before.kind === stage.kind && before.block === stage.block;
    });
    this.stage = this.stages.find((stage) => stage.kind === 1) || this.stages[0];
    this.against = null;
    byId("compare").checked = false;
    this.showStages();
    this.update();
  }
  stageTitle(stage) {
    return stage.kind === 1 ? "as written, calls inlined" : stage.kind === 0 ? `compile: ${stage.step}` : stage.isLast ? `plan (${stage.step})` : `plan: ${stage.step}`;
  }
  showStages() {
    const strip = byId("stages"), eras = ["Compile", "As written", "Plan"], parts = [];
    let era = -1, call = 0;
    for (const stage of this.stages) {
      if (stage.kind !== era || (stage.kind === 2 && stage.call !== call)) {
        era = stage.kind;
        call = stage.call;
        parts.push(make("span", { class: "era" }, era === 2 ? `Plan, made by call ${call}` : eras[era]));
      }
      const label = stage.kind === 1 ? "inlined" : stage.step;
      stage.button = make("button", { type: "button", class: stage.same ? "same" : "", title: stage.same ? `${label}: unchanged` : label,
        "aria-label": `${eras[era]}: ${label}${stage.same ? ", unchanged" : ""}`, "aria-pressed": "false", onclick: (event) => this.chooseStage(stage, event.shiftKey) }, stage.same ? "·" : label);
      parts.push(stage.button);
    }
    strip.replaceChildren(...parts);
    this.countStages(this.stages);
    byId("against").replaceChildren(...this.stages.filter((stage) => !stage.same).map((stage) => make("option", { value: stage.index }, `${eras[stage.kind]}: ${stage.kind === 1 ? "inlined" : stage.step}`)));
  }
  /* What each stage changed, put on its button when there is time for it. */
  countStages(stages) {
    let at = 0, before = null, nodes = [];
    const next = () => {
      while (stages[at] && stages[at].same) at++;
      const stage = stages[at++];
      if (stages !== this.stages) return;
      if (!stage) {
        this.counted = stages;
        return this.stage.button.scrollIntoView({ block: "nearest", inline: "center" });
      }
      const now = nodesOfBlock(stage.block);
      if (before && before.kind === stage.kind) {
        const d = compareNodes(nodes, now), counts = [["added", "+", d.added.length], ["removed", "−", d.removed.length], ["changed", "~", d.changed.length]].filter(([, , n]) => n);
        stage.button.append(make("span", { class: "delta" }, counts.map(([, sign, n]) => sign + n).join(" ") || "moved"));
        stage.button.title = `${stage.step}: ${counts.map(([name, , n]) => `${n} ${name}`).join(", ") || "nodes moved"}`;
      }
      before = stage;
      nodes = now;
      setTimeout(next);
    };
    setTimeout(next, 100);
  }
  chooseStage(stage, asOther) {
    if (asOther) {
      this.against = stage;
      byId("compare").checked = true;
    } else {
      this.stage = stage;
      if (byId("compare").checked) this.against = this.before(stage);
    }
    this.update();
    announce(`Stage ${this.stageTitle(this.stage)}`);
  }
  /* The last stage that differs. */
  before(stage) {
    for (let i = stage.index - 1; i >= 0; i--) if (this.stages[i].block !== stage.block && !this.stages[i].same) return this.stages[i];
    return this.stages.find((other) => other !== stage) || stage;
  }
  stepStage(by) {
    let i = this.stage.index + by;
    while (this.stages[i] && this.stages[i].same) i += by;
    if (this.stages[i]) this.chooseStage(this.stages[i]);
  }
  graphOf(stage) {
    const key = `${stage.block} ${stage.kind} ${this.options.constants} ${this.options.guards}`;
    if (!this.graphs.has(key)) {
      const graph = new Graph(stage.block, this.options);
      if (data.run && data.run.method === this.function.name) (stage.kind === 2 ? this.planned : this.written).attach(graph);
      this.graphs.set(key, graph);
      if (this.graphs.size > 12) this.graphs.delete(this.graphs.keys().next().value);
    }
    return this.graphs.get(key);
  }
  get timesNow() { return this.stage.kind === 2 ? this.planned : this.written; }
  get times() { return data.run && this.timesNow.total > 0; }

  update() {
    const two = this.against && byId("compare").checked, wanted = two ? 2 : 1;
    while (this.panes.length < 2) this.panes.push(new Pane(this, this.panes.length ? "after" : "before"));
    const [left, right] = this.panes, main = right;
    byId("panes").replaceChildren(...(two ? [left.element, right.element] : [right.element]));
    this.active = main;
    this.difference = null;
    for (const pane of this.panes) { pane.states = new Map(); pane.counts = new Map(); }
    const graph = this.graphOf(this.stage);
    if (two) {
      const before = this.graphOf(this.against);
      this.difference = compareGraphs(before, graph);
      left.states = this.difference.before;
      right.states = this.difference.after;
      left.counts = countChanges(before, left.states);
      right.counts = countChanges(graph, right.states);
      left.open = new Set(right.open);
      left.graph = null;
      left.show(before, this.stageTitle(this.against));
    }
    const fresh = main.graph && this.shownFunction !== this.function;
    if (fresh) { main.graph = null; main.open.clear(); main.selected = null; }
    this.shownFunction = this.function;
    main.show(graph, this.stageTitle(this.stage));
    if (this.paneCount !== wanted) main.fit();
    this.paneCount = wanted;
    for (const stage of this.stages) {
      stage.button.setAttribute("aria-pressed", String(stage === this.stage));
      stage.button.dataset.against = String(!!two && stage === this.against);
    }
    this.stage.button.scrollIntoView({ block: "nearest", inline: "nearest" });
    byId("against").disabled = !byId("compare").checked;
    if (this.against) byId("against").value = this.against.index;
    byId("heat-label").hidden = !this.times;
    this.hottest = 0;
    for (const item of graph.items) this.hottest = Math.max(this.hottest, item.ms || 0);
    this.legend();
    this.details();
  }

  /* ---- selection ---- */
  selected(pane, item) {
    this.active = pane;
    this.chosenModule = null;
    if (item && item.path) {
      const entry = this.tree.byPath.get(item.path);
      if (entry) this.tree.choose(entry, true);
    }
    if (this.panes.length > 1 && this.difference && item && item.node) this.mirror(pane, item);
    this.details();
  }
  /* The same node in the other stage. */
  mirror(pane, item) {
    const other = pane === this.panes[0] ? this.panes[1] : this.panes[0];
    const twin = other.graph.byOutput.get(item.identity);
    other.selected = twin && other.at.has(twin) ? twin : null;
    other.draw();
  }
  opened(pane, item) {
    if (this.difference) {
      const other = pane === this.panes[0] ? this.panes[1] : this.panes[0], twin = other.keys.get(item.key);
      if (twin && other.isOpen(twin) !== pane.isOpen(item)) {
        if (pane.isOpen(item)) other.open.add(twin.key);
        else other.open.delete(twin.key);
        other.layAround(twin);
      }
    }
    this.details();
  }
  moduleChosen(entry) {
    this.chosenModule = entry;
    if (entry.kind === "m" && entry.path && this.panes.length) {
      const item = this.findModule(entry.path);
      if (item && byId("view-graph").hidden === false) {
        const pane = this.panes[1];
        pane.reveal(item);
        this.chosenModule = entry;
      }
    }
    if (!byId("view-weights").hidden) showWeights(this, entry.kind === "m" ? entry.path : entry.parent.path);
    if (!byId("view-source").hidden && entry.kind === "m") showSources(this, entry.type || data.class);
    this.details();
  }
  findModule(path) {
    if (!path || !this.panes.length) return null;
    let found = null;
    const walk = (item) => {
      if (found) return;
      if (item.path === path && item.parent && (item.type === "module" || item.node)) { found = item; return; }
      if (item.children) item.children.forEach(walk);
    };
    walk(this.panes[1].graph.root);
    return found;
  }
  jumpModule(path) {
    this.showTab("graph");
    const item = this.findModule(path);
    if (item) this.panes[1].reveal(item);
  }
  details() {
    const pane = this.active, item = pane && pane.selected, box = byId("details");
    let rows;
    if (this.chosenModule) rows = showModule(this, this.chosenModule);
    else if (!pane || !this.function) rows = [];
    else if (!item) rows = showStage(this, pane);
    else if (item.type === "port") rows = [make("h2", {}, item.label), facts([["type", item.valueType || ""]])];
    else rows = item.node && !(item.isGroup && item.type !== "node") ? showNode(this, pane, item) : showGroup(this, pane, item);
    if (item && item.node && item.isGroup && !this.chosenModule)
      rows.splice(2, 0, make("div", { class: "row" }, make("button", { type: "button", onclick: () => pane.toggle(item) }, pane.isOpen(item) ? "Close" : "Open")));
    box.replaceChildren(...rows.filter(Boolean));
  }
  /* Brings a node into sight, with what hides it switched on. */
  jump(pane, item) {
    if (item.isConstant && !this.options.constants || item.isGuard && !this.options.guards) {
      const which = item.isGuard ? "guards" : "constants", identity = item.identity;
      this.options[which] = true;
      byId("show-" + which).checked = true;
      this.update();
      item = pane.graph.byOutput.get(identity) || item;
    }
    this.showTab("graph");
    if (pane.keys.get(item.key)) pane.reveal(item);
    else {
      const twin = pane.graph.byOutput.get(item.identity);
      if (twin) pane.reveal(twin);
    }
  }
  jumpRow(row, which) {
    const wanted = which === "planned" ? 2 : 1, stage = this.stage.kind === wanted ? this.stage : this.stages.filter((other) => other.kind === wanted).pop();
    if (!stage) return;
    this.showTab("graph");
    if (stage !== this.stage) this.chooseStage(stage);
    const item = this.panes[1].graph.items.find((other) => other.row === row);
    if (item) this.jump(this.panes[1], item);
  }
  jumpPlace(place) {
    this.showTab("graph");
    const item = this.panes[1].graph.items.find((other) => !other.hidden && other.node.place && `${other.node.place.file}:${other.node.place.line}` === place);
    if (item) this.jump(this.panes[1], item);
    else announce("No node of this stage comes from that line");
  }
  reasonsAt(node) {
    if (!node.place) return [];
    const place = `${node.place.file}:${node.place.line}`;
    return this.explained.reasons.filter((reason) => reason.place === place && (reason.text.includes(`(${node.kind})`) || !/\(\w+::\w+\)/.test(reason.text)));
  }
  heatOf(item, pane) {
    if (!this.times || !byId("heat").checked || !item.ms) return 0;
    return Math.sqrt(Math.min(1, item.ms / (item.isGroup ? this.timesNow.total / this.timesNow.calls : this.hottest || 1)));
  }
  hover(pane, item, event) {
    if (item === this.hovered) return;
    this.hovered = item;
    this.tip.hidden = !item || !item.number;
    pane.canvas.style.cursor = item ? "pointer" : "grab";
    if (this.tip.hidden) return;
    const node = item.node, lines = [node ? node.kind : titleOf(item)];
    if (node && node.schema) lines.push(node.schema);
    if (item.path) lines.push(`in ${item.path}`);
    if (item.row && item.row.output) lines.push(`${shapeText(item.row.inputs)} → ${shapeText(item.row.output)}`);
    else if (node) lines.push(...node.types.slice(0, 3));
    if (item.ms) lines.push(timeText(item.ms) + " a call");
    if (node && node.place) lines.push(`${shortFile(node.place.file)}:${node.place.line}`, sourceLine(node.place.excerpt));
    this.tip.textContent = lines.filter(Boolean).join("\n");
    const x = Math.min(event.clientX + 14, innerWidth - 440), y = event.clientY + 18;
    this.tip.style.left = Math.max(4, x) + "px";
    this.tip.style.top = (y + 130 > innerHeight ? event.clientY - 130 : y) + "px";
  }

  /* ---- search ---- */
  find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), out = [], graph = this.panes[1] && this.panes[1].graph;
    if (!words.length || !graph) return out;
    for (const entry of this.tree.byPath.values()) {
      if (out.length >= 12) break;
      if (entry.kind === "m" && entry.path && words.every((word) => (entry.path + " " + entry.type).toLowerCase().includes(word)) && this.findModule(entry.path)) out.push({ label: entry.path, sub: shortClass(entry.type), entry });
    }
    for (const item of graph.items) {
      if (out.length >= 60) break;
      const node = item.node, value = node.outputs.map((name) => "%" + name).join(" ");
      const all = `${node.kind} ${value} ${item.path} ${item.module || ""} ${node.place ? node.place.file + ":" + node.place.line : ""} ${node.attributes}`.toLowerCase();
      if (words.every((word) => all.includes(word))) out.push({ label: shortKind(node.kind) + " " + value, sub: [item.path, node.place ? `${node.place.file.replace(/^.*\//, "")}:${node.place.line}` : ""].filter(Boolean).join("  "), item });
    }
    return out;
  }
  searchShow() {
    const box = byId("search"), list = byId("found");
    this.found = this.find(box.value);
    this.foundAt = 0;
    list.hidden = !box.value.trim();
    box.setAttribute("aria-expanded", String(!list.hidden));
    list.replaceChildren(...this.found.map((hit, i) => make("li", { role: "option", id: `found-${i}`, "aria-selected": String(i === 0), onmousedown: (event) => { event.preventDefault(); this.searchTake(i); } }, make("span", {}, hit.label), make("span", {}, hit.sub))));
    if (!this.found.length) list.replaceChildren(make("li", { role: "option", "aria-selected": "false" }, "nothing found"));
    box.setAttribute("aria-activedescendant", this.found.length ? "found-0" : "");
    announce(`${this.found.length} found`);
  }
  searchMove(by) {
    if (!this.found || !this.found.length) return;
    this.foundAt = (this.foundAt + by + this.found.length) % this.found.length;
    [...byId("found").children].forEach((row, i) => row.setAttribute("aria-selected", String(i === this.foundAt)));
    byId("search").setAttribute("aria-activedescendant", `found-${this.foundAt}`);
    byId(`found-${this.foundAt}`).scrollIntoView({ block: "nearest" });
  }
  searchTake(i) {
    const hit = this.found && this.found[i];
    if (!hit) return;
    this.searchClose();
    if (hit.entry) this.jumpModule(hit.entry.path);
    else this.jump(this.panes[1], hit.item);
    this.panes[1].canvas.focus();
  }
  searchClose() {
    byId("found").hidden = true;
    byId("search").setAttribute("aria-expanded", "false");
  }

  /* ---- tabs ---- */
  tabs() {
    const names = [["graph", "Graph"], ["weights", "Weights"], ["source", "Source"], ["time", "Time"], ["reasons", "Reasons"]];
    byId("tabs").replaceChildren(...names.map(([name, label]) => make("button", { type: "button", role: "tab", id: "tab-" + name, "aria-controls": "view-" + name, "aria-selected": "false", tabindex: "-1", onclick: () => this.showTab(name) }, label)));
    byId("tabs").addEventListener("keydown", (event) => {
      const at = names.findIndex(([name]) => name === this.tab), to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1 : -1;
      if (!names[to]) return;
      this.showTab(names[to][0]);
      byId("tab-" + names[to][0]).focus();
    });
    this.showTab("graph");
  }
  showTab(name) {
    if (this.tab === name) return;
    this.tab = name;
    for (const button of byId("tabs").children) {
      const on = button.id === "tab-" + name;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      byId(button.getAttribute("aria-controls")).hidden = !on;
    }
    const module = this.tree.chosen;
    if (name === "weights") showWeights(this, module.kind === "m" ? module.path : module.parent.path);
    if (name === "source") showSources(this, module.kind === "m" ? module.type || data.class : "");
    if (name === "time") showTimes(this);
    if (name === "reasons") showReasons(this);
  }
  showSource(name) {
    this.showTab("source");
    showSources(this, name);
  }

  legend() {
    const names = [["compute", "computes"], ["alias", "view of memory"], ["write", "writes in place"], ["control", "control flow"], ["fusion", "fusion group"], ["guard", "guard"], ["call", "module or call"]];
    const shown = new Set(this.panes.flatMap((pane) => (pane.at ? [...pane.at.keys()].map((item) => (item.type === "module" ? "call" : item.category)) : [])));
    if (this.times && byId("heat").checked) {
      const most = this.hottest || 0, mark = (part) => makeSvg("rect", { width: 10, height: 10, rx: 3, fill: "var(--heat)", "fill-opacity": 0.1 + 0.5 * Math.sqrt(part) });
      byId("legend").replaceChildren(...[0.01, 0.1, 0.5, 1].map((part) => make("span", {}, makeSvg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, mark(part)), `${timeText(most * part)} a call`)));
      return;
    }
    byId("legend").replaceChildren(...names.filter(([name]) => shown.has(name) || !shown.size).map(([name, label]) => make("span", {}, makeSvg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, makeSvg("rect", { width: 10, height: 10, rx: 3, fill: `var(--${name})` })), label)));
  }
  help() {
    const keys = [["/", "find a node"], ["← ↑ ↓ →", "from node to node"], ["Shift + arrows", "move the picture"], ["Enter", "open or close a group"], ["Esc", "out to the group around"], ["+ − 0", "larger, smaller, all"],
      ["[ ]", "stage before, after"], ["c", "compare with the stage before"], ["t", "dark or light"], ["?", "this"]];
    const dialog = byId("help");
    dialog.replaceChildren(make("h2", {}, "Keys"), facts(keys.map(([key, text]) => [make("kbd", {}, key), text])),
      make("p", {}, "Drag moves, the wheel zooms, a double click opens a group. Boxes with a shadow hold others: modules, functions, branches, fusion groups. Shift and a click on a stage compares with it."),
      make("p", {}, "Each box is one operation of the program's intermediate form. Arrows are values that go from one to the next. Compile steps come first; after calls were watched, a plan is made by passes, and each pass is a stage."),
      make("button", { type: "button", onclick: () => dialog.close() }, "Close"));
    dialog.showModal();
  }

  /* ---- with other inputs, or another method ---- */
  live() {
    if (!data.live) return;
    const form = byId("live"), box = byId("live-inputs"), words = (data.run && data.run.words) || data.words || [];
    form.hidden = false;
    box.value = words.map((word) => (/[\s"']/.test(word) ? "'" + word.replace(/'/g, "'\\''") + "'" : word)).join(" ");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const query = new URLSearchParams(), method = this.function ? this.function.name : data.method;
      if (method) query.append("method", method);
      for (const word of splitWords(box.value)) query.append("input", word);
      location.search = query.has("input") ? query.toString() : `${query}&none`;
    });
    byId("live-reload").addEventListener("click", () => location.reload());
  }

  listen() {
    byId("function").addEventListener("change", (event) => this.chooseFunction(this.functions[event.target.value]));
    byId("compare").addEventListener("change", (event) => {
      this.against = event.target.checked ? this.before(this.stage) : null;
      this.update();
    });
    byId("against").addEventListener("change", (event) => {
      this.against = this.stages[event.target.value];
      this.update();
    });
    for (const which of ["constants", "guards"])
      byId("show-" + which).addEventListener("change", (event) => {
        this.options = Object.assign({}, this.options, { [which]: event.target.checked });
        this.update();
      });
    byId("heat").addEventListener("change", () => { this.legend(); this.panes.forEach((pane) => pane.draw()); });
    byId("expand-all").addEventListener("click", () => this.shownPanes().forEach((pane) => pane.openLevel()));
    byId("collapse-all").addEventListener("click", () => { this.shownPanes().forEach((pane) => pane.closeAll()); this.details(); });
    byId("zoom-in").addEventListener("click", () => this.shownPanes().forEach((pane) => pane.zoom(1.25)));
    byId("zoom-out").addEventListener("click", () => this.shownPanes().forEach((pane) => pane.zoom(0.8)));
    byId("fit").addEventListener("click", () => this.shownPanes().forEach((pane) => pane.fit()));
    byId("help-button").addEventListener("click", () => this.help());
    byId("theme").addEventListener("click", () => this.theme());
    const box = byId("search");
    box.addEventListener("input", () => this.searchShow());
    box.addEventListener("blur", () => this.searchClose());
    box.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") this.searchMove(1);
      else if (event.key === "ArrowUp") this.searchMove(-1);
      else if (event.key === "Enter") this.searchTake(this.foundAt);
      else if (event.key === "Escape") { box.value = ""; this.searchClose(); this.panes[1].canvas.focus(); }
      else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
      if (event.key === "/") { box.focus(); box.select(); }
      else if (event.key === "[") this.stepStage(-1);
      else if (event.key === "]") this.stepStage(1);
      else if (event.key === "c") byId("compare").click();
      else if (event.key === "t") this.theme();
      else if (event.key === "?") this.help();
      else return;
      event.preventDefault();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(this));
  }
  shownPanes() { return this.paneCount === 2 ? this.panes : [this.panes[1]]; }
  theme() {
    const dark = document.documentElement.dataset.theme === "dark";
    chosenTheme = dark ? "light" : "dark";
    setTheme(this);
  }
}

let chosenTheme = "";
function setTheme(page) {
  document.documentElement.dataset.theme = chosenTheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  readPalette();
  if (page) page.panes.forEach((pane) => pane.draw());
}
function sourceLine(excerpt) {
  const lines = (excerpt || "").split("\n"), at = lines.findIndex((line) => /^\s*~+/.test(line));
  return at > 0 ? lines[at - 1].trim() : "";
}
/* As a shell does, with quotes. */
function splitWords(text) {
  const out = [];
  let word = null, quote = "", depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote) {
      if (c === quote) { quote = ""; if (depth) word += c; }
      else word += c;
    } else if ((c === "'" || c === '"') && !depth) {
      quote = c;
      word = word === null ? "" : word;
    } else if (/\s/.test(c) && !depth) {
      if (word !== null) out.push(word);
      word = null;
    } else {
      if ("([{".includes(c)) depth++;
      if (")]}".includes(c)) depth--;
      if (c === "'" || c === '"') quote = c;
      word = (word === null ? "" : word) + c;
    }
  }
  if (word !== null) out.push(word);
  return out;
}

setTheme(null);
const page = new Page();
