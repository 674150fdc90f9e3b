// Shows how a project's email is delivered and what delays it, with a test email to yourself.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { configQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { TestMail } from "./test-mail.tsx";

const POLL_EVERY_MS = 30_000;

interface DeliveryCardProps {
  project: Project;
  /** Whether the card offers the test email; otherwise the first steps do. */
  hasTest: boolean;
}

export function DeliveryCard({ project, hasTest }: DeliveryCardProps) {
  const config = useQuery(configQuery);
  const provider = config.data?.features.email.provider;
  return (
    <Card className="p-5">
      <h2 className="font-semibold">{t("Delivery")}</h2>
      {config.isPending && <Skeleton className="mt-2 h-10" />}
      {provider !== undefined && (
        <p className="mt-0.5 text-sm text-soft">
          {provider === "mailbox"
            ? t("Emails stay on this machine, in the local mailbox.")
            : t("Emails are sent through {provider}.", { provider: provider.toUpperCase() })}
        </p>
      )}
      <QueueHealth />
      {hasTest && <TestMail project={project} />}
    </Card>
  );
}

function QueueHealth() {
  const readiness = useQuery({
    ...query(api.instance.ready),
    refetchInterval: POLL_EVERY_MS,
  });
  if (readiness.isPending) return <Skeleton className="mt-3 h-5" />;
  const codes = readiness.data?.warnings.map(({ code }) => code) ?? [];
  const trouble = readiness.isError
    ? t("This instance isn't ready. Its start page shows why.")
    : codes.includes("HELD")
      ? t("Sending is on hold until the instance admin decides. The start page shows why.")
      : codes.includes("TRANSPORT_OUTAGE")
        ? t("We can't reach the mail server. Emails are sent as soon as it's back.")
        : undefined;
  return (
    <p className={`mt-3 flex items-start gap-2 text-sm ${trouble === undefined ? "" : "text-warn"}`}>
      <span
        className={`mt-1.5 size-2 shrink-0 rounded-full ${trouble === undefined ? "bg-good" : "bg-warn"}`}
        aria-hidden
      />
      {trouble ?? t("No delays")}
    </p>
  );
}
