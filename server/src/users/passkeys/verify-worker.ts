// On a thread of its own: whether what an authenticator said holds.
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import { answerTasks } from "../../platform/threads/task-worker.ts";
import type { PasskeyResult, PasskeyTask } from "./verifier.ts";

/** COSE: ES256, EdDSA, RS256. Whatever makes passkeys makes one of these. */
const ALGORITHMS = [-7, -8, -257];

answerTasks(async (task: PasskeyTask): Promise<PasskeyResult> => {
  try {
    return task.is === "registration" ? await register(task) : await show(task);
  } catch (error) {
    // The library throws for all that does not hold, and so does whatever it reads the bytes with.
    return { is: "refused", reason: error instanceof Error ? error.message : String(error) };
  }
});

async function register(task: PasskeyTask & { is: "registration" }): Promise<PasskeyResult> {
  const { id, expected } = task;
  const { clientDataJSON, attestationObject } = task.response;
  const response = { clientDataJSON, attestationObject };
  const object = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const statement = object.get("attStmt");
  // None was asked for, and that of the key itself says nothing more. Certificates are not even looked at: they name addresses to ask.
  if (statement.get("x5c") !== undefined || !["none", "packed"].includes(object.get("fmt")))
    return { is: "refused", reason: "It comes with an attestation." };
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
  if (!verified) return { is: "refused", reason: "The signature is not that of the passkey." };
  return { is: "verified", publicKey, counter: authenticationInfo.newCounter };
}
