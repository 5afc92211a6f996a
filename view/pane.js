
/* One drawn graph: a canvas with zoom, selection and keys. Only what is in sight is drawn. */

const palette = {};
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["canvas", "ink", "dim", "line", "edge", "outline", "box", "group", "accent", "accent-soft", "focus", "compute", "alias", "write",
    "control", "fusion", "guard", "call", "constant", "port", "heat", "added", "removed", "changed", "added-bg", "removed-bg", "changed-bg"])
    palette[name] = style.getPropertyValue("--" + name).trim();
}

class Pane {
  constructor(page, side) {
    this.page = page;
    this.side = side; /* "before" or "after": which of the two that are compared */
    this.canvas = make("canvas", { tabindex: "0", role: "application", "aria-roledescription": "graph",
      "aria-label": "Graph. Arrows go from node to node, Enter opens and closes, Escape goes out, slash searches." });
    this.title = make("div", { class: "name" });
    this.element = make("div", { class: "pane" }, this.canvas, this.title);
    this.context = this.canvas.getContext("2d");
    this.scale = 1;
    this.x = this.y = 0;
    this.open = new Set();
    this.selected = null;
    this.states = new Map();
    this.counts = new Map();
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.element);
  }

  show(graph, title) {
    const first = !this.graph, before = this.selected && this.selected.key;
    if (this.graph !== graph) this.cache = new Map();
    this.graph = graph;
    this.title.textContent = title;
    this.keys = new Map();
    const walk = (item) => {
      this.keys.set(item.key, item);
      if (item.children) item.children.forEach(walk);
    };
    walk(graph.root);
    this.selected = (before && this.keys.get(before)) || null;
    this.lay();
    if (first) this.openFirst();
    if (first) this.begin();
    else this.draw();
  }
  /* With so little to be seen, what is in the one group that there is. */
  openFirst() {
    for (let i = 0; i < 6; i++) {
      const closed = [...this.at.keys()].filter((item) => item.isGroup && !this.isOpen(item));
      if (closed.length !== 1 || this.at.size > 6) return;
      this.open.add(closed[0].key);
      this.lay();
    }
  }
  isOpen(item) { return this.open.has(item.key); }

  lay() {
    this.layout = layoutGroup(this.graph.root, (item) => this.isOpen(item), this.cache);
    this.at = new Map();
    const place = (layout, x, y) => {
      for (const box of layout.boxes) {
        box.left = x + box.x;
        box.top = y + box.y;
        if (box.item.number) this.at.set(box.item, box);
        if (box.inner) place(box.inner, box.left, box.top);
      }
    };
    place(this.layout, 0, 0);
  }
  /* Lays anew and keeps the item where it was on the screen. */
  layAround(item) {
    const old = this.at.get(item);
    this.lay();
    const box = this.at.get(item);
    if (old && box) {
      this.x += (old.left + old.width / 2 - box.left - box.width / 2) * this.scale;
      this.y += (old.top - box.top) * this.scale;
    }
    this.draw();
  }
  toggle(item) {
    if (!item || !item.isGroup) return;
    if (!this.open.delete(item.key)) this.open.add(item.key);
    this.layAround(item);
    announce(`${titleOf(item)} ${this.isOpen(item) ? "opened" : "closed"}`);
    this.page.opened(this, item);
  }
  openLevel() {
    const MOST = 1200; /* boxes: more are no help to anybody, and take long to lay out */
    let boxes = this.at.size, left = 0;
    for (const [item, box] of this.at) {
      if (!item.isGroup || box.inner) continue;
      if (boxes + item.children.length > MOST) left++;
      else { boxes += item.children.length; this.open.add(item.key); }
    }
    announce(left ? `${left} groups stay closed: open those that you want` : `${boxes} boxes`);
    this.lay();
    this.fit();
  }
  closeAll() {
    this.open.clear();
    this.selected = null;
    this.lay();
    this.fit();
  }
  /* Opens what an item lies in, selects it and brings it into sight. */
  reveal(item) {
    let changed = false;
    for (let group = item.parent; group && group.parent; group = group.parent)
      if (!this.open.has(group.key)) {
        this.open.add(group.key);
        changed = true;
      }
    if (changed) this.lay();
    this.select(item);
    this.center(item);
  }
  center(item) {
    const box = this.at.get(item);
    if (!box) return;
    if (this.scale < 0.6) this.scale = 0.9;
    this.x = this.width / 2 - (box.left + box.width / 2) * this.scale;
    this.y = this.height / 2 - (box.top + Math.min(box.height, this.height / this.scale) / 2) * this.scale;
    this.draw();
  }
  keepInSight(item) {
    const box = this.at.get(item);
    if (!box) return;
    const left = box.left * this.scale + this.x, top = box.top * this.scale + this.y;
    if (left < 10 || top < 10 || left + Math.min(box.width * this.scale, this.width - 20) > this.width || top + Math.min(box.height * this.scale, this.height - 20) > this.height) this.center(item);
  }
  select(item) {
    this.selected = item;
    this.draw();
    this.page.selected(this, item);
    if (item) announce(this.describe(item));
  }
  describe(item) {
    const state = this.states.get(item);
    return [titleOf(item), closedSub(item), item.isGroup ? (this.isOpen(item) ? "open" : "closed") : "", state || "",
      item.users ? `${item.sources.length} in, ${item.users.length} out` : ""].filter(Boolean).join(", ");
  }

  /* ---- sizes ---- */
  resized() {
    const ratio = devicePixelRatio || 1, old = this.width || 0;
    if (!this.element.clientWidth) return; /* another tab is shown */
    this.width = this.element.clientWidth;
    this.height = this.element.clientHeight;
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    if (!this.graph) return;
    if (Math.abs(this.width - old) > this.width / 4) this.begin();
    else this.paint(); /* at once: a canvas that is resized is empty */
  }
  /* As a page opens: to be read, from the top on, whatever does not fit. */
  begin() {
    this.fit();
    if (!this.width || !this.layout || this.scale >= READABLE) return;
    const top = this.layout.boxes.reduce((best, box) => (!best || box.y < best.y ? box : best), null);
    const wide = this.layout.width * READABLE > this.width - 30;
    const middle = wide && top ? top.x + top.width / 2 : this.layout.width / 2;
    this.scale = READABLE;
    this.x = this.width / 2 - middle * this.scale;
    this.y = 34;
    this.draw();
  }
  fit() {
    if (!this.width || !this.layout) return;
    const scale = Math.min(1.1, (this.width - 30) / this.layout.width, (this.height - 50) / this.layout.height);
    this.scale = Math.max(scale, 0.02);
    this.x = (this.width - this.layout.width * this.scale) / 2;
    this.y = Math.max(34, (this.height - this.layout.height * this.scale) / 2);
    if (this.scale < 0.45 && this.layout.width * 0.7 < this.width) { /* long and narrow: from the top on, to be read */
      this.scale = 0.7;
      this.x = (this.width - this.layout.width * this.scale) / 2;
      this.y = 34;
    }
    this.draw();
  }
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(4, Math.max(0.02, this.scale * factor));
    this.x = x - (x - this.x) * scale / this.scale;
    this.y = y - (y - this.y) * scale / this.scale;
    this.scale = scale;
    this.draw();
  }

  /* ---- drawing ---- */
  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }
  paint() {
    if (!this.width || !this.layout) return;
    const c = this.context, ratio = devicePixelRatio || 1;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = palette.canvas;
    c.fillRect(0, 0, this.width, this.height);
    c.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * this.x, ratio * this.y);
    this.sight = { left: -this.x / this.scale, top: -this.y / this.scale, right: (this.width - this.x) / this.scale, bottom: (this.height - this.y) / this.scale };
    this.near = new Set();
    if (this.selected && this.selected.users) for (const other of [...this.selected.users, ...this.selected.sources]) this.near.add(this.nearestShown(other));
    this.paintLayout(this.layout, 0, 0);
  }
  nearestShown(item) {
    let shown = item;
    for (let group = item; group; group = group.parent) if (!this.at.has(group)) shown = group.parent; else if (!this.at.has(shown)) shown = group;
    return shown;
  }
  inSight(left, top, width, height) {
    const s = this.sight;
    return left < s.right && left + width > s.left && top < s.bottom && top + height > s.top;
  }
  paintLayout(layout, x, y) {
    const c = this.context;
    for (const box of layout.boxes) {
      if (!this.inSight(box.left, box.top, box.width, box.height)) continue;
      if (box.inner) {
        this.paintGroup(box);
        this.paintLayout(box.inner, box.left, box.top);
      }
    }
    for (const edge of layout.edges) {
      const points = edge.points, last = points[points.length - 1];
      let left = points[0].x, right = left;
      for (const p of points) { left = Math.min(left, p.x); right = Math.max(right, p.x); }
      const top = Math.min(points[0].y, last.y), bottom = Math.max(points[0].y, last.y);
      if (!this.inSight(x + left - 5, y + top - 5, right - left + 10, bottom - top + 10)) continue;
      const lit = this.selected && (edge.from === this.selected || edge.to === this.selected);
      c.strokeStyle = c.fillStyle = lit ? palette.accent : palette.edge;
      c.lineWidth = lit ? 2 : Math.min(1 + Math.log2(edge.count) * 0.4, 3);
      c.beginPath();
      c.moveTo(x + points[0].x, y + points[0].y);
      for (let i = 1; i < points.length - 1; i++) {
        const end = i < points.length - 2 ? { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 } : last;
        c.quadraticCurveTo(x + points[i].x, y + points[i].y, x + end.x, y + end.y);
      }
      if (points.length < 3) c.lineTo(x + last.x, y + last.y);
      c.stroke();
      if (this.scale > 0.25) this.paintArrow(points[points.length - 2] || points[0], last, x, y);
    }
    for (const box of layout.boxes)
      if (!box.inner && this.inSight(box.left, box.top, box.width, box.height)) this.paintBox(box);
  }
  paintArrow(from, to, x, y) {
    const c = this.context, angle = Math.atan2(to.y - from.y, to.x - from.x);
    c.beginPath();
    c.moveTo(x + to.x, y + to.y);
    c.lineTo(x + to.x - 7 * Math.cos(angle - 0.4), y + to.y - 7 * Math.sin(angle - 0.4));
    c.lineTo(x + to.x - 7 * Math.cos(angle + 0.4), y + to.y - 7 * Math.sin(angle + 0.4));
    c.fill();
  }
  round(left, top, width, height, radius) {
    this.context.beginPath();
    this.context.roundRect(left, top, width, height, radius);
  }
  colorOf(item) {
    if (item.type === "node") return palette[item.category] || palette.compute;
    return item.type === "port" ? palette.port : item.type === "module" ? palette.call : palette.alias;
  }
  stateOf(item) {
    const state = this.states.get(item);
    if (state) return state;
    const counts = item.isGroup && this.counts.get(item);
    return !counts ? "" : counts.changed || (counts.added && counts.removed) ? "changed" : counts.added ? "added" : "removed";
  }
  outline(item, box, radius, plain) {
    const c = this.context, state = this.stateOf(item);
    c.lineWidth = 1;
    c.strokeStyle = plain;
    if (state) { c.strokeStyle = palette[state]; c.lineWidth = 2; }
    if (this.near.has(item)) { c.strokeStyle = palette.accent; c.lineWidth = 2; }
    if (item === this.selected) { c.strokeStyle = palette.focus; c.lineWidth = 3; }
    this.round(box.left, box.top, box.width, box.height, radius);
    c.stroke();
  }
  paintGroup(box) {
    const c = this.context, item = box.item;
    c.fillStyle = item.depth % 2 ? palette.group : palette.canvas;
    this.round(box.left, box.top, box.width, box.height, 9);
    c.fill();
    if (item.category === "fusion") { c.globalAlpha = 0.16; c.fillStyle = palette.fusion; c.fill(); c.globalAlpha = 1; }
    this.outline(item, box, 9, item.category ? this.colorOf(item) : palette.outline);
    if (this.scale < 0.3) return;
    c.fillStyle = palette.ink;
    c.font = FONT;
    c.textBaseline = "middle";
    const title = "▾ " + titleOf(item), y = box.top + 14;
    c.fillText(title, box.left + 10, y);
    c.fillStyle = palette.dim;
    c.font = SMALL_FONT;
    c.fillText(item.sub || "", box.left + 20 + textWidth(title, FONT), y);
  }
  paintBox(box) {
    const c = this.context, item = box.item, color = this.colorOf(item), state = this.stateOf(item);
    const radius = item.type === "port" ? 10 : item.isConstant ? 9 : 6;
    const heat = this.page.heatOf(item, this);
    if (item.isGroup) { /* something to open: a second edge below */
      c.strokeStyle = palette.outline;
      c.lineWidth = 1;
      this.round(box.left + 3, box.top + 3, box.width, box.height, radius);
      c.stroke();
    }
    c.fillStyle = state ? palette[state + "-bg"] : item.type === "port" || item.isConstant ? palette.group : palette.box;
    this.round(box.left, box.top, box.width, box.height, radius);
    c.fill();
    if (heat > 0) { c.globalAlpha = 0.1 + 0.5 * heat; c.fillStyle = palette.heat; c.fill(); c.globalAlpha = 1; }
    else if (item.category === "fusion") { c.globalAlpha = 0.22; c.fillStyle = palette.fusion; c.fill(); c.globalAlpha = 1; }
    this.outline(item, box, radius, palette.outline);
    if (item.type !== "port" && !item.isConstant) {
      c.fillStyle = color;
      this.round(box.left, box.top, 5, box.height, [radius, 0, 0, radius]);
      c.fill();
    }
    if (this.scale < 0.3) return;
    const small = item.type === "port" || item.isConstant, sub = item.isConstant ? "" : closedSub(item);
    const mark = item.isGroup ? 14 : 0, most = box.width - 18 - mark, center = box.left + box.width / 2 + (small ? 0 : 2);
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = small ? palette.dim : palette.ink;
    c.font = small ? SMALL_FONT : FONT;
    c.fillText(cutText(titleOf(item), c.font === SMALL_FONT || small ? SMALL_FONT : FONT, most), center - mark / 2, box.top + (sub ? (small ? 11 : 14) : box.height / 2));
    if (sub && this.scale > 0.4) {
      c.fillStyle = heat > 0 ? palette.ink : palette.dim;
      c.font = SMALL_FONT;
      c.fillText(cutText(sub, SMALL_FONT, box.width - 14), center, box.top + box.height - (small ? 10 : 12));
    }
    if (item.isGroup) {
      c.fillStyle = palette.dim;
      c.font = FONT;
      c.fillText("▸", box.left + box.width - 11, box.top + 14);
    }
    c.textAlign = "left";
  }

  /* ---- pointer and keys ---- */
  hit(x, y) {
    const px = (x - this.x) / this.scale, py = (y - this.y) / this.scale;
    const find = (layout, found) => {
      for (const box of layout.boxes)
        if (px >= box.left && px <= box.left + box.width && py >= box.top && py <= box.top + box.height) return box.inner ? find(box.inner, box.item) : box.item;
      return found;
    };
    return this.layout ? find(this.layout, null) : null;
  }
  listen() {
    const canvas = this.canvas;
    let from = null, moved = false;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY };
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return this.page.hover(this, this.hit(...at(event)), event);
      const dx = event.clientX - from.x, dy = event.clientY - from.y;
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      this.page.hover(this, null, event);
      this.x += dx;
      this.y += dy;
      from = { x: event.clientX, y: event.clientY };
      this.draw();
    });
    canvas.addEventListener("pointerleave", (event) => this.page.hover(this, null, event));
    canvas.addEventListener("pointerup", (event) => {
      if (from && !moved) {
        const item = this.hit(...at(event));
        if (item && item.target) this.reveal(item.target);
        else this.select(item && item.number ? item : null);
      }
      from = null;
    });
    canvas.addEventListener("dblclick", (event) => this.toggle(this.hit(...at(event))));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [x, y] = at(event);
      if (event.ctrlKey || event.metaKey || !event.shiftKey && Math.abs(event.deltaY) >= Math.abs(event.deltaX)) return this.zoom(Math.exp(-event.deltaY * 0.0015), x, y);
      this.x -= event.deltaX || event.deltaY;
      this.draw();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => (this.page.active = this));
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const item = this.selected, step = 60;
    const moves = { ArrowDown: 1, ArrowUp: -1, ArrowLeft: 0, ArrowRight: 0 };
    if (event.shiftKey && event.key in moves) {
      this.x += event.key === "ArrowLeft" ? step : event.key === "ArrowRight" ? -step : 0;
      this.y += event.key === "ArrowUp" ? step : event.key === "ArrowDown" ? -step : 0;
      this.draw();
    } else if (event.key in moves) {
      this.step(event.key);
    } else if (event.key === "Enter" || event.key === " ") {
      if (item && item.isGroup) this.toggle(item);
    } else if (event.key === "Escape") {
      if (item && item.parent && item.parent.parent) { this.select(item.parent); this.keepInSight(item.parent); }
      else this.select(null);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
  /* To the nearest box in that direction, of the same group; down goes into an open one. */
  step(key) {
    const item = this.selected;
    if (!item) return this.go(this.graph.root.children[0]);
    if (key === "ArrowDown" && item.isGroup && this.isOpen(item)) return this.go(item.children[0]);
    const here = this.at.get(item);
    if (!here || !item.parent.children) return;
    let best = null, bestCost = Infinity;
    for (const other of item.parent.children) {
      const there = this.at.get(other);
      if (other === item || !there) continue;
      const dx = there.left + there.width / 2 - here.left - here.width / 2, dy = there.top + there.height / 2 - here.top - here.height / 2;
      const along = key === "ArrowDown" ? dy : key === "ArrowUp" ? -dy : key === "ArrowRight" ? dx : -dx;
      const aside = key === "ArrowDown" || key === "ArrowUp" ? Math.abs(dx) : Math.abs(dy);
      if (along <= 1 || (key === "ArrowLeft" || key === "ArrowRight") && aside > 200) continue;
      const cost = along + aside * (key === "ArrowDown" || key === "ArrowUp" ? 0.6 : 2);
      if (cost < bestCost) { best = other; bestCost = cost; }
    }
    if (!best && key === "ArrowUp" && item.parent.parent) best = item.parent;
    this.go(best);
  }
  go(item) {
    if (!item) return;
    this.select(item);
    this.keepInSight(item);
  }
}
