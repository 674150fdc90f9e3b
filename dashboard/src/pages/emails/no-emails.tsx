// Explains an empty list of emails: nothing sent yet, no match, or why an address may have got no email.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatDay } from "../../ui/format.ts";
import { Empty, Skeleton } from "../../ui/states.tsx";
import { isAboutSuppression, type Explained } from "../contacts/receiving-text.ts";
import { useReceiving } from "../contacts/receiving.tsx";
import { useReachedCaps } from "../settings/reached-caps.ts";
import { isAddress, type EmailsSearch } from "./search.ts";

interface NoEmailsProps {
  projectId: string;
  search: EmailsSearch;
  /** The time back to which emails were searched, or null for all. */
  searchedTo: string | null;
  onClear: () => void;
}

export function NoEmails({ projectId, search, searchedTo, onClear }: NoEmailsProps) {
  const { search: text = "", in: sought, ...filters } = search;
  const address = sought === undefined && isAddress(text) ? text.trim() : null;
  const clear = <Button onClick={onClear}>{t("Clear filters")}</Button>;
  if (Object.keys(search).length === 0)
    return (
      <Empty title={t("No emails yet")}>
        {t("Every email you send appears here, with the mail server's responses.")}
      </Empty>
    );
  if (searchedTo !== null)
    return (
      <Empty title={t("No matching emails so far")}>
        {t("Searched back to {day}. Show more to search older emails.", { day: formatDay(searchedTo) })}
      </Empty>
    );
  if (address === null)
    return (
      <Empty title={t("No matching emails")} action={clear}>
        {adviceOf(search)}
      </Empty>
    );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Empty title={t("No email to {address}", { address })} {...(isFiltered ? { action: clear } : {})}>
        {isFiltered ? t("Your other filters may hide it.") : t("Here is what we know about this address.")}
      </Empty>
      <Reasons projectId={projectId} address={address} />
    </>
  );
}

function adviceOf({ search = "", in: sought, tag }: EmailsSearch): string {
  if (tag !== undefined) return t("Enter the whole tag. Upper and lower case matter.");
  return sought === undefined && search !== ""
    ? t("Search by a whole address, or by its beginning.")
    : t("Try a different search or clear the filters.");
}

/** Underlined, because color alone does not mark a link inside a sentence (WCAG 1.4.1). */
const LINK = "text-accent underline";

/** The list of reasons below an `Empty`. */
export const REASONS = "mx-auto -mt-8 mb-12 flex max-w-96 list-disc flex-col gap-2 px-6 pl-10 text-soft";

/** Lists possible reasons, each with a link to its place. */
function Reasons({ projectId, address }: { projectId: string; address: string }) {
  const explained = useReceiving(projectId, address);
  const caps = useReachedCaps(projectId);
  return (
    <ul className={REASONS}>
      {explained.isPending && <Skeleton className="h-4 w-64" />}
      {explained.data !== undefined && (
        <ContactReasons projectId={projectId} explained={explained.data} text={explained.text} />
      )}
      {caps.map(({ category, text }) => (
        <Reason key={category} link={<ToUsage projectId={projectId} />}>
          {text}
        </Reason>
      ))}
      <Reason link={<ToRequests projectId={projectId} />}>{t("Did your app's request fail?")}</Reason>
    </ul>
  );
}

interface ContactReasonsProps {
  projectId: string;
  explained: Explained;
  /** Says why the address doesn't get some or all email. */
  text: string | null;
  /** The reason if the contact is subscribed. */
  ifSubscribed?: string;
}

/** Says what the contact and the suppression list have to do with a missing email. */
export function ContactReasons({
  projectId,
  explained,
  text,
  ifSubscribed = t("The contact is subscribed. Check whether the campaign's audience includes it."),
}: ContactReasonsProps) {
  const { contact, suppressionList, suppression, email } = explained;
  const isBlocked = suppression !== null && suppressionList;
  return (
    <>
      {contact === null && <Reason>{t("No contact has this address. Check its spelling.")}</Reason>}
      {contact !== null && !isBlocked && (
        <Reason
          link={
            <Link
              to="/$projectId/contacts/$contactId"
              params={{ projectId, contactId: contact.id }}
              className={LINK}
            >
              {t("View contact")}
            </Link>
          }
        >
          {contact.subscribed ? ifSubscribed : text}
        </Reason>
      )}
      {isAboutSuppression(explained) && (
        <Reason
          link={
            <Link
              to="/$projectId/settings"
              params={{ projectId }}
              search={{ tab: "suppressions", search: email }}
              className={LINK}
            >
              {t("View suppression")}
            </Link>
          }
        >
          {text}
        </Reason>
      )}
    </>
  );
}

function Reason({ children, link }: { children: ReactNode; link?: ReactNode }) {
  return (
    <li>
      {children} {link}
    </li>
  );
}

function ToRequests({ projectId }: { projectId: string }) {
  return (
    <Link to="/$projectId/activity" params={{ projectId }} search={{ view: "requests" }} className={LINK}>
      {t("View API requests")}
    </Link>
  );
}

function ToUsage({ projectId }: { projectId: string }) {
  return (
    <Link to="/$projectId/settings" params={{ projectId }} search={{ tab: "usage" }} className={LINK}>
      {t("View usage")}
    </Link>
  );
}
