// Creates the templates and the workflow of a starter. The workflow is disabled, so nothing is sent.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { LANGUAGE } from "../../text/t.ts";
import { domainsQuery } from "../domains/domains-query.ts";
import { useProject } from "../project-shell.tsx";
import { beginningOf } from "../templates/starting-points.ts";
import { documentOf, type Inputs, type Starter } from "./starter.ts";

interface ToCreate {
  starter: Starter;
  inputs: Inputs;
}

/** Returns a mutation that creates the workflow. A retry uses the templates that exist already. */
export function useStarter(onCreated: (workflow: { id: string }) => Promise<void>) {
  const project = useProject();
  const { id: projectId, defaultFrom } = project;
  const queries = useQueryClient();
  const made = useRef(new Map<string, string>());
  return useMutation({
    mutationFn: async ({ starter, inputs }: ToCreate) => {
      const domains = await queries.ensureQueryData(domainsQuery(projectId));
      const verified = domains.find((domain) => domain.verified);
      // Without a default sender, the emails could not be sent.
      const from = defaultFrom === null && verified !== undefined ? `hello@${verified.domain}` : null;
      const ids: string[] = [];
      for (const { name, subject, content } of starter.emails) {
        const key = JSON.stringify([name, inputs]);
        const written = beginningOf({ content: () => content(inputs) }, { ...project, language: LANGUAGE });
        const body = { name, type: "MARKETING" as const, subject, from, ...written };
        const id = made.current.get(key) ?? (await call(api.templates.create, { projectId, body })).id;
        made.current.set(key, id);
        ids.push(id);
      }
      return call(api.workflows.import, {
        projectId,
        body: documentOf(starter, inputs, ids),
      });
    },
    onSuccess: onCreated,
  });
}
