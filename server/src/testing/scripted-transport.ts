// Simulates a transport in tests of the sender. It acts on each attempt as the test says and records submitted messages.
import type { Outcome, OutgoingMessage, Transport } from "../transports/transport.ts";

/** The behavior at one attempt, with an outcome before or after the pre-send check. */
export type Play = (message: OutgoingMessage, mayLeave: () => Promise<boolean>) => Promise<Outcome>;

export const TAKEN: Outcome = { kind: "sent", answer: "250 2.0.0 taken" };

export interface ScriptedTransport extends Transport {
  /** Messages that passed the pre-send check, in the order of submission. */
  readonly handedOver: OutgoingMessage[];
  /** The behavior from now on. */
  play: Play;
}

/** Passes the pre-send check and accepts every message. */
export const takeEverything: Play = async (_message, mayLeave) =>
  (await mayLeave()) ? TAKEN : { kind: "withdrawn" };

/** Returns an outcome before the submission, so that nothing has been sent. */
export function refuseWith(outcome: Outcome): Play {
  return async () => outcome;
}

export function createScriptedTransport(): ScriptedTransport {
  const handedOver: OutgoingMessage[] = [];
  return {
    name: "scripted",
    handedOver,
    play: takeEverything,
    async send(message, mayLeave) {
      return this.play(message, async () => {
        const mayGo = await mayLeave();
        // The sender reuses the memory of a message once it is sent.
        if (mayGo) handedOver.push({ ...message, raw: Buffer.from(message.raw) });
        return mayGo;
      });
    },
    close: async () => undefined,
  };
}
