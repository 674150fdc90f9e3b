// Worker thread that verifies what an authenticator signed.
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import { runTasks } from "../../platform/threads/task-worker.ts";
import type { PasskeyResult, PasskeyTask } from "./verifier.ts";

/** COSE: ES256, EdDSA, RS256. Every authenticator supports one of them. */
const ALGORITHMS = [-7, -8, -257];

runTasks(async (task: PasskeyTask): Promise<PasskeyResult> => {
  try {
    return task.is === "registration" ? await register(task) : await show(task);
  } catch (error) {
    // The library and its parsers throw for everything that is invalid.
    return { is: "refused", reason: error instanceof Error ? error.message : String(error) };
  }
});

async function register(task: PasskeyTask & { is: "registration" }): Promise<PasskeyResult> {
  const { id, expected } = task;
  const { clientDataJSON, attestationObject } = task.response;
  const response = { clientDataJSON, attestationObject };
  const object = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const statement = object.get("attStmt");
  // No attestation was requested, and self-attestation proves nothing more. Certificates are rejected unread, because they contain URLs
  // that the library would fetch.
  if (statement.get("x5c") !== undefined || !["none", "packed"].includes(object.get("fmt")))
    return { is: "refused", reason: "The passkey has an attestation." };
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { id, rawId: id, type: "public-key", response, clientExtensionResults: {} },
    expectedChallenge: expected.challenge,
    expectedOrigin: expected.origin,
    expectedRPID: expected.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  if (!verified || registrationInfo.credential.id !== id) return { is: "refused", reason: "Not verified." };
  const { publicKey, counter } = registrationInfo.credential;
  return { is: "verified", publicKey, counter };
}

async function show(task: PasskeyTask & { is: "assertion" }): Promise<PasskeyResult> {
  const { id, response, expected, publicKey, counter } = task;
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: "public-key", response, clientExtensionResults: {} },
    expectedChallenge: expected.challenge,
    expectedOrigin: expected.origin,
    expectedRPID: expected.rpId,
    requireUserVerification: true,
    credential: { id, publicKey: new Uint8Array(publicKey), counter },
  });
  if (!verified) return { is: "refused", reason: "The signature does not match the passkey." };
  return { is: "verified", publicKey, counter: authenticationInfo.newCounter };
}
