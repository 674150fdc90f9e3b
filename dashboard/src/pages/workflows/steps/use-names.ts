// Reads the names that sentences about steps need.
import { useQuery } from "@tanstack/react-query";
import { startEventOf } from "../start-event.ts";
import type { Workflow } from "../workflow-queries.ts";
import { useSegmentNames } from "../use-segment-names.ts";
import { useStepFields } from "./condition-fields.tsx";
import { templatesQuery } from "./mail-fields.tsx";
import type { Names } from "./step-text.ts";

/** Returns null while loading. */
export function useNames(
  projectId: string,
  workflow: Pick<Workflow, "triggerType" | "triggerConfig">,
): Names | null {
  const segments = useSegmentNames(projectId);
  const templates = useQuery(templatesQuery(projectId));
  const fields = useStepFields(projectId, startEventOf(workflow));
  if (templates.isPending) return null;
  return {
    segments,
    fields,
    templates: new Map(templates.data?.data.map(({ id, name }) => [id, name])),
  };
}
