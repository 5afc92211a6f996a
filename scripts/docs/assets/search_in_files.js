/* Pages that are opened as files may start no workers: the search runs in a hidden frame instead. */
window.Worker = class extends EventTarget {
  constructor(script) {
    super();
    this.waiting = [];
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.frame.srcdoc = "<script>window.postMessage = (data) => answer(data)<\/script><script src='" + script + "'><\/script>";
    this.frame.onload = () => {
      this.frame.contentWindow.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const sent = this.waiting;
      this.waiting = null;
      sent.forEach((data) => this.postMessage(data));
    };
    document.body.append(this.frame);
  }
  postMessage(data) {
    if (this.waiting) this.waiting.push(data);
    else this.frame.contentWindow.dispatchEvent(new this.frame.contentWindow.MessageEvent("message", { data }));
  }
};
