
/* What stands around the graph: modules, details, weights, sources, times, reasons. */

function spreadSvg(spread, large) {
  if (!spread) return null;
  const bins = spread[6], most = Math.max(...bins), width = 320, height = 60;
  const svg = makeSvg("svg", { class: large ? "spread large" : "spread", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `from ${spread[0]} to ${spread[1]}, mean ${spread[2]}` });
  bins.forEach((count, i) => {
    if (!count) return;
    const tall = Math.max(1, count / most * height);
    const bar = makeSvg("rect", { x: i * width / bins.length, y: height - tall, width: width / bins.length - 1, height: tall });
    const step = (spread[1] - spread[0]) / bins.length, title = makeSvg("title", {});
    title.textContent = `${count} from ${(spread[0] + i * step).toPrecision(4)} to ${(spread[0] + (i + 1) * step).toPrecision(4)}`;
    bar.append(title);
    svg.append(bar);
  });
  return svg;
}

/* ---- modules ---- */
class ModuleTree {
  constructor(page) {
    this.page = page;
    this.list = byId("tree");
    this.root = { name: "", path: "", type: data.class || "", kind: "m", children: [], elements: 0, bytes: 0 };
    this.byPath = new Map([["", this.root]]);
    for (const entry of data.modules || []) this.add(entry);
    this.sum(this.root);
    this.open = new Set([""]);
    this.chosen = this.root;
    byId("model-sum").textContent = this.root.elements ? `${countText(this.root.elements)} · ${bytesText(this.root.bytes)}` : "";
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.show();
  }
  add([path, type, kind, ...more]) {
    const cut = path.lastIndexOf("."), parent = this.byPath.get(cut < 0 ? "" : path.slice(0, cut)) || this.root;
    const entry = { name: cut < 0 ? path : path.slice(cut + 1), path, type, kind, parent, children: [], elements: 0, bytes: 0 };
    if (more.length > 1) {
      [entry.dtype, entry.sizes, entry.bytes, entry.spread] = more;
      entry.elements = entry.sizes.reduce((product, size) => product * size, 1);
    } else {
      entry.value = more[0];
    }
    parent.children.push(entry);
    this.byPath.set(path, entry);
  }
  sum(entry) {
    for (const child of entry.children) {
      this.sum(child);
      if (child.kind !== "a") { entry.elements += child.elements; entry.bytes += child.bytes; }
    }
  }
  tensors(under = "") {
    const out = [];
    for (const entry of this.byPath.values()) if (entry.sizes && (!under || entry.path === under || entry.path.startsWith(under + "."))) out.push(entry);
    return out;
  }
  rows() {
    const rows = [];
    const walk = (entry, depth) => {
      rows.push([entry, depth]);
      if (this.open.has(entry.path)) entry.children.filter((child) => child.kind !== "a").forEach((child) => walk(child, depth + 1));
    };
    walk(this.root, 0);
    return rows;
  }
  show() {
    this.shown = this.rows();
    this.list.replaceChildren(...this.shown.map(([entry, depth], i) => {
      const inner = entry.children.some((child) => child.kind !== "a"), open = this.open.has(entry.path);
      const name = entry.name || (data.class ? shortClass(data.class) : "program");
      const row = make("li", { role: "treeitem", id: `tree-${i}`, "aria-level": depth + 1, "aria-expanded": inner ? String(open) : null,
        "aria-selected": String(entry === this.chosen), title: `${entry.path} ${entry.type}`,
        onclick: (event) => { if (event.target.classList.contains("twig")) this.toggle(entry); else this.choose(entry); },
        ondblclick: () => this.toggle(entry) },
        make("span", { class: "twig", "aria-hidden": "true" }, inner ? (open ? "▾" : "▸") : ""), make("span", {}, name),
        make("span", { class: "type" }, entry.kind === "m" ? (entry.name ? shortClass(entry.type) : "") : entry.dtype ? entry.sizes.join("×") : ""),
        make("span", { class: "count" }, entry.elements ? countText(entry.elements) : ""));
      row.style.paddingLeft = 4 + depth * 13 + "px";
      return row;
    }));
    const at = this.shown.findIndex(([entry]) => entry === this.chosen);
    this.list.setAttribute("aria-activedescendant", at >= 0 ? `tree-${at}` : "");
  }
  toggle(entry) {
    if (!this.open.delete(entry.path)) this.open.add(entry.path);
    this.show();
  }
  choose(entry, quietly) {
    this.chosen = entry;
    for (let up = entry.parent; up; up = up.parent) this.open.add(up.path);
    this.show();
    const row = this.list.querySelector('[aria-selected="true"]');
    if (row) row.scrollIntoView({ block: "nearest" });
    if (!quietly) this.page.moduleChosen(entry);
  }
  key(event) {
    const at = this.shown.findIndex(([entry]) => entry === this.chosen), entry = this.chosen;
    const go = (i) => this.shown[i] && this.choose(this.shown[i][0]);
    if (event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowUp") go(at - 1);
    else if (event.key === "ArrowRight") entry.children.length && !this.open.has(entry.path) ? this.toggle(entry) : go(at + 1);
    else if (event.key === "ArrowLeft") this.open.has(entry.path) && entry.path ? this.toggle(entry) : entry.parent && this.choose(entry.parent);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(this.shown.length - 1);
    else if (event.key === "Enter") this.toggle(entry);
    else return;
    event.preventDefault();
  }
}

/* ---- details ---- */
function facts(pairs) {
  const list = make("dl", { class: "facts" });
  for (const [name, value] of pairs) if (value !== "" && value != null) list.append(make("dt", {}, name), make("dd", {}, value));
  return list;
}
function excerptPre(text) {
  const pre = make("pre", {}), all = text.replace(/\n+$/, "").split("\n").filter((line) => !/^\s*File "/.test(line));
  const indent = Math.min(...all.filter((line) => line.trim()).map((line) => /^ */.exec(line)[0].length));
  const lines = all.map((line) => line.slice(Math.min(indent, line.length)));
  lines.forEach((line, i) => {
    const marked = i + 1 < lines.length && /^\s*~+ *(<--- HERE)?$/.test(lines[i + 1]);
    if (/^\s*~+ *(<--- HERE)?$/.test(line)) return;
    pre.append(marked ? make("span", { class: "here" }, line) : line, "\n");
  });
  return pre;
}
function linkTo(page, pane, item, text) {
  return make("button", { type: "button", class: "link", onclick: () => page.jump(pane, item) }, text);
}

const categoryWords = { compute: "computes", alias: "gives a view of its input's memory", write: "writes to memory that was there before",
  control: "control flow", fusion: "a group that runs as one", guard: "checks what the plan assumes", call: "calls a method or function", constant: "constant or weight" };
const guardWords = "Where this does not hold, the call leaves the plan here and goes on as the program was written.";

function showNode(page, pane, item) {
  const node = item.node, rows = [], graph = pane.graph;
  const state = pane.states.get(item);
  rows.push(make("h2", {}, node.kind));
  rows.push(make("p", {}, make("span", { class: "tag" }, categoryWords[item.category]), state ? make("span", { class: "tag " + state }, state) : null));
  if (node.schema) rows.push(make("p", { class: "schema mono" }, node.schema));
  if (item.category === "guard") rows.push(make("p", { class: "dim" }, guardWords));
  rows.push(facts([["module", item.path], ["attributes", node.attributes], ...timeFacts(page, item)]));
  const parameters = parameterNames(node.schema);
  const list = make("ul", { class: "values" });
  node.inputs.forEach((name, i) => {
    const source = item.scope.get(name), word = parameters[i] ? parameters[i] + " = " : "";
    const constant = source && source.node && source.node.kind === "prim::Constant";
    const text = constant ? source.label : "%" + name;
    const type = source && source.node ? source.node.types[source.node.outputs.indexOf(name)] : source && source.valueType;
    list.append(make("li", { class: "mono" }, word, source && source.node && !constant ? linkTo(page, pane, source, text) : text,
      constant || !type ? null : make("span", { class: "type" }, type)));
  });
  if (node.inputs.length) rows.push(make("h3", {}, "Inputs"), list);
  const outputs = make("ul", { class: "values" });
  node.outputs.forEach((name, i) => outputs.append(make("li", { class: "mono" }, "%" + name, make("span", { class: "type" }, node.types[i]))));
  if (node.outputs.length) rows.push(make("h3", {}, "Outputs"), outputs);
  const users = graph.items.filter((other) => other.scope.prefix === item.scope.prefix && other.node.inputs.some((name) => node.outputs.includes(name) && other.scope.get(name) === item));
  if (users.length) {
    rows.push(make("h3", {}, "Used by"));
    const used = make("ul", { class: "values" });
    users.slice(0, 12).forEach((other) => used.append(make("li", { class: "mono" }, linkTo(page, pane, other, other.node.kind), " ", make("span", { class: "dim" }, other.node.outputs.map((name) => "%" + name).join(", ")))));
    if (users.length > 12) used.append(make("li", { class: "dim" }, `and ${users.length - 12} more`));
    rows.push(used);
  }
  if (node.place) rows.push(make("h3", {}, "Source"), make("p", { class: "mono", title: node.place.text }, `${shortFile(node.place.file)}:${node.place.line}`),
    node.place.excerpt ? excerptPre(node.place.excerpt) : null);
  const chain = chains[node.chain];
  if (chain.length) {
    rows.push(make("h3", {}, "Called by"));
    const list = make("ul", { class: "values" });
    chain.forEach((call) => {
      const { method, owner } = functionParts(call.name);
      list.append(make("li", {}, `${owner ? owner + "." : ""}${method}`, call.instance ? make("span", { class: "dim" }, `  of ${call.instance}`) : null,
        make("span", { class: "type mono" }, `${shortFile(call.place.file)}:${call.place.line}`)));
    });
    rows.push(list);
  }
  const reasons = page.reasonsAt(node);
  if (reasons.length) {
    rows.push(make("h3", {}, "Left undone here"));
    reasons.forEach((reason) => rows.push(make("p", {}, reason.text)));
  }
  return rows;
}
function timeFacts(page, item) {
  if (!page.times || !item.ms) return [];
  const row = item.row, out = [["time a call", `${timeText(item.ms)} (${(100 * item.ms / (page.timesNow.total / page.timesNow.calls)).toFixed(1)}%)`]];
  if (!row) return out;
  if (row.shapes.length > 1) out.push(["shapes seen", row.shapes.map(shapeText).slice(0, 6).join("; ")]);
  else out.push(["tensors in", shapeText(row.inputs || "", 300)], ["tensors out", shapeText(row.output || "", 300)]);
  out.push(["memory touched", bytesText(row.bytes / page.timesNow.calls)]);
  if (row.flops && row.ms) out.push(["arithmetic", (row.flops / row.ms / 1e6).toFixed(2) + " GFLOP/s"]);
  return out;
}
/* "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor": self, other, alpha. */
function parameterNames(schema) {
  const open = schema.indexOf("("), out = [];
  let depth = 0, word = "";
  for (let i = open + 1; open >= 0 && i < schema.length; i++) {
    const c = schema[i];
    if (c === "(" || c === "[") depth++;
    if ((c === ")" && depth === 0) || (c === "," && depth === 0)) {
      const name = word.split("=")[0].trim().split(" ").pop();
      if (name && name !== "*") out.push(name);
      word = "";
      if (c === ")") break;
      continue;
    }
    if (c === ")" || c === "]") depth--;
    word += c;
  }
  return out;
}

function showGroup(page, pane, item) {
  const counts = pane.counts.get(item), rows = [make("h2", {}, titleOf(item) || "graph")];
  const entry = item.path != null && item.type === "module" ? page.tree.byPath.get(item.path) : null;
  rows.push(facts([["class", item.sub], ["path", item.path], ["nodes", countLeaves(item)],
    ["parameters", entry && entry.elements ? `${countText(entry.elements)} (${bytesText(entry.bytes)})` : ""], ...timeFacts(page, item),
    ["called at", item.call ? `${shortFile(item.call.place.file)}:${item.call.place.line}` : ""]]));
  if (counts) rows.push(make("p", {}, ...changeWords(counts)));
  rows.push(make("div", { class: "row" }, make("button", { type: "button", onclick: () => pane.toggle(item) }, pane.isOpen(item) ? "Close" : "Open")));
  if (entry) rows.push(...entryTensors(entry));
  return rows;
}
function changeWords(counts) {
  const out = [];
  for (const [name, sign] of [["added", "+"], ["removed", "−"], ["changed", "~"]])
    if (counts[name]) out.push(make("span", { class: "tag " + name }, `${sign}${counts[name]} ${name}`));
  return out;
}
function entryTensors(entry) {
  const rows = [];
  for (const child of entry.children.concat(entry.sizes ? [entry] : [])) {
    if (!child.sizes) continue;
    rows.push(make("h3", {}, child.name), make("p", { class: "mono" }, `${child.dtype} ${child.sizes.join("×") || "scalar"}`, make("span", { class: "dim" }, `  ${bytesText(child.bytes)}`)));
    if (child.spread) rows.push(spreadSvg(child.spread, true), make("p", { class: "dim" }, spreadText(child.spread)));
  }
  return rows;
}
function numberText(x) {
  return x === 0 ? "0" : Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3 ? x.toExponential(1) : String(+x.toPrecision(3));
}
function spreadText([least, most, mean, deviation, zeros, others]) {
  return `${least} to ${most}, mean ${mean}, deviation ${deviation}` + (zeros ? `, ${zeros} zeros` : "") + (others ? `, ${others} infinite or NaN` : "");
}
function showModule(page, entry) {
  const rows = [make("h2", {}, entry.path || (data.class ? shortClass(data.class) : data.file))];
  const words = { m: "module", p: "parameter", b: "buffer", a: "attribute" };
  rows.push(make("p", {}, make("span", { class: "tag" }, words[entry.kind])));
  rows.push(facts([["type", entry.type], ["elements", entry.elements ? entry.elements.toLocaleString("en") : ""], ["bytes", entry.bytes ? bytesText(entry.bytes) : ""],
    ["mode", entry.path ? "" : data.mode]]));
  const buttons = make("div", { class: "row" });
  if (entry.kind === "m" && page.findModule(entry.path)) buttons.append(make("button", { type: "button", onclick: () => page.jumpModule(entry.path) }, "Show in graph"));
  if (entry.kind === "m" && (data.sources || {})[entry.type || data.class]) buttons.append(make("button", { type: "button", onclick: () => page.showSource(entry.type || data.class) }, "Source"));
  rows.push(buttons, ...entryTensors(entry));
  const plain = entry.children.filter((child) => child.kind === "a");
  if (plain.length) rows.push(make("h3", {}, "Attributes"), facts(plain.map((child) => [child.name, child.value])));
  return rows;
}
/* With nothing selected: what the stage is, and how it differs from the other. */
function showStage(page, pane) {
  const stage = page.stage, rows = [make("h2", {}, page.stageTitle(stage))];
  rows.push(make("p", { class: "dim" }, stageWords(stage)));
  rows.push(make("p", {}, `${pane.graph.items.length} nodes, ${countLeaves(pane.graph.root)} shown.`));
  if (page.function.schema) rows.push(make("p", { class: "schema mono" }, page.function.schema));
  if (data.run && data.run.method === page.function.name) rows.push(make("h3", {}, "Call"), facts([["inputs", data.run.inputs.join(", ")], ["result", data.run.result],
    ["unoptimized", page.written.total ? timeText((page.written.total + page.written.rest) / page.written.calls) : ""],
    ["in plans", page.planned.total ? timeText((page.planned.total + page.planned.rest) / page.planned.calls) : ""]]));
  if (page.difference) {
    const d = page.difference;
    rows.push(make("h3", {}, `Changes since ${page.stageTitle(page.against)}`));
    rows.push(make("p", {}, ...changeWords({ added: d.added.length, removed: d.removed.length, changed: d.changed.length }),
      d.added.length + d.removed.length + d.changed.length ? null : "none"));
    const list = make("ul", { class: "values" });
    const put = (items, state, pane) => items.slice(0, 60).forEach((item) => list.append(make("li", { class: "mono" }, make("span", { class: state }, { added: "+ ", removed: "− ", changed: "~ " }[state]),
      linkTo(page, pane, item, item.node.kind), make("span", { class: "dim" }, " " + item.node.outputs.map((name) => "%" + name).join(", ")))));
    const loud = (items) => items.filter((item) => !item.isConstant).concat(items.filter((item) => item.isConstant));
    put(loud(d.added), "added", page.panes[1]);
    put(loud(d.changed.map((pair) => pair[1])), "changed", page.panes[1]);
    put(loud(d.removed), "removed", page.panes[0]);
    const more = Math.max(0, d.added.length - 60) + Math.max(0, d.removed.length - 60) + Math.max(0, d.changed.length - 60);
    if (more) list.append(make("li", { class: "dim" }, `and ${more} more`));
    rows.push(list);
  }
  return rows;
}
function stageWords(stage) {
  return stage.kind === 0 ? "While the method is compiled, once, when it is first needed. Calls of other methods are nodes."
    : stage.kind === 1 ? "The program as written: calls are replaced by what they call, which is grouped by module and function."
    : "While a plan is made for calls with these inputs, after they were watched. The last one is what runs.";
}

/* ---- weights ---- */
function showWeights(page, under) {
  const view = byId("view-weights"), tensors = page.tree.tensors(under);
  const by = page.weightOrder || "name";
  const orders = { name: () => 0, bytes: (a, b) => b.bytes - a.bytes, deviation: (a, b) => (b.spread ? b.spread[3] : -1) - (a.spread ? a.spread[3] : -1) };
  tensors.sort(orders[by]);
  const head = (name, label, number) => make("th", { class: number ? "number" : "", "aria-sort": by === name ? "descending" : null }, make("button", { type: "button", onclick: () => { page.weightOrder = name; showWeights(page, under); } }, label + (by === name ? " ▾" : "")));
  const MOST = 1500;
  view.replaceChildren(make("div", { class: "scroll", tabindex: "0" },
    make("div", { class: "row" }, make("h2", {}, under ? `Tensors of ${under}` : "All tensors"), make("span", { class: "dim" }, `${tensors.length}, ${bytesText(tensors.reduce((sum, t) => sum + t.bytes, 0))}`),
      under ? make("button", { type: "button", onclick: () => showWeights(page, "") }, "All") : null),
    make("table", {}, make("thead", {}, make("tr", {}, head("name", "Name"), make("th", {}, "Type"), head("bytes", "Bytes", true), make("th", {}, "Values"), make("th", { class: "number" }, "From, to"), make("th", { class: "number" }, "Mean"), head("deviation", "Deviation", true))),
      make("tbody", {}, tensors.slice(0, MOST).map((t) => make("tr", { class: "pick", onclick: () => page.tree.choose(t) },
        make("td", { class: "mono" }, t.path), make("td", { class: "mono nowrap" }, `${t.dtype} ${t.sizes.join("×")}`, make("span", { class: "dim" }, t.kind === "p" ? "" : t.kind === "b" ? " buffer" : " attribute")),
        make("td", { class: "number" }, bytesText(t.bytes)), make("td", {}, spreadSvg(t.spread)),
        ...[[0, 1], [2], [3]].map((which) => make("td", { class: "number" }, t.spread ? which.map((i) => numberText(t.spread[i])).join(", ") : ""))))))),
    tensors.length > MOST ? make("p", { class: "dim" }, `and ${tensors.length - MOST} more: choose a module on the left`) : "");
}

/* ---- sources ---- */
const codeWords = /(#[^\n]*)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|\b(def|class|return|if|else|elif|for|while|in|is|not|and|or|None|True|False|pass|break|continue|raise|import|from|as|assert|with)\b|\b(\d[\d.e+-]*)\b/g;
function codePre(text) {
  const pre = make("pre", {}), names = ["code-note", "code-text", "code-word", "code-number"];
  let at = 0;
  for (const found of text.matchAll(codeWords)) {
    pre.append(text.slice(at, found.index), make("span", { class: names[found.slice(1).findIndex((part) => part !== undefined)] }, found[0]));
    at = found.index + found[0].length;
  }
  pre.append(text.slice(at));
  return pre;
}
function showSources(page, chosen) {
  const view = byId("view-source"), sources = data.sources || {}, names = Object.keys(sources).filter((name) => Object.keys(sources[name]).length);
  const current = chosen || page.sourceClass || data.class || names[0] || "";
  page.sourceClass = current;
  const select = make("select", { "aria-label": "Class", onchange: () => showSources(page, select.value) }, names.map((name) => make("option", { value: name, selected: name === current }, name || "functions")));
  const methods = Object.entries(sources[current] || {});
  const kernels = page.function && page.function.kernels && /^[^#\s]/m.test(page.function.kernels) && page.function.kernels.trim();
  view.replaceChildren(make("div", { class: "scroll", tabindex: "0" }, make("div", { class: "row" }, make("label", { class: "field" }, "Class ", select)),
    methods.map(([name, code]) => [make("h2", {}, name), codePre(code)]),
    kernels && (current === data.class || !current) ? [make("h2", {}, `Kernels of ${page.function.name}'s fusion groups`), make("pre", {}, kernels)] : []));
}

/* ---- times ---- */
const TIME_GROUPS = {
  node: ["node", null],
  operator: ["operator", (row) => row.op],
  module: ["module", (row) => row.module || "(the module itself)"],
  source: ["line of the source", (row) => row.source.split(" < ")[0] || "(unknown)"],
};
function timeSums(times, name, whole) {
  const [label, keyOf] = TIME_GROUPS[name], sums = new Map();
  for (const row of times.rows) {
    const key = keyOf(row), sum = sums.get(key) || { ms: 0, count: 0 };
    sum.ms += row.ms;
    sum.count += row.count;
    sums.set(key, sum);
  }
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, label[0].toUpperCase() + label.slice(1)), make("th", { class: "number" }, "A call"), make("th", {}, "Share"), make("th", { class: "number" }, "Runs"))),
    make("tbody", {}, [...sums].sort((a, b) => b[1].ms - a[1].ms).map(([key, sum]) => make("tr", {}, make("td", { class: "mono" }, key), make("td", { class: "number" }, timeText(sum.ms / times.calls)),
      make("td", { class: "bar-cell" }, makeSvg("svg", { viewBox: "0 0 90 10", "aria-hidden": "true" }, makeSvg("rect", { width: Math.max(1, 90 * sum.ms / whole), height: 10, rx: 2 })), make("span", {}, ` ${(100 * sum.ms / whole).toFixed(1)}%`)),
      make("td", { class: "number" }, +(sum.count / times.calls).toFixed(2))))));
}
function showTimes(page) {
  const view = byId("view-time");
  if (!data.run) {
    view.replaceChildren(make("div", { class: "scroll" }, make("p", {}, "Nothing was run. Give inputs, and times, shapes and memory stand here and at every node:"), make("pre", {}, "wick view MODEL INPUT... -o page.html")));
    return;
  }
  const which = page.timeTab || "planned", times = which === "planned" ? page.planned : page.written;
  const rows = times.rows.slice().sort((a, b) => b.ms - a.ms), whole = times.total + times.rest || 1;
  const tab = (name, label) => make("button", { type: "button", "aria-pressed": String(which === name), onclick: () => { page.timeTab = name; showTimes(page); } }, label);
  const by = make("select", { "aria-label": "Times by", onchange: () => { page.timeBy = by.value; showTimes(page); } },
    Object.entries(TIME_GROUPS).map(([name, [label]]) => make("option", { value: name, selected: name === (page.timeBy || "node") }, label)));
  view.replaceChildren(make("div", { class: "scroll", tabindex: "0" },
    make("div", { class: "row" }, tab("planned", `In plans: ${timeText((page.planned.total + page.planned.rest) / page.planned.calls)} a call`),
      tab("written", `Without optimization: ${timeText((page.written.total + page.written.rest) / page.written.calls)} a call`),
      make("span", { class: "dim" }, `${rows.length} operators; ${timeText(times.rest / times.calls)} in the interpreter and the clock between them`)),
    make("div", { class: "row" }, make("label", { class: "field" }, "By ", by)),
    page.timeBy && page.timeBy !== "node" ? timeSums(times, page.timeBy, whole) : make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "Operator"), make("th", { class: "number", title: "the least of the calls" }, "A call"), make("th", {}, "Share"), make("th", { class: "number" }, "Runs"), make("th", {}, "In"), make("th", {}, "Out"), make("th", { class: "number" }, "Memory"), make("th", {}, "Source"))),
      make("tbody", {}, rows.slice(0, 800).map((row) => make("tr", { class: "pick", onclick: () => page.jumpRow(row, which) },
        make("td", { class: "mono" }, row.op), make("td", { class: "number" }, timeText(row.ms / times.calls)),
        make("td", { class: "bar-cell" }, makeSvg("svg", { viewBox: "0 0 90 10", "aria-hidden": "true" }, makeSvg("rect", { width: Math.max(1, 90 * row.ms / whole), height: 10, rx: 2 })), make("span", {}, ` ${(100 * row.ms / whole).toFixed(1)}%`)),
        make("td", { class: "number" }, +(row.count / times.calls).toFixed(2)), make("td", { class: "mono", title: row.inputs }, shapeText(row.inputs, 60)), make("td", { class: "mono", title: row.output }, shapeText(row.output)),
        make("td", { class: "number" }, bytesText(Math.round(row.bytes / times.calls))), make("td", { class: "mono dim", title: row.source }, row.source.split(" < ").map((place) => place.replace(/^.*\//, "")).join(" < "))))))));
}

/* ---- reasons ---- */
function showReasons(page) {
  const view = byId("view-reasons");
  if (!data.run) {
    view.replaceChildren(make("div", { class: "scroll" }, make("p", {}, "Nothing was run. Give inputs, and what was left undone in the plans stands here, with the lines of the program.")));
    return;
  }
  const { reasons, counts } = page.explained;
  view.replaceChildren(make("div", { class: "scroll", tabindex: "0" }, make("h2", {}, "What was left undone, and why"),
    reasons.length ? make("table", {}, make("thead", {}, make("tr", {}, make("th", { class: "number" }, "Times"), make("th", {}, "Reason"), make("th", {}, "Source"))),
      make("tbody", {}, reasons.map((reason) => make("tr", { class: reason.place ? "pick" : "", onclick: () => reason.place && page.jumpPlace(reason.place) },
        make("td", { class: "number" }, `${reason.count}×`), make("td", {}, reason.text), make("td", {}, make("span", { class: "mono dim", title: reason.place }, shortFile(reason.place)), reason.source ? make("pre", {}, reason.source) : null))))) : make("p", { class: "dim" }, "Nothing."),
    make("h2", {}, "Calls and plans"), facts(counts.map(([count, text]) => [String(count), text]))));
}
