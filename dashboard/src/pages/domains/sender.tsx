// Determines the default sender of a project, or explains how to get one.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { domainsQuery } from "./domains-query.ts";

/** Used in code samples while the project has no sender. */
export const EXAMPLE_SENDER = "hello@mail.example.com";

/** Returns the project's sender, or an address at its first verified domain. */
export function useSender(project: Project) {
  const domains = useQuery(domainsQuery(project.id));
  const verified = domains.data?.find((domain) => domain.verified);
  const sender = project.defaultFrom ?? (verified === undefined ? undefined : `hello@${verified.domain}`);
  return { domains, sender };
}

/** Explains next to a code sample that its sender is only an example. */
export function NoSender({ projectId }: { projectId: string }) {
  return (
    <p className="mt-2 text-sm text-warn">
      {t("You can't send until you verify a domain.")}{" "}
      <Link to="/$projectId/domains" params={{ projectId }} className="underline">
        {t("Add domain")}
      </Link>
    </p>
  );
}
