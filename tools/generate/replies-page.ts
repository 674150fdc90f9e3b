// Generates docs/answers.md, which explains the classification of SMTP replies and the rows that match them.
import { CAUSES, type Cause, type Category } from "../../server/src/transports/replies/reply-causes.ts";
import type { RepliedPart, RejectionRow } from "../../server/src/transports/replies/reply-row.ts";
import { REJECTION_ROWS } from "../../server/src/transports/replies/reply-rows.ts";
import { DOOR_ROWS } from "../../server/src/transports/replies/replies.ts";
import { kindOf } from "../../server/src/deliveries/rules.ts";
import { code, GENERATED, page, table, wrap } from "./markdown.ts";

const TRIED_AGAIN: readonly Category[] = ["temporary", "throttled", "unavailable"];

/** Returns the text of docs/answers.md. */
export function responsesPage(): string {
  return page([
    "# What answers of mail servers mean",
    GENERATED,
    wrap(
      "One table judges the answer at the door and the reports that come later: by who speaks, code, enhanced code and text together. " +
        "Only where words or a code that can be trusted say so of the recipient is an address *gone*; what is about us, our server " +
        "or the message unsubscribes nobody and is no bounce of the audience. The event `email.bounce` and the attempts in the mail's " +
        "timeline carry `cause`, `refusedBy` and `advice`.",
    ),
    "## What each cause leads to",
    table(
      ["cause", "meaning", "tried again", "unsubscribed", "counts as bounce", "what it says", "what to do"],
      (Object.keys(CAUSES) as Cause[]).map((cause) => {
        const { meaning, says, advice } = CAUSES[cause];
        const isGone = kindOf(cause) === "hard-bounce";
        return [
          code(cause),
          meaning,
          TRIED_AGAIN.includes(meaning) ? "yes" : "no",
          isGone ? "yes" : "no",
          isGone ? "yes" : "no",
          says,
          advice,
        ];
      }),
    ),
    wrap(
      "An answer of 4xx is tried again whatever its cause, for as long as mail of its kind may wait. What is given up then, here or at " +
        "a server on the way, is judged by the same causes: a `soft-bounce` leaves an event and nothing else.",
    ),
    "## Answers that are tried again",
    table(
      ["answer", "meaning", "source"],
      DOOR_ROWS.map(({ sample, meaning, source }) => [code(sample), meaning, source]),
    ),
    "## How a cause is recognised",
    wrap(
      "The first row that fits decides. Where no code stands, any code will do; where no words are named, the code alone decides.",
    ),
    table(
      ["example", "who speaks", "codes", "by words", "in answer to", "cause", "source"],
      REJECTION_ROWS.map((row) => [
        code(row.sample),
        row.speaker?.join(", ") ?? "",
        [row.code, row.status].filter((one) => one !== undefined).join(" "),
        row.words === undefined ? "" : "yes",
        partsOf(row),
        code(row.cause),
        row.source,
      ]),
    ),
  ]);
}

const PARTS: Readonly<Record<NonNullable<RejectionRow["of"]> | RepliedPart, string>> = {
  rcpt: "the recipient",
  named: "the recipient, or not told",
  unknown: "not told",
  recipient: "recipient, or message to one",
  mail: "the sender",
  message: "the message",
};

function partsOf({ of }: RejectionRow): string {
  return of === undefined ? "" : PARTS[of];
}
