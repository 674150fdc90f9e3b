// Tests how stored reasons are translated.
import { expect, test, vi } from "vitest";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";

vi.stubGlobal("localStorage", { getItem: () => null });
vi.stubGlobal("navigator", { languages: ["de-DE"] });
// Imported after the stubs, because the module chooses its language when it loads.
const { reasonText } = await import("./reason-text.ts");

const REASONS: Array<[title: string, reason: string, shown: string]> = [
  ["a constant reason", recordedReason("noTemplate"), "Der Schritt hat keine Vorlage."],
  ["a value", recordedReason("responded", { status: 503 }), "Der Endpunkt hat mit 503 geantwortet."],
  [
    "a reason inside a reason",
    recordedReason("headerInvalid", { name: "X-Key", why: "Must be in the future." }),
    "Der Header X-Key kann nicht gesendet werden. Muss in der Zukunft liegen.",
  ],
  [
    "a value that is also a text of the dashboard",
    recordedReason("exitSegment", { segment: "Subscribed" }),
    "Ausstiegsbedingung: Der Kontakt ist nicht im Segment „Subscribed“.",
  ],
  ["an error of the catalog", "Must be in the future.", "Muss in der Zukunft liegen."],
  ["the words of another server", "550 mailbox unavailable", "550 mailbox unavailable"],
];

test.each(REASONS)("translates %s", (_title, reason, shown) => {
  expect(reasonText(reason)).toBe(shown);
});
