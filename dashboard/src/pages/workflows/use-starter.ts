// Creates the templates and the workflow of a starter. The workflow is disabled, so nothing is sent.
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { LANGUAGE } from "../../text/t.ts";
import { beginningOf } from "../templates/starting-points.ts";
import { documentOf, type Inputs, type Starter } from "./starter.ts";

interface ToCreate {
  starter: Starter;
  inputs: Inputs;
}

/** Returns a mutation that creates the workflow. A retry uses the templates that exist already. */
export function useStarter(projectId: string, onCreated: (workflow: { id: string }) => Promise<void>) {
  const made = useRef(new Map<string, string>());
  return useMutation({
    mutationFn: async ({ starter, inputs }: ToCreate) => {
      const ids: string[] = [];
      for (const { name, subject, content } of starter.emails) {
        const key = JSON.stringify([name, inputs]);
        const id = made.current.get(key) ?? (await createTemplate(projectId, name, subject, content(inputs)));
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

type Blocks = ReturnType<Starter["emails"][number]["content"]>;

async function createTemplate(projectId: string, name: string, subject: string, blocks: Blocks) {
  const written = beginningOf({ content: () => blocks }, LANGUAGE);
  const body = { name, type: "MARKETING" as const, subject, ...written };
  return (await call(api.templates.create, { projectId, body })).id;
}
