// Searches a campaign's recipients by address, and says why an address isn't one of them.
import { useQuery } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { formatDay } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { useReceiving } from "../contacts/receiving.tsx";
import { useEmails } from "../emails/email-list.ts";
import { ContactReasons, REASONS } from "../emails/no-emails.tsx";
import { isAddress } from "../emails/search.ts";
import { useProject } from "../project-shell.tsx";
import type { ReportProps } from "./campaign-queries.ts";

/** The columns of a recipient, which emails and waiting recipients have. */
export type FoundRecipient = Pick<
  ApiResponse<typeof api.campaigns.recipients>["data"][number],
  "id" | "email" | "status" | "reason" | "sentAt"
>;

interface FoundProps extends ReportProps {
  search: string;
  columns: Array<Column<FoundRecipient>>;
}

/** A whole address is also found while its email waits. */
export function FoundRecipients({ projectId, campaign, search, columns }: FoundProps) {
  const list = useEmails(projectId, { search, campaign: campaign.id });
  const hasNone = list.rows?.length === 0;
  const rows = list.rows?.map(({ to, ...email }) => ({ ...email, email: to }));
  return (
    <>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {hasNone && !list.isSearching ? (
            <NoRecipient
              projectId={projectId}
              campaign={campaign}
              search={search}
              searchedTo={list.searchedTo}
            />
          ) : (
            <Table
              label={t("Recipients")}
              columns={columns}
              rows={hasNone ? undefined : rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count="" list={list} />
    </>
  );
}

interface NoRecipientProps extends ReportProps {
  search: string;
  /** The time back to which recipients were searched, or null for all. */
  searchedTo: string | null;
}

function NoRecipient({ projectId, campaign, search, searchedTo }: NoRecipientProps) {
  const address = search.trim();
  if (searchedTo !== null)
    return (
      <Empty title={t("No matching emails so far")}>
        {t("Searched back to {day}. Show more to search older emails.", { day: formatDay(searchedTo) })}
      </Empty>
    );
  if (!isAddress(address))
    return <Empty title={t("No recipients")}>{t("Search by a whole address, or by its beginning.")}</Empty>;
  return (
    <>
      <Empty title={t("No recipient has the address {address}", { address })}>
        {t("Here is what we know about this address.")}
      </Empty>
      <Reasons projectId={projectId} campaign={campaign} address={address} />
    </>
  );
}

function Reasons({ projectId, campaign, address }: ReportProps & { address: string }) {
  const explained = useReceiving(projectId, address);
  const contact = useQuery({
    ...query(api.contacts.get, { projectId, params: { id: explained.data?.contact?.id ?? "" } }),
    enabled: explained.data?.contact?.subscribed === true,
  });
  const { emailRetentionDays: days } = useProject();
  const { startedAt } = campaign;
  const isLater = startedAt !== null && contact.data !== undefined && contact.data.createdAt > startedAt;
  const isDeleted = days !== null && startedAt !== null && ageInDays(startedAt) > days;
  if (explained.isPending) return <Skeleton className="h-6" />;
  if (explained.isError) return <Failure error={explained.error} onRetry={() => void explained.refetch()} />;
  return (
    <ul className={REASONS}>
      <ContactReasons
        projectId={projectId}
        explained={explained.data}
        text={explained.text}
        {...(isLater
          ? {
              ifSubscribed: t("The contact was added on {day}, after the campaign started.", {
                day: formatDay(contact.data.createdAt),
              }),
            }
          : {})}
      />
      {isDeleted && (
        <li>
          {plural(
            days,
            "This project deletes the recipients of emails after {n} day.",
            "This project deletes the recipients of emails after {n} days.",
          )}
        </li>
      )}
    </ul>
  );
}

const DAY_MS = 86_400_000;
const ageInDays = (instant: string) => (Date.now() - Date.parse(instant)) / DAY_MS;
