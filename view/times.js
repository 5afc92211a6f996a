
/* What calls took, by node. A profile's row names the code, the instruction and all places of its node; nodes of equal
 * places and kind stand in the order of instructions. */
class Times {
  constructor(profile, least) { /* least: of the calls, in ms */
    this.calls = (profile && profile.calls) || 1;
    this.rows = [];
    this.byWhere = new Map(); /* "kind where" -> rows by instruction */
    this.total = 0;
    const merged = new Map(), weight = new Map();
    for (const row of (profile && profile.rows) || []) {
      const key = `${row.code} ${row.instruction}`, found = merged.get(key);
      const ms = row.least_ms * row.count; /* what else the machine did is left out */
      weight.set(row.code, (weight.get(row.code) || 0) + ms);
      this.total += ms;
      if (found) {
        found.ms += ms;
        found.count += row.count;
        found.bytes += row.bytes;
        found.flops += row.flops;
        found.shapes.push(row.output);
        continue;
      }
      const one = Object.assign({}, row, { ms, shapes: [row.output], where: row.places || "" });
      merged.set(key, one);
      this.rows.push(one);
    }
    for (const row of this.rows) {
      const key = `${row.op} ${row.where}`;
      if (!this.byWhere.has(key)) this.byWhere.set(key, []);
      this.byWhere.get(key).push(row);
    }
    for (const [key, rows] of this.byWhere) { /* of several codes the one where the time went */
      const code = rows.reduce((best, row) => (weight.get(row.code) > weight.get(best) ? row.code : best), rows[0].code);
      this.byWhere.set(key, rows.filter((row) => row.code === code).sort((a, b) => a.instruction - b.instruction));
    }
    this.regions = new Map(); /* where -> rows of regions, which are named by their operators: "aten::conv2d + relu" */
    for (const [key, rows] of this.byWhere) if (rows[0].op.includes(" + ")) this.regions.set(key.slice(rows[0].op.length + 1), rows);
    this.rest = Math.max(0, (least || 0) * this.calls - this.total);
  }
  /* Gives every item of the graph its row. */
  attach(graph) {
    const met = new Map();
    for (const item of graph.items) {
      item.row = null;
      if (!this.rows.length) continue;
      const key = `${item.node.kind} ${item.node.where}`, rows = this.byWhere.get(key) || (item.node.hasSubgraph && this.regions.get(item.node.where));
      if (rows) {
        const n = met.get(key) || 0;
        met.set(key, n + 1);
        item.row = rows[Math.min(n, rows.length - 1)];
        if (n >= rows.length) item.row = null;
      } else if (item.category === "call" && item.node.place) {
        item.row = this.under(item.node.place.text);
      }
      if (item.row && item.row.output && !item.isConstant) item.shape = shapeText(item.row.output);
    }
    this.share(graph);
    this.sum(graph.root);
  }
  /* What an operator's own program ran stands in its schema's text: it is the operator's time. */
  share(graph) {
    const owners = new Map();
    for (const item of graph.items) {
      item.extra = 0;
      if (!item.node.schema) continue;
      if (!owners.has(item.node.schema)) owners.set(item.node.schema, []);
      owners.get(item.node.schema).push(item);
    }
    for (const row of this.rows) {
      const found = owners.get(row.where.replace(/:\d+:\d+$/, ""));
      if (found) for (const item of found) item.extra += row.ms / found.length;
    }
  }
  /* A call that was inlined: the sum of what came from it. */
  under(place) {
    const sum = { ms: 0, count: 0, bytes: 0, flops: 0, inputs: "", output: "", shapes: [], rows: 0 };
    for (const row of this.rows)
      if (row.where.endsWith(" < " + place)) {
        sum.ms += row.ms;
        sum.bytes += row.bytes;
        sum.rows++;
      }
    return sum.rows ? sum : null;
  }
  sum(item) {
    item.ms = ((item.row ? item.row.ms : 0) + (item.extra || 0)) / this.calls;
    if (item.children) for (const child of item.children) item.ms += this.sum(child);
    return item.ms;
  }
}
function shapeText(text, most = 44) {
  const parts = text.split(/, (?=[a-z])/), dtype = /^\w+/.exec(text), same = dtype && parts.every((part) => part.startsWith(dtype[0] + "["));
  const short = (same ? dtype[0] + parts.map((part) => part.slice(dtype[0].length)).join(",") : text).replace(/\[([^\]]*)\]/g, (whole, sizes) => " " + (sizes ? sizes.replace(/,/g, "×") : "scalar"));
  return short.length > most ? short.slice(0, most - 1) + "…" : short;
}

/* The lines of what wick explains: "  18x  file:line reason" with the line of source below, counts, times of passes. */
function parseReasons(text) {
  const out = { reasons: [], counts: [] };
  let last = null;
  for (const line of (text || "").split("\n")) {
    const reason = /^ *(\d+)x +(\S+:\d+)? *(\S.*)$/.exec(line), took = /^ *[\d.]+ ms +\d+x /.test(line), count = /^ {2,}(\d+) {2}(\S.*)$/.exec(line);
    if (took || !line.trim()) last = null;
    else if (reason) out.reasons.push((last = { count: +reason[1], place: reason[2] || "", text: reason[3], source: "" }));
    else if (count) { out.counts.push([+count[1], count[2]]); last = null; }
    else if (last) last.source += (last.source ? "\n" : "") + line.trim();
  }
  return out;
}
