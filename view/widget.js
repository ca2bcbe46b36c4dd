// The page of a drawing inside the output of a notebook cell; what the widget is told is passed on to it.
// No socket is opened: this works wherever the notebook itself does.
export default {
  render({model, el}) {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts allow-downloads";
    frame.style = `width: 100%; height: ${model.get("height")}px; border: none`;
    frame.srcdoc = model.get("page");
    const tell = () => frame.contentWindow?.postMessage({knuckle: JSON.parse(model.get("told"))}, "*");
    frame.addEventListener("load", tell);
    model.on("change:told", tell);
    el.appendChild(frame);
    return () => model.off("change:told", tell);
  },
};
