// Tracks the onboarding steps of a project: which are done or skipped in this browser, and whether to show them.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { configQuery, type Project } from "../../session/queries.ts";

export type FirstStep = "mail" | "domain" | "test";
/** Poll, because an email that is never sent causes no live event. */
const POLL_EVERY_MS = 5_000;
const STORED_AS = "postloft.skipped.";

function skippedIn(projectId: string): string[] {
  return (localStorage.getItem(STORED_AS + projectId) ?? "").split(",");
}

function rememberSkipped(projectId: string, steps: readonly string[]): void {
  localStorage.setItem(STORED_AS + projectId, steps.join(","));
}

/** With the local mailbox a sender exists immediately; otherwise a domain must be verified before anything is sent. */
const ORDERS: Record<"here" | "elsewhere", readonly FirstStep[]> = {
  here: ["mail", "domain", "test"],
  elsewhere: ["domain", "mail", "test"],
};

export function useFirstStart(project: Project) {
  const [skipped, setSkipped] = useState(() => skippedIn(project.id));
  const [isBegun, setBegun] = useState(false);
  const [isHidden, setHidden] = useState(false);
  const provider = useQuery(configQuery).data?.features.email.provider;
  const state = useQuery({
    ...query(api.projects.setupState, { projectId: project.id }),
    refetchInterval: ({ state: { data } }) =>
      isBegun && !isHidden && data?.firstMailAt === null ? POLL_EVERY_MS : false,
  });
  const order = ORDERS[provider === "mailbox" ? "here" : "elsewhere"];
  const { data } = state;
  const done: Record<FirstStep, boolean> = {
    mail: data !== undefined && data.firstMailAt !== null,
    domain: data?.hasOwnDomain ?? false,
    test: data !== undefined && (data.hasReachedMember || data.lastCampaignSentAt !== null),
  };
  const isOver = order.every((step) => done[step] || skipped.includes(step));
  const isKnown = data !== undefined && provider !== undefined;
  // Remember that onboarding is over, so that the next visit does not wait for the queries.
  const isLongOver = isKnown && isOver && !isBegun;
  useEffect(() => {
    if (isLongOver) rememberSkipped(project.id, order);
  }, [isLongOver, project.id, order]);
  // Keep the steps visible when the last one is completed, until the user closes them.
  if (isKnown && !isOver && !isBegun) setBegun(true);
  const skip = (...steps: readonly FirstStep[]) => {
    const all = [...new Set([...skipped, ...steps])];
    rememberSkipped(project.id, all);
    setSkipped(all);
  };
  return {
    state,
    order,
    done,
    isOver,
    isLoading: !isKnown && !isOver && !state.isError,
    isShown: isKnown && isBegun && !isHidden,
    /** The first step that is neither done nor skipped, or the last step. */
    current: order.find((step) => !done[step] && !skipped.includes(step)) ?? order.at(-1) ?? "test",
    skip,
    hide: () => {
      skip(...order);
      setHidden(true);
    },
  };
}
