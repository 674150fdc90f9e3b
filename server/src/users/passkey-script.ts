// Script of the second-factor page: asks the browser for a passkey and submits it with the form. It is the only script on our pages outside
// the dashboard, and the page allows it by its hash.
import { createHash } from "node:crypto";
import { askPasskey } from "@postloft/contract/passkeys.ts";

/** Without scripts or passkey support the button stays hidden and the page asks for a code. */
export const PASSKEY_SCRIPT = `
const form = document.getElementById("passkey");
const problem = form.querySelector("[role=alert]");
const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const textOf = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
form.hidden = !("PublicKeyCredential" in window);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  try {
    const reply = await fetch("${askPasskey.path}", { method: "POST" });
    const { data, message } = await reply.json();
    if (!reply.ok) throw new Error(message);
    const asked = { ...data, challenge: bytesOf(data.challenge) };
    const { id, response } = await navigator.credentials.get({ publicKey: asked });
    const said = {};
    for (const name of ["clientDataJSON", "authenticatorData", "signature", "userHandle"])
      said[name] = textOf(response[name]);
    form.elements.passkey.value = JSON.stringify({ id, type: "public-key", response: said });
    form.submit();
  } catch (error) {
    const isOurs = error.constructor === Error;
    problem.textContent = isOurs ? error.message : form.dataset.none;
  }
});
`;

const HASH = createHash("sha256").update(PASSKEY_SCRIPT).digest("base64");

/** Additions to the content security policy for that page. */
export const PASSKEY_POLICY = `; script-src 'sha256-${HASH}'; connect-src 'self'`;
