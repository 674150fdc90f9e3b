// Shows how other programs send through the project over SMTP, or how the instance admin turns it on.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";
import { configQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { Card } from "../../ui/page.tsx";
import { CopyButton, Snippet } from "../../ui/snippet.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { EXAMPLE_SENDER, NoSender, useSender } from "../domains/sender.tsx";
import { plainSenderOf, smtpSnippetsOf, type SmtpAccess } from "./smtp-snippets.ts";

type Submission = ApiResponse<typeof api.instance.config>["features"]["smtp"];

/** Placeholder for a key, which only its creator has seen. */
const OWN_KEY = "YOUR_SCOPED_KEY";

const LOOPBACK = /^(localhost|::1|127[.].*)$/;

const TURN_ON = `# For programs on the same machine
SUBMISSION_PORT=587

# For other machines, too
SUBMISSION_TLS_PORT=465
SUBMISSION_HOST=0.0.0.0
SUBMISSION_TLS_CERT=/path/to/fullchain.pem
SUBMISSION_TLS_KEY=/path/to/privkey.pem`;

export function SmtpSettings({ project }: { project: Project }) {
  const config = useQuery(configQuery);
  if (config.isPending) return <Skeleton className="h-60" />;
  if (config.isError) return <Failure error={config.error} onRetry={() => void config.refetch()} />;
  const { smtp } = config.data.features;
  return smtp.enabled ? <TurnedOn project={project} smtp={smtp} /> : <TurnedOff />;
}

function TurnedOff() {
  return (
    <Card className="p-5">
      <h2 className="font-semibold">{t("SMTP is turned off")}</h2>
      <p className="mt-1 mb-3 text-sm text-soft">
        {t(
          "Programs with SMTP settings can send through Postloft. The instance admin turns this on with these settings:",
        )}
      </p>
      <Snippet code={TURN_ON} label={t("Copy {what}", { what: t("Settings") })} />
    </Card>
  );
}

function accessOf({ domain, ports, tls }: Submission): Pick<SmtpAccess, "host" | "port" | "encryption"> {
  const host = domain ?? "";
  if (ports?.submission != null)
    return { host, port: ports.submission, encryption: tls ? "starttls" : "none" };
  return { host, port: ports?.secure ?? 0, encryption: "tls" };
}

function TurnedOn({ project, smtp }: { project: Project; smtp: Submission }) {
  const { domain, ports, tls } = smtp;
  const values = [
    { name: t("Host"), value: domain ?? "" },
    ...(ports?.submission == null
      ? []
      : [{ name: tls ? t("Port with STARTTLS") : t("Port"), value: String(ports.submission) }]),
    ...(ports?.secure == null ? [] : [{ name: t("Port with TLS"), value: String(ports.secure) }]),
    { name: t("User name"), value: project.id },
  ];
  return (
    <div>
      <Card className="divide-y divide-line">
        {values.map(({ name, value }) => (
          <div key={name} className="flex flex-wrap items-center gap-x-6 gap-y-1 px-5 py-3">
            <p className="w-48 font-medium">{name}</p>
            <div className="flex min-w-0 items-center gap-1">
              <code className="min-w-0 font-mono text-xs break-all">{value}</code>
              <CopyButton text={value} label={t("Copy {what}", { what: name })} />
            </div>
          </div>
        ))}
        <div className="flex flex-wrap items-center gap-x-6 gap-y-1 px-5 py-3">
          <p className="w-48 font-medium">{t("Password")}</p>
          <p className="text-sm text-soft">{t("An API key that can send. Create one per program.")}</p>
          <Link to="/$projectId/keys" params={{ projectId: project.id }} className="text-sm underline">
            {t("Create scoped key")}
          </Link>
        </div>
      </Card>
      {LOOPBACK.test(domain ?? "") && (
        <p className="mt-3 text-sm text-soft">{t("Only programs on the same machine can connect.")}</p>
      )}
      <Programs project={project} smtp={smtp} />
    </div>
  );
}

function Programs({ project, smtp }: { project: Project; smtp: Submission }) {
  const { domains, sender } = useSender(project);
  const [chosen, setChosen] = useState<string>();
  const snippets = smtpSnippetsOf({
    ...accessOf(smtp),
    user: project.id,
    password: OWN_KEY,
    sender: plainSenderOf(sender ?? EXAMPLE_SENDER),
  });
  const [program = ""] = chosen === undefined ? Object.keys(snippets) : [chosen];
  return (
    <section className="mt-8">
      <h2 className="font-semibold">{t("Set up your program")}</h2>
      <Choices
        label={t("Program")}
        options={Object.keys(snippets).map((name) => ({ value: name, label: name }))}
        value={program}
        onChoose={setChosen}
        className="my-3"
      />
      {domains.isPending ? (
        <Skeleton className="h-40" />
      ) : (
        <Snippet code={snippets[program] ?? ""} label={t("Copy {what}", { what: program })} />
      )}
      {domains.isSuccess && sender === undefined && <NoSender projectId={project.id} />}
    </section>
  );
}
