// What preparing a claimed mail results in: a message that can be sent, or the reason why there is none.
import type { ListKind } from "../../message/message-headers.ts";
import type { OutgoingMessage } from "../../transports/transport.ts";
import type { ClaimedRow } from "./claimed-queries.ts";

export interface Ready {
  kind: "ready";
  row: ClaimedRow;
  message: OutgoingMessage;
  /** The rendered subject if it differs from the content's subject because of variables. */
  ownSubject: string | null;
  listKind: ListKind | null;
}

export interface Unready {
  /** `skipped` means that the email is no longer wanted. */
  kind: "failed" | "skipped";
  row: ClaimedRow;
  reason: string;
}

export type Prepared = Ready | Unready;
