// Shows whether the sender of a received email is proven, and by which checks.
import type { z } from "zod";
import type { authentication } from "@postloft/contract/received-emails.ts";
import { t } from "../../text/t.ts";
import { Badge, type Tone } from "../../ui/page.tsx";

type Authentication = z.output<typeof authentication>;

export function SenderChecks({ results }: { results: Authentication | null }) {
  if (results === null)
    return <p className="mt-4 text-sm text-faint">{t("The sender of this email was not checked.")}</p>;
  const { verified, spf, dkim, dmarc } = results;
  const rows = [
    { name: "DMARC", ...dmarc },
    { name: "SPF", ...spf },
    ...dkim.map((signature) => ({ name: "DKIM", ...signature })),
  ];
  return (
    <div className="mt-4">
      <Verdict isVerified={verified} />
      <details className="mt-2 text-sm">
        <summary className="cursor-pointer text-soft hover:text-ink">{t("Details")}</summary>
        <ul className="mt-2 grid gap-1.5">
          {rows.map(({ name, result, domain }, index) => (
            <li key={index} className="flex flex-wrap items-center gap-x-2">
              <span className="w-14 text-soft">{name}</span>
              <Badge tone={toneOf(result)}>{result}</Badge>
              <bdi className="text-faint wrap-anywhere">{domain}</bdi>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

function Verdict({ isVerified }: { isVerified: boolean }) {
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-faint">
      {isVerified ? (
        <Badge tone="good">{t("Sender verified")}</Badge>
      ) : (
        <Badge tone="neutral">{t("Sender not verified")}</Badge>
      )}
      {!isVerified && t("Someone else may have written this email.")}
    </div>
  );
}

function toneOf(result: string): Tone {
  if (result === "pass") return "good";
  return result === "fail" ? "warn" : "neutral";
}
