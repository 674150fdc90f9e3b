// Shows a contact's activity, data and subscription, with actions to edit, export and delete it.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call, download } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useProject } from "../project-shell.tsx";
import { useUndoToast } from "../use-undo.ts";
import { Consent } from "./consent.tsx";
import { ContactMails } from "./contact-mails.tsx";
import { ContactSegments } from "./contact-segments.tsx";
import { ContactWorkflows } from "./contact-workflows.tsx";
import { SubscriptionBadge } from "./subscription-badge.tsx";
import { DataFields } from "./own-data/data-fields.tsx";
import { Receiving } from "./receiving.tsx";
import { Timeline } from "./timeline.tsx";

const route = getRouteApi("/signed-in/$projectId/contacts/$contactId");

export function ContactPage() {
  const project = useProject();
  const { contactId } = route.useParams();
  const contact = useQuery(query(api.contacts.get, { projectId: project.id, params: { id: contactId } }));
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const { data } = contact;
  return (
    <Page
      title={data?.email ?? t("Contact")}
      {...(data === undefined ? {} : { about: aboutOf(data) })}
      actions={
        data !== undefined && (
          <>
            <Subscription projectId={project.id} id={data.id} isSubscribed={data.subscribed} />
            <ExportButton projectId={project.id} id={data.id} email={data.email} />
            <Button onClick={() => setDeleting(true)}>{t("Delete")}</Button>
          </>
        )
      }
    >
      <Link
        to="/$projectId/contacts"
        params={{ projectId: project.id }}
        search={{}}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("All contacts")}
      </Link>
      {contact.isPending && <Skeleton className="h-40" />}
      {contact.isError && <Failure error={contact.error} onRetry={() => void contact.refetch()} />}
      {data !== undefined && (
        <>
          <Receiving projectId={project.id} contact={data} />
          <Choices
            look="tabs"
            label={t("Section")}
            options={[
              { value: "timeline", label: t("Timeline") },
              { value: "mails", label: t("Emails") },
              { value: "data", label: t("Data") },
              { value: "segments", label: t("Segments") },
              { value: "workflows", label: t("Workflows") },
              { value: "consent", label: t("Subscription") },
            ]}
            value={tab ?? "timeline"}
            onChoose={(chosen) => void navigate({ search: chosen === "timeline" ? {} : { tab: chosen } })}
          />
          {tab === undefined && <Timeline projectId={project.id} contact={data} />}
          {tab === "mails" && <ContactMails projectId={project.id} id={data.id} />}
          {tab === "data" && <DataFields projectId={project.id} id={data.id} data={data.data} />}
          {tab === "segments" && <ContactSegments projectId={project.id} id={data.id} />}
          {tab === "workflows" && <ContactWorkflows projectId={project.id} id={data.id} />}
          {tab === "consent" && (
            <Consent projectId={project.id} id={data.id} isSubscribed={data.subscribed} />
          )}
        </>
      )}
      {isDeleting && data !== undefined && (
        <DeleteDialog
          projectId={project.id}
          id={data.id}
          email={data.email}
          onClose={() => setDeleting(false)}
        />
      )}
    </Page>
  );
}

/** Returns the contact's name, if its fields contain one, and when it was added. */
function aboutOf({ data, createdAt }: ApiResponse<typeof api.contacts.get>): string {
  const textOf = (key: string) => {
    const value = data[key];
    return typeof value === "string" ? value.trim() : "";
  };
  const name = textOf("name") || [textOf("firstName"), textOf("lastName")].filter(Boolean).join(" ");
  const added = t("Added {when}", { when: formatInstant(createdAt) });
  return name === "" ? added : `${name} · ${added}`;
}

/** Exports all data stored about a contact, for access requests. */
function ExportButton({ projectId, id, email }: { projectId: string; id: string; email: string }) {
  const toast = useToast();
  const exporting = useMutation({
    mutationFn: () => download(api.contacts.export, { projectId, params: { id } }, `${email}.json`),
    onError: (error) => toast(t("Couldn't export"), error.message),
  });
  return (
    <Button busy={exporting.isPending} onClick={() => exporting.mutate()}>
      {t("Export")}
    </Button>
  );
}

interface SubscriptionProps {
  projectId: string;
  id: string;
  isSubscribed: boolean;
}

/** Shows the subscription, and changes it before the server confirms. A rejected change is reverted. */
function Subscription({ projectId, id, isSubscribed }: SubscriptionProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const done = useUndoToast(projectId);
  const { queryKey } = query(api.contacts.get, { projectId, params: { id } });
  const change = (subscribed: boolean) => {
    queries.setQueryData(queryKey, (old) => old && { ...old, subscribed });
    return call(api.contacts.update, { projectId, params: { id }, body: { subscribed } });
  };
  const changing = useMutation({
    mutationFn: change,
    onSuccess: (_contact, subscribed) =>
      done(subscribed ? t("Subscribed") : t("Unsubscribed"), { undo: () => change(!subscribed) }),
    onError: (error) => toast(t("Couldn't save the change"), error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: projectKey(projectId) }),
  });
  return (
    <>
      <span className="flex items-center">
        <SubscriptionBadge isSubscribed={isSubscribed} />
      </span>
      <Button aria-busy={changing.isPending} onClick={() => changing.mutate(!isSubscribed)}>
        {isSubscribed ? t("Unsubscribe") : t("Subscribe")}
      </Button>
    </>
  );
}

interface DeleteProps {
  projectId: string;
  id: string;
  email: string;
  onClose: () => void;
}

function DeleteDialog({ projectId, id, email, onClose }: DeleteProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const deleting = useMutation({
    mutationFn: () => call(api.contacts.delete, { projectId, params: { id } }),
    onSuccess: async () => {
      await navigate({ to: "/$projectId/contacts", params: { projectId }, search: {}, ignoreBlocker: true });
      queries.removeQueries({ queryKey: resourceKey(api.contacts.get, { projectId, params: { id } }) });
      await queries.invalidateQueries({ queryKey: projectKey(projectId) });
      toast(t("Contact deleted"), email);
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete this contact?")}
      description={t("The data and events of {email} are deleted permanently. Pending emails are canceled.", {
        email,
      })}
      action={t("Delete contact")}
      doing={deleting}
      onClose={onClose}
    />
  );
}
