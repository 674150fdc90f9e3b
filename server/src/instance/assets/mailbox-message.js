// Shows one message on the page /mailbox with attachments, HTML, text, headers and source. Foreign content is set as text or shown in a
// frame without scripts, origin and network.

const MAX_SHOWN_PICTURES = 30;
const BYTES_PER_UNIT = 1024;

/** Creates an element with properties, attributes where the name says so, and children. Strings become text nodes. */
export function element(name, { attributes = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function shownTime(instant) {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }).format(
    new Date(instant),
  );
}

function shownSize(bytes) {
  if (bytes < BYTES_PER_UNIT) return `${bytes} B`;
  const kilobytes = bytes / BYTES_PER_UNIT;
  return kilobytes < BYTES_PER_UNIT
    ? `${Math.ceil(kilobytes)} KB`
    : `${(kilobytes / BYTES_PER_UNIT).toFixed(1)} MB`;
}

/** Saves bytes as a file without showing them. */
function download(blob, filename) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: filename }).click();
  URL.revokeObjectURL(address);
}

/** Calls `onFault` with a sentence when something can no longer be read. */
export function showMessage(place, source, message, { onBack, onFault }) {
  const view = element("div", { id: "view" });
  const views = viewsOf(source, message);
  const guarded = (work) => () => work().catch((error) => onFault(error));
  const pictures = element("input", { type: "checkbox" });
  const picturesLabel = element("label", {}, pictures, "Remote images");
  const tabs = Object.entries(views).map(([label, show]) =>
    element("button", {
      type: "button",
      textContent: label,
      attributes: { role: "tab" },
      onclick: guarded(async () => {
        for (const tab of tabs) tab.setAttribute("aria-selected", String(tab.textContent === label));
        picturesLabel.hidden = label !== "HTML";
        view.replaceChildren(await show(pictures.checked));
      }),
    }),
  );
  pictures.addEventListener("change", () => tabs[0].click());
  const attachments = message.attachments.map(({ filename, sizeBytes }, position) =>
    element("button", {
      type: "button",
      textContent: `↓ ${filename} (${shownSize(sizeBytes)})`,
      onclick: guarded(async () => download(await source.readAttachment(message.id, position), filename)),
    }),
  );
  const facts = [
    ["From", message.from],
    ["To", message.to],
    ["Received", shownTime(message.receivedAt)],
  ].filter(([, value]) => value !== null);
  const head = element(
    "div",
    { id: "head" },
    element("button", { id: "back", type: "button", textContent: "← Back", onclick: onBack }),
    element("h2", { textContent: message.subject || "(no subject)" }),
    element(
      "dl",
      {},
      ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
    ),
    element("div", { id: "attachments", hidden: attachments.length === 0 }, ...attachments),
    element("div", { id: "tabs", attributes: { role: "tablist" } }, ...tabs, picturesLabel),
  );
  place.replaceChildren(element("article", {}, head, view));
  tabs[0]?.click();
}

const showText = (content) => element("pre", { textContent: content });

/** The tabs by name; each creates its element. */
function viewsOf(source, message) {
  return {
    ...(message.html ? { HTML: (withPictures) => showHtml(source, message, withPictures) } : {}),
    ...(message.text ? { Text: async () => showText(message.text) } : {}),
    ...(message.headers === null ? {} : { Headers: async () => showHeaders(message.headers) }),
    ...(source.readSource === undefined
      ? {}
      : { Source: async () => showSource(await source.readSource(message.id), message.id) }),
  };
}

function showHeaders(headers) {
  const rows = headers.map(({ name, value }) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)),
  );
  return element("table", {}, element("tbody", {}, ...rows));
}

const MAX_SHOWN_SOURCE_BYTES = 500_000;

async function showSource(blob, id) {
  const stored = element("button", {
    type: "button",
    textContent: `↓ Save as file (${shownSize(blob.size)})`,
    onclick: () => download(blob, `${id}.eml`),
  });
  const text = await blob.slice(0, MAX_SHOWN_SOURCE_BYTES).text();
  const rest = blob.size > MAX_SHOWN_SOURCE_BYTES ? "\n… The rest is in the file." : "";
  return element("div", {}, element("p", { className: "empty" }, stored), element("pre", {}, text + rest));
}

/**
 * Shows the HTML in a separate frame without scripts, forms and origin; links open in a new tab. Remote images reveal that the email was
 * opened (including our own pixel), so they load only on request.
 */
async function showHtml(source, message, withPictures) {
  const pictures = withPictures ? "data: http: https:" : "data:";
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src ${pictures}; form-action 'none'`;
  const head = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><base target="_blank">`;
  const frame = element("iframe", {
    title: "Email as HTML",
    srcdoc: head + (await withOwnPictures(source, message)),
    attributes: { sandbox: "allow-popups allow-popups-to-escape-sandbox", referrerpolicy: "no-referrer" },
  });
  return frame;
}

/** Images attached to the email (`cid:`) as data. */
async function withOwnPictures(source, { id, html, attachments }) {
  let filled = html;
  const shown = attachments
    .map(({ contentId, contentType }, position) => ({ contentId, contentType, position }))
    .filter(({ contentId }) => contentId !== null && html.includes(`cid:${contentId}`));
  for (const { contentId, contentType, position } of shown.slice(0, MAX_SHOWN_PICTURES)) {
    const blob = await source.readAttachment(id, position);
    filled = filled.replaceAll(`cid:${contentId}`, await asDataAddress(blob, contentType));
  }
  return filled;
}

function asDataAddress(blob, contentType) {
  const kind = /^image\/[a-z+.-]+$/i.test(contentType) ? contentType : "image/png";
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(new Blob([blob], { type: kind }));
  });
}
