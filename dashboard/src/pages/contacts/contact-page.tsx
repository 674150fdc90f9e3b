// One contact: its subscription and its data, to read, change and delete. Before it: contacts-page.tsx.
import { useMutation, useQuery, useQueryClient, queryOptions } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { deleteContact, getContact, updateContact } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Card, Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { ContactData } from "./contact-data.tsx";
import { useProject } from "../project-shell.tsx";
import { SubscriptionBadge } from "./contacts-page.tsx";

const route = getRouteApi("/signed-in/$projectId/contacts/$contactId");

function contactQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "contact", id],
    queryFn: ({ signal }) => call(getContact, { projectId, params: { id }, signal }),
  });
}

export function ContactPage() {
  const project = useProject();
  const { contactId } = route.useParams();
  const contact = useQuery(contactQuery(project.id, contactId));
  const [isDeleting, setDeleting] = useState(false);
  const { data } = contact;
  return (
    <Page
      title={data?.email ?? t("Contact")}
      {...(data === undefined ? {} : { about: t("Added {when}", { when: formatInstant(data.createdAt) }) })}
      actions={
        data !== undefined && (
          <>
            <SubscriptionButton projectId={project.id} id={data.id} isSubscribed={data.subscribed} />
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
        <div className="flex flex-col gap-5">
          <Card className="flex items-center justify-between gap-3 px-5 py-4">
            <div>
              <h2 className="font-medium">{t("Marketing mail")}</h2>
              <p className="text-sm text-soft">
                {data.subscribed
                  ? t("Campaigns and workflows reach this contact.")
                  : t("Only transactional mail reaches this contact.")}
              </p>
            </div>
            <SubscriptionBadge isSubscribed={data.subscribed} />
          </Card>
          <ContactData key={data.updatedAt} projectId={project.id} id={data.id} data={data.data} />
        </div>
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

interface SubscriptionProps {
  projectId: string;
  id: string;
  isSubscribed: boolean;
}

function SubscriptionButton({ projectId, id, isSubscribed }: SubscriptionProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const changing = useMutation({
    mutationFn: () => call(updateContact, { projectId, params: { id }, body: { subscribed: !isSubscribed } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["project", projectId] });
      toast(isSubscribed ? t("Unsubscribed") : t("Subscribed"));
    },
    onError: (error) => toast(t("Nothing was changed"), error.message),
  });
  return (
    <Button busy={changing.isPending} onClick={() => changing.mutate()}>
      {isSubscribed ? t("Unsubscribe") : t("Subscribe")}
    </Button>
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
    mutationFn: () => call(deleteContact, { projectId, params: { id } }),
    onSuccess: async () => {
      await navigate({ to: "/$projectId/contacts", params: { projectId }, search: {} });
      queries.removeQueries({ queryKey: contactQuery(projectId, id).queryKey });
      await queries.invalidateQueries({ queryKey: ["project", projectId] });
      toast(t("Contact deleted"), email);
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete this contact?")}
      description={t(
        "{email}, its data and its events are gone for good. Mail still waiting for it is not sent.",
        { email },
      )}
      action={t("Delete contact")}
      doing={deleting}
      onClose={onClose}
    />
  );
}
