// Creates passkeys and signs in with them. Loaded on demand.
import type { ApiResponse } from "../api/address.ts";
import { call, CallError } from "../api/call.ts";
import { api } from "../api/endpoints.ts";
import { t } from "../text/t.ts";

/** Asks for a passkey and returns the authenticator's response in the server's format. */
export async function showPasskey() {
  const { challenge, ...options } = await call(api.auth.passkeyOptions);
  const credential = await asked(() =>
    navigator.credentials.get({ publicKey: { ...options, challenge: bytesOf(challenge) } }),
  );
  const { clientDataJSON, authenticatorData, signature, userHandle } =
    credential.response as AuthenticatorAssertionResponse;
  return {
    ...named(credential),
    response: {
      clientDataJSON: textOf(clientDataJSON),
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
      userHandle: textOf(userHandle ?? new ArrayBuffer()),
    },
  };
}

/** Creates a passkey on this or another device and adds it to the account. */
export async function makePasskey(name: string): Promise<ApiResponse<typeof api.users.addPasskey>> {
  const { challenge, user, excludeCredentials, ...options } = await call(api.users.passkeyOptions);
  const publicKey = {
    ...options,
    challenge: bytesOf(challenge),
    user: { ...user, id: bytesOf(user.id) },
    excludeCredentials: excludeCredentials.map(({ type, id }) => ({ type, id: bytesOf(id) })),
  };
  const credential = await asked(() => navigator.credentials.create({ publicKey }));
  const response = credential.response as AuthenticatorAttestationResponse;
  const passkey = {
    ...named(credential),
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports(),
    },
  };
  return call(api.users.addPasskey, { body: { name, passkey } });
}

const named = ({ id }: PublicKeyCredential) => ({ id, type: "public-key" as const });

/** @throws CallError with a readable message, because the browser's own messages are for developers */
async function asked(work: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await work();
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    if (name === "InvalidStateError")
      throw new CallError(t("This device already has a passkey for your account."));
    if (name === "SecurityError" || name === "NotSupportedError")
      throw new CallError(t("Passkeys don't work at this address or in this browser."));
    if (name !== "NotAllowedError" && name !== "AbortError") throw error;
  }
  throw new CallError(t("No passkey was used. Try again."));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.codePointAt(0) ?? 0);
}

function textOf(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (byte) => String.fromCodePoint(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
