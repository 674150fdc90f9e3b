// Shows why an address doesn't get some or all email.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { isAboutSuppression, NO_MARKETING, receivingText } from "./receiving-text.ts";

/** Returns what is known about an address, with the reason as a text. */
export function useReceiving(projectId: string, address: string) {
  const explained = useQuery({
    ...query(api.suppressions.explain, { projectId, params: { address } }),
    retry: false,
  });
  const contact = explained.data?.contact ?? null;
  const consent = useQuery({
    ...query(api.contacts.consent, { projectId, params: { id: contact?.id ?? "" } }, contact?.subscribed),
    enabled: contact?.subscribed === false,
  });
  return {
    ...explained,
    text: explained.data === undefined ? null : receivingText(explained.data, consent.data?.data ?? []),
  };
}

interface ReceivingProps {
  projectId: string;
  contact: { email: string; subscribed: boolean };
}

/** Shows nothing for a contact that gets all email. */
export function Receiving({ projectId, contact }: ReceivingProps) {
  const { data, text } = useReceiving(projectId, contact.email);
  // A change of the subscription shows before the server confirms it.
  const isOutdated = data?.contact?.subscribed !== contact.subscribed;
  const shown = isOutdated ? (contact.subscribed ? null : NO_MARKETING) : text;
  if (shown === null) return null;
  return (
    <p className="mb-4 text-sm text-soft">
      {shown}{" "}
      {data !== undefined && isAboutSuppression(data) && !isOutdated && (
        <Link
          to="/$projectId/settings"
          params={{ projectId }}
          search={{ tab: "suppressions", search: contact.email }}
          className="text-accent underline"
        >
          {t("View suppression")}
        </Link>
      )}
    </p>
  );
}
