// Lists urgent problems of a project: suspended or at-risk sending, reached caps, and work that waits for a decision.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { plural, t } from "../../text/t.ts";
import { buttonClass } from "../../ui/button.tsx";
import { heldReasonText } from "../campaigns/held-reason-text.ts";
import { dnsAdviceText } from "../domains/dns-advice-text.ts";
import { domainsQuery } from "../domains/domains-query.ts";
import { useReachedCaps } from "../settings/reached-caps.ts";

/** Maximum items per type; the linked pages show the rest. */
const SHOWN = 3;
const LOOK = buttonClass("plain");

function pausedQuery(projectId: string) {
  return query(api.campaigns.list, { projectId, query: { status: "PAUSED", limit: String(SHOWN) } });
}

/** Fetches a single email, because only its existence matters. */
function doubtQuery(projectId: string) {
  return query(api.emails.list, { projectId, query: { status: "UNCONFIRMED", limit: "1" } });
}

export function NeedsYou({ project }: { project: Project }) {
  const lines = [
    useReputation(project),
    ...useDomains(project.id),
    ...useCaps(project.id),
    ...usePaused(project.id),
    useDoubt(project.id),
  ].filter((line) => line !== null);
  if (lines.length === 0) return null;
  return (
    <div role="alert" className="rounded-md bg-warn-wash text-sm text-warn">
      <h2 className="sr-only">{t("Needs attention")}</h2>
      <ul className="divide-y divide-line">{lines}</ul>
    </div>
  );
}

function Line({ children, link }: { children: ReactNode; link: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-3.5 py-2.5">
      <p className="min-w-60 flex-1 wrap-anywhere">{children}</p>
      {link}
    </li>
  );
}

function useReputation({ id, disabled }: Project) {
  const security = useQuery(query(api.projects.ownSecurity, { projectId: id }));
  if (!disabled && (security.data?.status.isHealthy ?? true)) return null;
  const why = (
    <Link
      to="/$projectId/settings"
      params={{ projectId: id }}
      search={{ tab: "reputation" }}
      className={LOOK}
    >
      {t("View details")}
    </Link>
  );
  return (
    <Line key="reputation" link={why}>
      {disabled
        ? t("This project is disabled and can't send until its owner enables it.")
        : t("Your bounce or complaint rate is too high.")}
    </Line>
  );
}

/** Returns domains that lost their verification or are about to. */
function useDomains(projectId: string) {
  const domains = useQuery(domainsQuery(projectId)).data ?? [];
  return domains
    .filter(({ lastErrorParts }) => lastErrorParts.length > 0)
    .slice(0, SHOWN)
    .map(({ id, domain, verified, lastErrorParts }) => {
      const records = (
        <Link to="/$projectId/domains" params={{ projectId }} hash={domain} className={LOOK}>
          {t("View DNS records")}
        </Link>
      );
      return (
        <Line key={id} link={records}>
          {verified
            ? t("There's a problem with {domain}:", { domain })
            : t("You can't send from {domain}:", { domain })}{" "}
          {dnsAdviceText(lastErrorParts)}
        </Line>
      );
    });
}

function useCaps(projectId: string) {
  return useReachedCaps(projectId).map(({ category, text }) => (
    <Line
      key={category}
      link={
        <Link to="/$projectId/settings" params={{ projectId }} search={{ tab: "usage" }} className={LOOK}>
          {t("View usage")}
        </Link>
      }
    >
      {text}
    </Line>
  ));
}

function usePaused(projectId: string) {
  const { data: rows = [], total = 0 } = useQuery(pausedQuery(projectId)).data ?? {};
  const params = { projectId };
  const lines = rows.map(({ id, name, heldReasonParts }) => (
    <Line
      key={id}
      link={
        <Link
          to="/$projectId/campaigns/$campaignId"
          params={{ ...params, campaignId: id }}
          search={{}}
          className={LOOK}
        >
          {t("Resume or cancel")}
        </Link>
      }
    >
      {t("The campaign “{name}” is paused.", { name })} {heldReasonText({ heldReasonParts })}
    </Line>
  ));
  if (total <= rows.length) return lines;
  const all = (
    <Link to="/$projectId/campaigns" params={params} search={{ status: "PAUSED" }} className={LOOK}>
      {t("Paused campaigns")}
    </Link>
  );
  const more = plural(total - rows.length, "{n} more campaign is paused.", "{n} more campaigns are paused.");
  return [
    ...lines,
    <Line key="paused" link={all}>
      {more}
    </Line>,
  ];
}

function useDoubt(projectId: string) {
  const isThere = (useQuery(doubtQuery(projectId)).data?.data.length ?? 0) > 0;
  if (!isThere) return null;
  const mails = (
    <Link to="/$projectId/emails" params={{ projectId }} search={{ status: "UNCONFIRMED" }} className={LOOK}>
      {t("Resolve")}
    </Link>
  );
  return (
    <Line key="doubt" link={mails}>
      {t("The mail server didn't confirm some emails.")}
    </Line>
  );
}
