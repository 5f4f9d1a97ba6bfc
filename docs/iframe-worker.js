// Opened as files, pages may start no worker: the search then runs in a hidden frame of the page.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      const script = this.inside.document.createElement("script");
      this.ready = new Promise(resolve => script.addEventListener("load", resolve));
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      script.src = new URL(url, location.href).href;
      this.inside.document.body.append(script);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
