// What of a project is called so: a few contacts, templates, campaigns and segments. Before it: palette.tsx. After it: api/.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { listCampaigns, listContacts, listTemplates } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { segmentsQuery } from "../segments/segment-queries.ts";

/** Of each sort. */
const SHOWN = 5;

export type FoundPlace = "contact" | "template" | "campaign" | "segment";

interface Found {
  label: string;
  things: ReadonlyArray<{ id: string; name: string; place: FoundPlace }>;
}

export function findQuery(projectId: string, text: string) {
  return queryOptions({
    queryKey: ["project", projectId, "palette", text],
    enabled: text !== "",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, client }): Promise<Found[]> => {
      const asked = { projectId, query: { search: text, limit: String(SHOWN) }, signal };
      const [contacts, templates, campaigns, segments] = await Promise.all([
        call(listContacts, asked),
        call(listTemplates, asked),
        call(listCampaigns, asked),
        // A project has few segments: they are looked through here.
        client.ensureQueryData(segmentsQuery(projectId)),
      ]);
      const named = segments.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
      const things = (place: FoundPlace, all: ReadonlyArray<{ id: string; name: string }>) =>
        all.slice(0, SHOWN).map(({ id, name }) => ({ id, name, place }));
      const people = contacts.data.map(({ id, email }) => ({ id, name: email }));
      return [
        { label: t("Contacts"), things: things("contact", people) },
        { label: t("Templates"), things: things("template", templates.data) },
        { label: t("Campaigns"), things: things("campaign", campaigns.data) },
        { label: t("Segments"), things: things("segment", named) },
      ].filter(({ things: all }) => all.length > 0);
    },
  });
}
