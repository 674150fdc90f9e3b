// From which address a project sends where nobody chose one, and what to do where there is none.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { domainsQuery } from "./domains-query.ts";

/** Stands in a program as long as the project has no sender. */
export const EXAMPLE_SENDER = "hello@mail.example.com";

/** The sender of the project, or one at the first domain that is verified. */
export function useSender(project: Project) {
  const domains = useQuery(domainsQuery(project.id));
  const verified = domains.data?.find((domain) => domain.verified);
  const sender = project.defaultFrom ?? (verified === undefined ? undefined : `hello@${verified.domain}`);
  return { domains, sender };
}

/** Beside a program with the example in it. */
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
