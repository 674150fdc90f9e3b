// Shows the addresses of an email, its attachments, and the tags and metadata that its sender gave it.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { t } from "../../text/t.ts";
import { formatBytes, formatInstant } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { languageName } from "../templates/language-name.ts";
import type { WholeEmail } from "./email-query.ts";

interface FactsProps {
  projectId: string;
  email: WholeEmail;
}

export function Facts({ projectId, email }: FactsProps) {
  const facts = [
    { label: t("From"), value: email.from },
    { label: t("To"), value: email.to },
    { label: t("CC and BCC"), value: [...email.cc, ...email.bcc].join(", ") },
    { label: t("Reply-to"), value: email.replyTo ?? "" },
    { label: t("Language"), value: email.locale === null ? "" : languageName(email.locale) },
    { label: t("Message-ID"), value: email.messageId },
    {
      label: t("Scheduled"),
      value: email.scheduledFor === null ? "" : formatInstant(email.scheduledFor),
    },
  ];
  const metadata = Object.entries(email.metadata);
  return (
    <Card className="p-5">
      <dl className={LIST}>
        {facts
          .filter(({ value }) => value !== "")
          .map(({ label, value }) => (
            <Fact key={label} label={label}>
              <bdi>{value}</bdi>
            </Fact>
          ))}
        {email.tags.length > 0 && (
          <Fact label={t("Tags")}>
            <Tags projectId={projectId} tags={email.tags} />
          </Fact>
        )}
        {email.attachments.map(({ filename, sizeBytes }, index) => (
          <Fact key={index} label={t("Attachment")}>
            <bdi>{filename}</bdi> <span className="text-faint">{formatBytes(sizeBytes)}</span>
          </Fact>
        ))}
      </dl>
      {metadata.length > 0 && (
        <section aria-labelledby="metadata">
          <h2 id="metadata" className="mt-4 mb-2 text-sm font-medium">
            {t("Metadata")}
          </h2>
          <dl className={LIST}>
            {metadata.map(([name, value]) => (
              <Fact key={name} label={<bdi>{name}</bdi>}>
                <bdi>{value}</bdi>
              </Fact>
            ))}
          </dl>
        </section>
      )}
      {email.contactId !== null && (
        <Link
          to="/$projectId/contacts/$contactId"
          params={{ projectId, contactId: email.contactId }}
          className="mt-3 inline-block text-sm text-accent hover:underline"
        >
          {t("View contact")}
        </Link>
      )}
    </Card>
  );
}

const LIST = "grid grid-cols-[6rem_minmax(0,1fr)] gap-x-3 gap-y-2 text-sm";

function Fact({ label, children }: { label: ReactNode; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="wrap-anywhere text-faint">{label}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}

/** Each tag leads to the emails with this tag. */
function Tags({ projectId, tags }: { projectId: string; tags: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-1">
      {tags.map((tag, index) => (
        <li key={index} className="min-w-0">
          <Link
            to="/$projectId/emails"
            params={{ projectId }}
            search={{ tag }}
            className="inline-block max-w-full rounded-sm bg-hover px-1.5 text-ink hover:underline"
          >
            <bdi>{tag}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}
