
/* A stage's graph as a tree of groups: modules and functions that calls were inlined from, nested blocks, subgraphs.
 * Edges lie between the children of the group that holds both ends, and go to ports of the groups that hold one. */

const guardKinds = new Set(["prim::BailOut", "prim::Guard", "prim::profile", "prim::RequiresGradCheck"]);
const buildKinds = new Set(["prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"]);
const MANY_CHILDREN = 90, CHUNK = 40;

function categoryOf(node) {
  if (node.hasSubgraph) return "fusion";
  if (guardKinds.has(node.kind)) return "guard";
  if (node.blocks.length) return "control";
  if (node.kind === "prim::Constant" || node.kind === "prim::GetAttr") return "constant";
  if (/^prim::Call(Method|Function)$/.test(node.kind)) return "call";
  if (/\([a-z]!/.test(node.schema) || node.kind === "prim::SetAttr") return "write";
  if (/\([a-z][^)]*\) *(?:\||,|\[|[a-z*])/.test(node.schema.split("->")[0]) && /\([a-z]/.test(node.schema.split("->")[1] || "")) return "alias";
  return "compute";
}

let nextItem = 1;
class Item {
  constructor(parent, type, label) {
    this.number = nextItem++;
    this.parent = parent;
    this.type = type; /* node, module, function, block, chunk, root */
    this.label = label;
    this.sub = "";
    this.path = "";
    this.children = null; /* of groups */
    this.node = null;
    this.hidden = false;
    this.depth = parent ? parent.depth + 1 : 0;
  }
  get isGroup() { return this.children !== null; }
  /* Survives a change of stage: what is open stays open. */
  get key() { return (this.parent ? this.parent.key + "/" : "") + (this.keyPart || this.label); }
}

/* Names of a block's values; those of the blocks around it are seen, too, but not from a subgraph. */
class Scope {
  constructor(outer, prefix) {
    this.outer = outer;
    this.prefix = prefix;
    this.own = new Map();
  }
  get(name) {
    for (let scope = this; scope; scope = scope.outer) {
      const item = scope.own.get(name);
      if (item) return item;
    }
    return undefined;
  }
  set(name, item) { this.own.set(name, item); }
}

class Graph {
  constructor(blockId, options) {
    this.options = options;
    this.root = new Item(null, "root", "");
    this.root.children = [];
    this.items = [];        /* of nodes, in order */
    this.byOutput = new Map(); /* "scope%name" -> item */
    this.quiet = new Set(); /* values that constants give */
    this.links = [];        /* {from, to, name} */
    const block = blockOf(blockId);
    this.block = block;
    const scope = new Scope(null, "");
    block.inputs.forEach((name, i) => {
      const isSelf = /^__torch__\./.test(block.types[i]);
      const port = new Item(this.root, "port", "%" + name);
      port.sub = shortType(block.types[i]);
      port.value = name;
      port.valueType = block.types[i];
      if (isSelf) this.quiet.add(port);
      else this.root.children.push(port);
      scope.set(name, port);
    });
    this.addNodes(block, this.root, scope, 0);
    const result = new Item(this.root, "port", "return");
    this.root.children.push(result);
    for (const name of block.outputs) this.link(scope, name, result);
    this.finish(this.root);
    this.connect();
  }

  /* What inlined it: of nodes that passes made, what inlined their users or what is in them. */
  chainOf(node, users) {
    if (node.chain) return chains[node.chain];
    if (node.hasSubgraph) return commonChain(blockOf(node.blocks[node.blocks.length - 1]).nodes.map(nodeOf));
    if (guardKinds.has(node.kind) || node.kind === "prim::Constant") return commonChain(users.get(node.outputs[0]) || []);
    return [];
  }

  addNodes(block, parent, scope, skip) {
    const users = new Map();
    for (const id of block.nodes) {
      const node = nodeOf(id);
      for (const name of node.inputs) {
        if (!users.has(name)) users.set(name, []);
        users.get(name).push(node);
      }
    }
    const groups = new Map();
    for (const id of block.nodes) {
      const node = nodeOf(id), chain = this.chainOf(node, users);
      let home = parent, instance = "";
      for (let i = chain.length - 1 - skip; i >= 0; i--) {
        const call = chain[i], key = `${home.number} ${call.name} ${call.instance} ${call.place.text}`;
        let group = groups.get(key);
        if (!group) {
          const { method, owner } = functionParts(call.name);
          const outer = i + 1 < chain.length ? chain.slice(i + 1).map((c) => c.instance).find((name) => name) || "" : "";
          const own = call.instance && call.instance !== outer ? call.instance.slice(outer && call.instance.startsWith(outer + ".") ? outer.length + 1 : 0) : "";
          group = new Item(home, own ? "module" : "function", own || method);
          group.sub = own ? owner + (method === "forward" ? "" : "." + method) : "";
          group.path = call.instance;
          group.call = call;
          group.keyPart = `${group.label}@${call.place.text}`;
          group.children = [];
          home.children.push(group);
          groups.set(key, group);
        }
        home = group;
        instance = call.instance || instance;
      }
      this.addNode(node, home, scope, chain.length, instance);
    }
  }

  addNode(node, parent, scope, depth, instance) {
    const item = new Item(parent, "node", shortKind(node.kind));
    item.node = node;
    item.category = categoryOf(node);
    item.path = instance;
    item.order = this.items.length;
    item.scope = scope;
    item.keyPart = `${node.kind}%${node.outputs[0] || item.order}`;
    item.identity = identityOf(node, scope.prefix);
    this.items.push(item);
    parent.children.push(item);
    const isConstant = node.kind === "prim::Constant" || node.kind === "prim::GetAttr";
    const gathers = buildKinds.has(node.kind) && node.inputs.every((name) => this.isQuiet(scope, name));
    if (isConstant || gathers) this.quiet.add(item);
    item.isConstant = isConstant || gathers;
    item.isGuard = guardKinds.has(node.kind);
    item.hidden = (item.isConstant && !this.options.constants) || (item.isGuard && !this.options.guards);
    for (const name of node.inputs) this.link(scope, name, item);
    if (node.blocks.length) this.addBlocks(node, item, scope, depth);
    for (const name of node.outputs) {
      scope.set(name, item);
      this.byOutput.set(scope.prefix + "%" + name, item);
    }
    this.describe(item);
  }

  addBlocks(node, item, scope, depth) {
    item.children = [];
    const titles = node.kind === "prim::If" ? ["then", "else"] : node.kind === "prim::Loop" ? ["each turn"] : [];
    node.blocks.forEach((id, i) => {
      const block = blockOf(id), isSubgraph = node.hasSubgraph && i === node.blocks.length - 1;
      const group = node.blocks.length > 1 ? new Item(item, "block", titles[i] || `block ${i}`) : item;
      if (group !== item) {
        group.children = [];
        item.children.push(group);
      }
      const inner = isSubgraph ? new Scope(null, subgraphPrefix(node, scope.prefix)) : new Scope(scope, scope.prefix);
      block.inputs.forEach((name, k) => {
        const outer = isSubgraph ? node.inputs[k] : node.kind === "prim::Loop" && k > 0 ? node.inputs[k + 1] : null;
        const source = outer && scope.get(outer);
        if (source) inner.set(name, source);
      });
      this.addNodes(block, group, inner, depth);
      for (const name of block.outputs) {
        const source = inner.get(name);
        if (source && source !== item) this.links.push({ from: source, to: null, group: item, name });
      }
    });
    if (!item.children.length) item.children = null;
  }

  describe(item) {
    const node = item.node, attribute = (name) => (new RegExp(`(?:^|, )${name}=([^]*)`).exec(node.attributes) || [])[1];
    if (node.kind === "prim::Constant") item.label = (attribute("value") || attribute("name") || "None").replace(/\s+/g, " ").slice(0, 28);
    else if (node.kind === "prim::GetAttr") item.label = "." + (attribute("name") || "");
    else if (node.kind === "prim::CallMethod") item.label = (attribute("name") || "") + "()";
    else if (node.kind === "prim::If" || node.kind === "prim::Loop") item.label = node.kind === "prim::If" ? "if" : "loop";
    if (node.types.length && !item.isConstant) item.sub = node.types.map(shortType).join(", ").slice(0, 44);
  }

  isQuiet(scope, name) {
    const source = scope.get(name);
    return !!source && this.quiet.has(source);
  }
  link(scope, name, to) {
    const from = scope.get(name);
    if (from && from !== to) this.links.push({ from, to, name });
  }

  /* What a value comes from among what is shown: guards that are hidden pass on what they guard. */
  shownSource(item) {
    for (let i = 0; item && item.hidden && i < 100; i++) {
      if (!item.isGuard) return null;
      item = item.scope.get(item.node.inputs[0]);
    }
    return item && !(this.quiet.has(item) && item.type === "port") ? item : null;
  }

  /* Leaves out groups without anything to show, puts what is alone in a group in its place, cuts long lists. */
  finish(group) {
    const shown = [];
    for (let child of group.children) {
      if (child.hidden) continue;
      if (child.isGroup) {
        this.finish(child);
        const isNode = child.type === "node", isScope = child.type === "module" || child.type === "function";
        if (!child.children.length && !isNode && child.type !== "block") continue;
        if (isNode && !countLeaves(child)) child.children = null;
        if (isScope && child.children.length === 1 && child.children[0].type !== "block") {
          const only = child.children[0];
          const label = only.type === "node" ? only.label : child.type === "module" ? child.label : only.label;
          if (only.type === "node" && child.type === "module") only.module = only.module ? `${child.label}.${only.module}` : child.label;
          else if (child.type === "module" && only.type === "module") only.label = `${child.label}.${only.label}`;
          else if (child.type === "module") { only.label = label; only.type = "module"; only.sub = child.sub; }
          only.parent = group;
          child = only;
        }
      }
      child.parent = group;
      shown.push(child);
    }
    group.children = shown;
    if (group.node && !group.module && shown.length) group.module = commonModule(group) || undefined;
    if (shown.length > MANY_CHILDREN) this.cut(group);
  }
  cut(group) {
    const old = group.children, size = Math.max(CHUNK, Math.ceil(old.length / MANY_CHILDREN));
    group.children = [];
    for (let i = 0; i < old.length; i += size) {
      const part = old.slice(i, i + size);
      if (part.length < 3) { group.children.push(...part); continue; }
      const chunk = new Item(group, "chunk", `${i + 1} – ${i + part.length}`);
      chunk.sub = `${part[0].label} … ${part[part.length - 1].label}`;
      chunk.children = part;
      chunk.keyPart = `chunk${i}`;
      for (const item of part) item.parent = chunk;
      group.children.push(chunk);
    }
    if (group.children.length > MANY_CHILDREN) this.cut(group);
  }

  /* Each group gets its edges between children, and what comes in and goes out. */
  connect() {
    const prepare = (group, depth) => {
      group.depth = depth;
      group.edges = new Map();
      group.incoming = new Map(); /* outside item -> children that use it */
      group.outgoing = new Map(); /* child -> true */
      for (const child of group.children) {
        child.depth = depth + 1;
        child.users = [];
        child.sources = [];
        if (child.isGroup) prepare(child, depth + 1);
      }
    };
    prepare(this.root, 0);
    const isShown = (item) => { /* hidden groups have no place in the tree */
      for (; item !== this.root; item = item.parent) if (!item || item.hidden || !item.parent || !item.parent.children.includes(item)) return false;
      return true;
    };
    const shownCache = new Map();
    const shown = (item) => {
      if (!shownCache.has(item)) shownCache.set(item, isShown(item));
      return shownCache.get(item);
    };
    for (const link of this.links) {
      const from = this.shownSource(link.from), to = link.to;
      if (!from || !shown(from)) continue;
      if (!to) { /* a block's output */
        if (!shown(link.group)) continue;
        if (isInside(from, link.group)) this.rise(from, link.group, (group, child) => group.outgoing.set(child, true));
        else this.join(from, link.group, link.name); /* what a block gives back as it got it */
        continue;
      }
      if (to.hidden || !shown(to) || from === to) continue;
      this.join(from, to, link.name);
    }
  }
  rise(item, until, visit) {
    for (let child = item; child && child !== until; child = child.parent) if (child.parent && child.parent.edges) visit(child.parent, child);
  }
  join(from, to, name) {
    let a = from, b = to;
    if (to.users) {
      from.users.push(to);
      to.sources.push(from);
    }
    while (a.depth > b.depth) {
      a.parent.outgoing.set(a, true);
      a = a.parent;
    }
    const incoming = (child) => {
      if (!child.parent.incoming.has(from)) child.parent.incoming.set(from, new Set());
      child.parent.incoming.get(from).add(child);
    };
    while (b.depth > a.depth) {
      incoming(b);
      b = b.parent;
    }
    while (a.parent !== b.parent) {
      a.parent.outgoing.set(a, true);
      incoming(b);
      a = a.parent;
      b = b.parent;
    }
    if (a === b) return;
    const key = a.number * 1e6 + b.number, edge = a.parent.edges.get(key);
    if (edge) edge.count++;
    else a.parent.edges.set(key, { from: a, to: b, count: 1, name });
  }

  /* Every node under an item, hidden ones too. */
  static nodesOf(item, out = []) {
    if (item.node) out.push(item);
    if (item.children) for (const child of item.children) Graph.nodesOf(child, out);
    return out;
  }
}

function isInside(item, group) {
  while (item && item !== group) item = item.parent;
  return !!item;
}
/* The submodule that all below a group comes from, beyond the one that the group stands in; "": there is none. */
function commonModule(group) {
  let outer = group.path || "", common = null;
  const walk = (item) => {
    if (common === "") return;
    if (item.children && item.type !== "module") item.children.forEach(walk);
    else if (item.path && !item.isConstant && item.path !== outer) common = common === null ? item.path : commonPath(common, item.path);
  };
  group.children.forEach(walk);
  if (!common || common === outer) return "";
  return outer && common.startsWith(outer + ".") ? common.slice(outer.length + 1) : outer ? "" : common;
}
function commonPath(a, b) {
  const left = a.split("."), right = b.split(".");
  let n = 0;
  while (n < left.length && left[n] === right[n]) n++;
  return left.slice(0, n).join(".");
}

function commonChain(nodes) {
  let common = null;
  for (const node of nodes) {
    if (node.kind === "prim::Constant" || (!node.chain && !node.place)) continue;
    const chain = chains[node.chain];
    if (!common) { common = chain; continue; }
    let n = 0;
    while (n < common.length && n < chain.length && common[common.length - 1 - n] === chain[chain.length - 1 - n]) n++;
    common = common.slice(common.length - n);
  }
  return common || [];
}

/* ---- what a pass changed ---- */

/* By what they give: nodes that came, went, or have other operands, attributes or types. Anything with a node and an
 * identity is compared. */
function compareNodes(before, after) {
  const gather = (items) => {
    const found = new Map(), seen = new Map();
    for (const item of items) {
      let key = item.identity;
      if (!item.node.outputs.length) {
        const n = seen.get(key) || 0;
        seen.set(key, n + 1);
        key += "#" + n;
      }
      found.set(key, item);
    }
    return found;
  };
  const a = gather(before), b = gather(after), result = { removed: [], added: [], changed: [] };
  const sign = (node) => [node.kind, node.inputs.join(), node.outputs.join(), node.types.join("|"), node.attributes].join("\n");
  for (const [key, item] of a) {
    const other = b.get(key);
    if (!other) result.removed.push(item);
    else if (item.node !== other.node && sign(item.node) !== sign(other.node)) result.changed.push([item, other]);
  }
  for (const [key, item] of b) if (!a.has(key)) result.added.push(item);
  return result;
}
function compareGraphs(before, after) {
  const result = compareNodes(before.items, after.items);
  result.before = new Map(result.removed.map((item) => [item, "removed"]).concat(result.changed.map(([item]) => [item, "changed"])));
  result.after = new Map(result.added.map((item) => [item, "added"]).concat(result.changed.map(([, item]) => [item, "changed"])));
  return result;
}
const identityOf = (node, prefix) => prefix + (node.outputs.length ? "%" + node.outputs[0] : `${node.kind}@${node.where}`);
/* The nodes of a stage with their identities, without a graph of them. */
function nodesOfBlock(id, prefix = "", out = []) {
  for (const number of blockOf(id).nodes) {
    const node = nodeOf(number);
    out.push({ node, identity: identityOf(node, prefix) });
    node.blocks.forEach((inner, i) => nodesOfBlock(inner, node.hasSubgraph && i === node.blocks.length - 1 ? subgraphPrefix(node, prefix) : prefix, out));
  }
  return out;
}
const subgraphPrefix = (node, prefix) => `${prefix}%${node.outputs[0] || node.where}/`;
/* How many of the nodes under each group changed. */
function countChanges(graph, states) {
  const counts = new Map();
  for (const [item, state] of states)
    for (let group = item.parent; group; group = group.parent) {
      if (!counts.has(group)) counts.set(group, { added: 0, removed: 0, changed: 0 });
      counts.get(group)[state]++;
    }
  return counts;
}
