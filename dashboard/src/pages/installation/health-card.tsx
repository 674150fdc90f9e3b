// Shows the findings of the quick checks, problems first.
import { t, translateMessage } from "../../text/t.ts";
import { Badge, type Tone } from "../../ui/page.tsx";
import { Said } from "../../ui/said.tsx";
import type { Finding, Installation } from "./installation-query.ts";
import { PartCard, TooSlow } from "./part-card.tsx";

const TONES: Record<Finding["state"], Tone> = { ok: "good", warning: "warn", problem: "bad" };
const STATES: Record<Finding["state"], string> = {
  ok: t("OK"),
  warning: t("Warning"),
  problem: t("Problem"),
};
const ORDER: ReadonlyArray<Finding["state"]> = ["problem", "warning", "ok"];
/** Warnings whose English sentences contain counts and times. */
const SENTENCES: Readonly<Record<string, string>> = {
  transport_outage: t("A transport is out of service. Email waits and is retried automatically."),
  held: t("Email is on hold. Release or drop it with `npm run admin -- held`."),
};

export function HealthCard({ findings }: { findings: Installation["findings"] }) {
  const sorted = findings?.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  return (
    <PartCard
      title={t("Checks")}
      about={t("Run npm run doctor on the server for slower checks of DNS, logs and counts.")}
    >
      {sorted === undefined ? (
        <TooSlow />
      ) : (
        <ul className="divide-y divide-line">
          {sorted.map((finding) => (
            <li key={`${finding.check} ${finding.message}`} className="flex items-start gap-3 px-5 py-2.5">
              <span className="w-20 shrink-0">
                <Badge tone={TONES[finding.state]}>{STATES[finding.state]}</Badge>
              </span>
              <div className="min-w-0 text-sm wrap-anywhere">
                <p>
                  <Said>{SENTENCES[finding.check] ?? translateMessage(finding)}</Said>
                </p>
                {finding.advice !== null && (
                  <p className="text-soft">
                    <Said>{translateMessage({ message: finding.advice })}</Said>
                  </p>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </PartCard>
  );
}
