// Lists a segment's members; static segments can be edited.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { z } from "zod";
import type { contact } from "@postloft/contract/contacts.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextArea } from "../../ui/field.tsx";
import { formatDay } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { ContactCount } from "../contacts/contact-count.tsx";
import { useContacts } from "../contacts/contact-list.ts";
import type { ContactsSearch } from "../contacts/search.ts";
import { SubscriptionBadge } from "../contacts/subscription-badge.tsx";
import { invalidateMembers, type Segment } from "./segment-queries.ts";

type Contact = z.output<typeof contact>;

interface MembersProps {
  projectId: string;
  segment: Segment;
}

export function SegmentMembers({ projectId, segment }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const isStatic = segment.type === "STATIC";
  // Segments with a filter already show the count next to the filter.
  const members = useContacts(projectId, searchOf(segment), isStatic);
  const isLooking = members.lookedAt !== null;
  return (
    <section>
      <div className="mb-2 flex items-center justify-between">
        <h2 className="font-semibold">{t("Contacts")}</h2>
        {isStatic && <Button onClick={() => setAdding(true)}>{t("Add contacts")}</Button>}
      </div>
      {members.isError ? (
        <Failure error={members.error} onRetry={() => void members.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {members.rows?.length === 0 && !isLooking ? (
            <Empty title={t("No contacts in this segment")}>{t("No contact matches right now.")}</Empty>
          ) : (
            <Table
              label={t("Contacts in the segment")}
              columns={columnsOf(projectId, segment)}
              rows={members.rows?.length === 0 ? undefined : members.rows}
              rowKey={({ id }) => id}
              isStale={members.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More
        count={(isLooking || (isStatic && members.rows?.length !== 0)) && <ContactCount list={members} />}
        list={members}
      />
      {isAdding && <AddDialog projectId={projectId} segment={segment} onClose={() => setAdding(false)} />}
    </section>
  );
}

/** Untracked segments have no stored members, so query by filter. The filter preview shares this request. */
function searchOf({ id, type, trackMembership, filters }: Segment): ContactsSearch {
  return type === "DYNAMIC" && !trackMembership ? { filter: filters as Filter } : { segment: id };
}

function columnsOf(projectId: string, segment: Segment): Array<Column<Contact>> {
  const columns: Array<Column<Contact>> = [
    {
      key: "email",
      head: t("Email address"),
      cell: ({ id, email }) => (
        <Link to="/$projectId/contacts/$contactId" params={{ projectId, contactId: id }} className={ROW_LINK}>
          <bdi>{email}</bdi>
        </Link>
      ),
    },
    {
      key: "status",
      head: t("Status"),
      width: "w-36",
      cell: ({ subscribed }) => <SubscriptionBadge isSubscribed={subscribed} />,
    },
    {
      key: "createdAt",
      head: t("Added"),
      width: "w-36",
      cell: ({ createdAt }) => <span className="text-soft tabular-nums">{formatDay(createdAt)}</span>,
    },
  ];
  if (segment.type === "STATIC")
    columns.push({
      key: "remove",
      head: "",
      width: "w-28",
      align: "end",
      cell: ({ email }) => <RemoveButton projectId={projectId} segment={segment} email={email} />,
    });
  return columns;
}

function RemoveButton({ projectId, segment, email }: MembersProps & { email: string }) {
  const queries = useQueryClient();
  const toast = useToast();
  const removing = useMutation({
    mutationFn: () =>
      call(api.segments.removeMembers, { projectId, params: { id: segment.id }, body: { emails: [email] } }),
    onSuccess: () => invalidateMembers(queries, projectId),
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
  return (
    <Button
      look="quiet"
      className="relative"
      aria-label={t("Remove {email}", { email })}
      busy={removing.isPending}
      onClick={() => removing.mutate()}
    >
      {t("Remove")}
    </Button>
  );
}

function AddDialog({ projectId, segment, onClose }: MembersProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [text, setText] = useState("");
  const emails = text.split(/[\s,;]+/).filter((one) => one !== "");
  const adding = useMutation({
    mutationFn: () =>
      call(api.segments.addMembers, { projectId, params: { id: segment.id }, body: { emails } }),
    onSuccess: async ({ added, notFound }) => {
      await invalidateMembers(queries, projectId);
      toast(
        plural(added, "{n} contact added", "{n} contacts added"),
        notFound.length === 0 ? "" : t("No contact found for {list}", { list: notFound.join(", ") }),
      );
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Add contacts")}
      description={t("Paste the email addresses of existing contacts.")}
      open
      onClose={onClose}
    >
      {adding.isError && <Failure error={adding.error} />}
      <TextArea
        label={t("Email addresses")}
        rows={6}
        autoFocus
        help={t("One per line or separated by commas.")}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button
          look="primary"
          busy={adding.isPending}
          disabled={emails.length === 0}
          onClick={() => adding.mutate()}
        >
          {t("Add contacts")}
        </Button>
      </div>
    </Dialog>
  );
}
