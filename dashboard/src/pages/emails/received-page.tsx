// Shows one received email. Its HTML is from a stranger, so it runs in a sandbox and loads nothing from other servers.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { z } from "zod";
import type { fullReceivedEmail } from "@postloft/contract/received-emails.ts";
import { call, download } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatBytes, formatInstant } from "../../ui/format.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useProject } from "../project-shell.tsx";
import { useDelayedDeletion } from "../use-delayed-deletion.ts";
import { ReplyDialog } from "./reply-dialog.tsx";
import { SenderChecks } from "./sender-checks.tsx";

type Received = z.output<typeof fullReceivedEmail>;

/** Blocks remote images, fonts and forms. The frame blocks scripts. */
const LOADS_NOTHING =
  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">";

export function ReceivedPage({ id }: { id: string }) {
  const { id: projectId } = useProject();
  const email = useQuery(query(api.received.get, { projectId, params: { id } }));
  const { data } = email;
  return (
    <Page
      title={data === undefined ? t("Email") : (data.subject ?? t("No subject"))}
      actions={data !== undefined && <Actions projectId={projectId} email={data} />}
    >
      <Link
        to="/$projectId/emails"
        params={{ projectId }}
        search={{ received: "list" }}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("Received emails")}
      </Link>
      {email.isPending && <Skeleton className="h-60" />}
      {email.isError && <Failure error={email.error} onRetry={() => void email.refetch()} />}
      {data !== undefined && (
        <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <Facts projectId={projectId} email={data} />
          <Content email={data} />
        </div>
      )}
    </Page>
  );
}

function Actions({ projectId, email }: { projectId: string; email: Received }) {
  const { id, subject } = email;
  const navigate = useNavigate();
  const deleteLater = useDelayedDeletion(projectId);
  const [isReplying, setReplying] = useState(false);
  const remove = async () => {
    await navigate({ to: "/$projectId/emails", params: { projectId }, search: { received: "list" } });
    const name = subject ?? t("No subject");
    deleteLater({ id, name, remove: () => call(api.received.delete, { projectId, params: { id } }) });
  };
  return (
    <>
      <Button look="quiet" onClick={() => void remove()}>
        {t("Delete")}
      </Button>
      <Button look="primary" onClick={() => setReplying(true)}>
        {t("Reply")}
      </Button>
      {isReplying && <ReplyDialog email={email} onClose={() => setReplying(false)} />}
    </>
  );
}

const write = ({ address, name }: Received["from"]) => (name === null ? address : `${name} <${address}>`);

function Facts({ projectId, email }: { projectId: string; email: Received }) {
  const facts = [
    { label: t("To"), value: email.to.map(write).join(", ") },
    { label: t("CC"), value: email.cc.map(write).join(", ") },
    { label: t("Reply-to"), value: email.replyTo.map(write).join(", ") },
    { label: t("Received"), value: formatInstant(email.receivedAt) },
  ].filter(({ value }) => value !== "");
  return (
    <Card className="p-5">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
        <Fact label={t("From")}>
          <Link
            to="/$projectId/contacts/$contactId"
            params={{ projectId, contactId: email.contactId }}
            className="text-accent hover:underline"
          >
            <bdi>{write(email.from)}</bdi>
          </Link>
        </Fact>
        {facts.map(({ label, value }) => (
          <Fact key={label} label={label}>
            <bdi>{value}</bdi>
          </Fact>
        ))}
        {email.attachments.map(({ filename, sizeBytes }, index) => (
          <Fact key={index} label={t("Attachment")}>
            <Attachment projectId={projectId} id={email.id} index={index} filename={filename} />{" "}
            <span className="text-faint">{formatBytes(sizeBytes)}</span>
          </Fact>
        ))}
      </dl>
      <SenderChecks results={email.authentication} />
    </Card>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{label}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </>
  );
}

interface AttachmentProps {
  projectId: string;
  id: string;
  index: number;
  filename: string;
}

function Attachment({ projectId, id, index, filename }: AttachmentProps) {
  const [error, setError] = useState<unknown>(null);
  const save = () => {
    setError(null);
    const params = { id, index: String(index) };
    download(api.received.getAttachment, { projectId, params }, filename).catch(setError);
  };
  return (
    <>
      <button type="button" onClick={save} className="text-left text-accent hover:underline">
        <bdi>{filename}</bdi>
      </button>
      {error !== null && <Failure error={error} />}
    </>
  );
}

function Content({ email: { html, text, headers } }: { email: Received }) {
  const [view, setView] = useState<"look" | "text" | "headers">(html === null ? "text" : "look");
  return (
    <section className="min-w-0">
      <Choices
        look="tabs"
        label={t("Preview mode")}
        options={[
          ...(html === null ? [] : [{ value: "look", label: t("Content") } as const]),
          { value: "text", label: t("Text") },
          { value: "headers", label: t("Headers") },
        ]}
        value={view}
        onChoose={setView}
      />
      {view === "look" && (
        <>
          <p className="mb-2 text-sm text-faint">{t("Images from other servers are blocked.")}</p>
          <MailFrame
            title={t("Email content")}
            html={LOADS_NOTHING + (html ?? "")}
            className="h-152 w-full"
          />
        </>
      )}
      {view === "text" && <Plain>{text ?? ""}</Plain>}
      {view === "headers" && (
        <Plain>{headers.map(({ name, value }) => `${name}: ${value}`).join("\n")}</Plain>
      )}
    </section>
  );
}

function Plain({ children }: { children: string }) {
  return (
    <pre
      tabIndex={0}
      className="max-h-152 overflow-auto rounded-md border border-line bg-side p-4 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere"
    >
      {children}
    </pre>
  );
}
