
/* Places for what is shown. Each open group is laid out by itself, by dagre, with its open children as boxes of their
 * size: opening one costs its own layout and those of the groups around it. */

const FONT = "12px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
const SMALL_FONT = FONT.replace("12px", "11.5px");
const measureContext = document.createElement("canvas").getContext("2d");
const widths = new Map();
function textWidth(text, font) {
  const key = font + text;
  if (!widths.has(key)) {
    measureContext.font = font;
    widths.set(key, measureContext.measureText(text).width);
  }
  return widths.get(key);
}
function cutText(text, font, most) {
  if (textWidth(text, font) <= most) return text;
  let n = Math.max(1, Math.floor(text.length * most / textWidth(text, font)));
  while (n > 1 && textWidth(text.slice(0, n) + "…", font) > most) n--;
  return text.slice(0, n) + "…";
}

const HEAD = 26, MAX_PORTS = 5, MOST_WIDTH = 230;
const READABLE = 0.96; /* the scale at which the smaller font is 11 pixels high */
function titleOf(item) {
  return item.module ? `${item.module} · ${item.label}` : item.label;
}
function closedSize(item) {
  if (item.type === "port") return { width: Math.min(MOST_WIDTH, Math.max(textWidth(item.label, SMALL_FONT), textWidth(item.sub, SMALL_FONT)) + 20), height: item.sub ? 32 : 20 };
  if (item.isConstant) return { width: Math.min(MOST_WIDTH, textWidth(item.label, SMALL_FONT) + 18), height: 20 };
  const sub = closedSub(item), mark = item.isGroup ? 18 : 0;
  const width = Math.max(textWidth(titleOf(item), FONT) + mark, sub ? textWidth(sub, SMALL_FONT) : 0) + 26;
  return { width: Math.min(MOST_WIDTH, Math.max(64, width)), height: sub ? 40 : 28 };
}
function closedSub(item) {
  if (item.shape) return item.shape;
  if (item.isGroup && item.type !== "chunk") {
    const count = countLeaves(item);
    return (item.sub ? item.sub + " · " : "") + `${count} node${count === 1 ? "" : "s"}`;
  }
  return item.sub;
}
function countLeaves(item) {
  if (item.leaves === undefined) item.leaves = item.children ? item.children.reduce((sum, child) => sum + countLeaves(child), 0) : item.type === "port" ? 0 : 1;
  return item.leaves;
}

/* {width, height, boxes: [{item, x, y, width, height, inner}], edges: [{points, from, to, count}]}; x and y are corners in
 * the group. */
function layoutGroup(group, isOpen, cache = new Map()) {
  const inners = group.children.map((child) => (child.isGroup && isOpen(child) ? layoutGroup(child, isOpen, cache) : null));
  const known = cache.get(group);
  if (known && known.inners.every((inner, i) => inner === inners[i])) return known.layout;
  const layout = layGroup(group, inners);
  cache.set(group, { inners, layout });
  return layout;
}
function layGroup(group, inners) {
  const g = new dagre.graphlib.Graph({ multigraph: false });
  g.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30, edgesep: 8, marginx: 14, marginy: 12,
    ranker: group.children.length > 60 ? "longest-path" : "network-simplex" });
  g.setDefaultEdgeLabel(() => ({}));
  const byName = new Map();
  const add = (name, item, size, inner) => {
    g.setNode(name, { width: size.width, height: size.height });
    byName.set(name, { item, inner, width: size.width, height: size.height });
  };
  group.children.forEach((child, i) => {
    const inner = inners[i];
    add("n" + child.number, child, inner ? { width: inner.width, height: inner.height } : closedSize(child), inner);
  });
  for (const edge of group.edges.values()) g.setEdge("n" + edge.from.number, "n" + edge.to.number, { count: edge.count });
  if (group.parent) addPorts(group, g, add);
  dagre.layout(g);
  const head = group.parent ? HEAD : 0, size = g.graph(), out = { group, boxes: [], edges: [], width: 0, height: 0 };
  const title = group.parent ? textWidth(titleOf(group), FONT) + textWidth(group.sub || "", SMALL_FONT) + 60 : 0;
  out.width = Math.max(size.width || 0, title, 80);
  out.height = (size.height || 20) + head;
  const shift = (out.width - (size.width || 0)) / 2;
  for (const name of g.nodes()) {
    const at = g.node(name), box = byName.get(name);
    out.boxes.push({ item: box.item, inner: box.inner, width: box.width, height: box.height, x: at.x - box.width / 2 + shift, y: at.y - box.height / 2 + head });
  }
  for (const name of g.edges()) {
    const edge = g.edge(name);
    out.edges.push({ from: byName.get(name.v).item, to: byName.get(name.w).item, count: edge.count || 1,
      points: edge.points.map((p) => ({ x: p.x + shift, y: p.y + head })) });
  }
  return out;
}
/* What comes into an open group and goes out of it. */
function addPorts(group, g, add) {
  const sources = [...group.incoming.keys()];
  const port = (label, sub, target) => {
    const item = { type: "port", label, sub, number: 0, target, isGroup: false, parent: group };
    return item;
  };
  if (sources.length > MAX_PORTS) {
    const item = port(`${sources.length} inputs`, "", null);
    add("in", item, closedSize(item), null);
    for (const children of group.incoming.values()) for (const child of children) g.setEdge("in", "n" + child.number, { count: 1 });
  } else {
    sources.forEach((source, i) => {
      const item = port(source.type === "port" ? source.label : "from " + titleOf(source), "", source);
      add("in" + i, item, closedSize(item), null);
      for (const child of group.incoming.get(source)) g.setEdge("in" + i, "n" + child.number, { count: 1 });
    });
  }
  if (!group.outgoing.size) return;
  const item = port("out", "", null);
  add("out", item, closedSize(item), null);
  for (const child of group.outgoing.keys()) g.setEdge("n" + child.number, "out", { count: 1 });
}
