// Labels of the states of a DNS record.
import { t } from "../../text/t.ts";
import type { Tone } from "../../ui/page.tsx";
import type { Domain } from "./domains-query.ts";

export const STATES: Record<Domain["records"][number]["status"], { tone: Tone; label: string }> = {
  FOUND: { tone: "good", label: t("Found") },
  MISSING: { tone: "warn", label: t("Not found yet") },
  MISMATCH: { tone: "bad", label: t("Differs") },
  UNCHECKED: { tone: "neutral", label: t("Not checked yet") },
};
