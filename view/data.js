
/* The page's data: tables of numbers become nodes, blocks and places when they are asked for. */
const data = JSON.parse(document.getElementById("data").textContent);
const texts = data.texts || [];

/* Records of a flat list, each after its length; a number and then -n stand for n numbers that rise by one. */
function records(flat) {
  const out = [];
  for (let i = 0; i < (flat || []).length;) {
    const count = flat[i++], record = [];
    while (record.length < count) {
      const word = flat[i++];
      if (record.length < count && flat[i] < 0) {
        const run = -flat[i++];
        for (let k = 0; k < run; k++) record.push(word + k);
      } else {
        record.push(word);
      }
    }
    out.push(record);
  }
  return out;
}
const raw = {};
for (const name of ["places", "calls", "chains", "nodes", "blocks"]) raw[name] = records(data[name]);

const places = raw.places.map(([file, line, column, excerpt]) =>
  ({ file: texts[file], line, column, excerpt: texts[excerpt], text: `${texts[file]}:${line}:${column}` }));
const calls = raw.calls.map(([name, instance, place]) => ({ name: texts[name], instance: texts[instance], place: places[place] }));
const chains = [[]].concat(raw.chains.map((words) => words.map((word) => calls[word]))); /* the innermost first */

const nodeCache = [], blockCache = [];
function nodeOf(id) {
  if (nodeCache[id]) return nodeCache[id];
  const words = raw.nodes[id];
  let at = 5;
  const node = { id, kind: texts[words[0]], place: words[1] ? places[words[1] - 1] : null, chain: words[2],
    schema: texts[words[3]], attributes: texts[words[4]], inputs: [], outputs: [], types: [] };
  for (let n = words[at++]; n > 0; n--) node.inputs.push(texts[words[at++]]);
  for (let n = words[at++]; n > 0; n--) {
    node.outputs.push(texts[words[at++]]);
    node.types.push(texts[words[at++]]);
  }
  node.hasSubgraph = words[at++] === 1;
  node.blocks = words.slice(at);
  node.where = node.place ? [node.place.text].concat(chains[node.chain].map((call) => call.place.text)).join(" < ") : "";
  return (nodeCache[id] = node);
}
function blockOf(id) {
  if (blockCache[id]) return blockCache[id];
  const words = raw.blocks[id];
  let at = 0;
  const block = { id, inputs: [], types: [], outputs: [] };
  for (let n = words[at++]; n > 0; n--) {
    block.inputs.push(texts[words[at++]]);
    block.types.push(texts[words[at++]]);
  }
  for (let n = words[at++]; n > 0; n--) block.outputs.push(texts[words[at++]]);
  block.nodes = words.slice(at);
  return (blockCache[id] = block);
}

/* ---- words ---- */
const shortKind = (kind) => kind.replace(/^(aten|prim)::/, "");
const shortFile = (file) => file.replace(/^.*\/(?=[^/]+\/[^/]+$)/, "…/");
const shortClass = (name) => name.split(".").filter((part) => !/^___torch_mangle_\d+$/.test(part)).pop();
/* "__torch__.torch.nn.modules.conv.___torch_mangle_3.Conv2d.forward": class and method. */
function functionParts(name) {
  const parts = name.split(".").filter((part) => !/^___torch_mangle_\d+$/.test(part));
  return { method: parts[parts.length - 1], owner: parts.length > 1 ? parts[parts.length - 2] : "" };
}
/* "Float(1, 64, strides=[64, 1], device=cpu)" as "float32 1×64". */
const dtypeWords = { Float: "float32", Double: "float64", Half: "float16", BFloat16: "bfloat16", Long: "int64", Int: "int32",
  Short: "int16", Char: "int8", Byte: "uint8", Bool: "bool" };
function shortType(type) {
  const found = /^(\w+)\(([^=]*?)(?:, (?:strides|requires_grad|device)=.*)?\)$/.exec(type);
  if (!found || !dtypeWords[found[1]]) return type.length > 40 ? type.slice(0, 38) + "…" : type.replace(/^__torch__.*\./, "");
  return dtypeWords[found[1]] + " " + (found[2].split(", ").join("×") || "scalar");
}
function bytesText(bytes) {
  if (bytes < 1e3) return bytes + " B";
  return bytes < 1e6 ? (bytes / 1e3).toFixed(1) + " kB" : bytes < 1e9 ? (bytes / 1e6).toFixed(1) + " MB" : (bytes / 1e9).toFixed(2) + " GB";
}
function countText(count) {
  return count < 1e3 ? String(count) : count < 1e6 ? (count / 1e3).toFixed(1) + "k" : count < 1e9 ? (count / 1e6).toFixed(1) + "M" : (count / 1e9).toFixed(2) + "G";
}
function timeText(ms) {
  return ms >= 1000 ? (ms / 1000).toFixed(2) + " s" : ms >= 1 ? ms.toFixed(2) + " ms" : (ms * 1000).toFixed(ms >= 0.01 ? 0 : 1) + " µs";
}

/* ---- elements: texts from the model go into text nodes alone ---- */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) if (child != null) element.append(child);
  return element;
}
function makeSvg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const byId = (id) => document.getElementById(id);
function announce(text) {
  byId("status").textContent = text;
}
