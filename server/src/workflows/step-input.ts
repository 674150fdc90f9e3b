// Reads what callers send for a step.
import { unknownFieldIssues } from "@postloft/contract/unknown-fields.ts";
import { STEP_CONFIGS, type GraphStep, type StepType } from "@postloft/contract/workflows/graph.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import { fieldErrors } from "../platform/http/errors.ts";

export interface StepInput {
  type: StepType;
  name?: string | undefined;
  config?: Readonly<Record<string, unknown>> | undefined;
  templateId?: string | null | undefined;
  position?: { x: number; y: number } | null | undefined;
  note?: string | null | undefined;
}

/** @throws AppError VALIDATION_ERROR for `config.…` */
export function readConfig(type: StepType, config: Readonly<Record<string, unknown>>) {
  const parsed = STEP_CONFIGS[type].safeParse(config);
  const unknown = unknownFieldIssues(STEP_CONFIGS[type], config, ["config"]);
  if (parsed.success && unknown.length === 0) return parsed.data;
  const faults = parsed.error?.issues ?? [];
  const issues = [...faults.map((one) => ({ ...one, path: ["config", ...one.path] })), ...unknown];
  throw new AppError("VALIDATION_ERROR", { fields: fieldErrors(issues, { config }, "config") });
}

/** Applies a `templateId` given next to the config. An id replaces the config's template, null removes it. */
export function withTemplate(
  type: StepType,
  config: Readonly<Record<string, unknown>>,
  templateId: string | null | undefined,
): Readonly<Record<string, unknown>> {
  if (templateId === undefined || (templateId === null && type !== "SEND_EMAIL")) return config;
  if (type !== "SEND_EMAIL")
    throw invalidField("templateId", "custom", "Only a SEND_EMAIL step has a template. Remove this field.");
  const { templateId: _before, ...others } = config;
  return templateId === null ? others : { ...others, templateId };
}

/** Returns a step with another note. Null or an empty text removes it, and undefined keeps it. */
export function withNote(step: GraphStep, note: string | null | undefined): GraphStep {
  if (note === undefined) return step;
  const { note: _before, ...others } = step;
  return (note === null || note === "" ? others : { ...others, note }) as GraphStep;
}
