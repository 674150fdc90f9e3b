// Searches a project's contacts, templates, campaigns, segments, domains and emails by name.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call, CallError } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { domainsQuery } from "../domains/domains-query.ts";
import { isAddress } from "../emails/search.ts";
import { segmentsOf, segmentsQuery } from "../segments/segment-queries.ts";

/** Maximum number of results per type. */
const SHOWN = 5;
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export type FoundPlace = "contact" | "template" | "campaign" | "segment" | "domain" | "email" | "recipient";

interface Found {
  label: string;
  things: ReadonlyArray<{ id: string; name: string; place: FoundPlace }>;
}

interface Asked {
  projectId: string;
  text: string;
  signal: AbortSignal;
}

/** Finds an email by its id, for ids pasted from a log. */
async function findEmail({ projectId, text, signal }: Asked) {
  if (!ID.test(text)) return [];
  try {
    return [await call(api.emails.get, { projectId, params: { id: text }, signal })];
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return [];
    throw error;
  }
}

/** Finds contacts, and the latest emails of the first contact with an address that starts with the search text. */
async function findPeople({ projectId, text, signal }: Asked) {
  const query = { search: text, limit: String(SHOWN) };
  const { data: people } = await call(api.contacts.list, { projectId, query, signal });
  const wanted = text.includes("@")
    ? people.find(({ email }) => email.startsWith(text.toLowerCase()))
    : undefined;
  if (wanted === undefined) return { people, emails: [] };
  const { data: emails } = await call(api.emails.list, {
    projectId,
    query: { contactId: wanted.id, limit: String(SHOWN) },
    signal,
  });
  return { people, emails };
}

export function findQuery(projectId: string, text: string) {
  return queryOptions({
    queryKey: [...projectKey(projectId), "palette", text],
    enabled: text !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, client }): Promise<Found[]> => {
      const asked = { projectId, query: { search: text, limit: String(SHOWN) }, signal };
      const [{ people, emails }, byId, templates, campaigns, segments, domains] = await Promise.all([
        findPeople({ projectId, text, signal }),
        findEmail({ projectId, text, signal }),
        call(api.templates.list, asked),
        call(api.campaigns.list, asked),
        // Projects have few segments and domains, so filter them in the browser.
        client.ensureQueryData(segmentsQuery(projectId)).then(segmentsOf),
        client.ensureQueryData(domainsQuery(projectId)),
      ]);
      const matchesName = (name: string) => name.toLowerCase().includes(text.toLowerCase());
      const things = (place: FoundPlace, all: ReadonlyArray<{ id: string; name: string }>) =>
        all.slice(0, SHOWN).map(({ id, name }) => ({ id, name, place }));
      return [
        {
          label: t("Contacts"),
          things: things(
            "contact",
            people.map(({ id, email }) => ({ id, name: email })),
          ),
        },
        { label: t("Templates"), things: things("template", templates.data) },
        { label: t("Campaigns"), things: things("campaign", campaigns.data) },
        {
          label: t("Segments"),
          things: things(
            "segment",
            segments.filter(({ name }) => matchesName(name)),
          ),
        },
        {
          label: t("Domains"),
          // Domains are shown on a single page with an anchor each.
          things: things(
            "domain",
            domains
              .filter(({ domain }) => matchesName(domain))
              .map(({ domain }) => ({ id: domain, name: domain })),
          ),
        },
        {
          label: t("Emails"),
          things: [
            ...things(
              "email",
              [...byId, ...emails].map(({ id, subject, to }) => ({
                id,
                // A redacted email has no recipient or subject.
                name: to === "" ? id : t("{subject} to {address}", { subject, address: to }),
              })),
            ),
            // The list of emails also says why an address may have got none.
            ...(isAddress(text)
              ? things("recipient", [{ id: text, name: t("All emails to {address}", { address: text }) }])
              : []),
          ],
        },
      ].filter(({ things: all }) => all.length > 0);
    },
  });
}
