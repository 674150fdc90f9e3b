// Builds the variables of a step from the contact as it is stored now and from the execution (decision 0127). Pure.
import {
  templateVariables,
  type ContactVariable,
  type ExecutionVariables,
} from "../../rendering/template-variables.ts";
import type { FilterContact } from "../../segments/filters/evaluate-filter.ts";
import type { Execution } from "./execution.ts";

type Carrier = Pick<Execution, "contactId" | "context" | "results">;
type Contact = Pick<FilterContact, "email" | "subscribed" | "data">;

export function contactVariable({ contactId: id }: Carrier, contact: Contact): ContactVariable {
  const { email, subscribed, data } = contact;
  return { id, email, subscribed, data };
}

/** Returns the variables of all texts of a step. An email of the step has the same ones, and its links in addition. */
export function variablesOf(
  execution: Carrier,
  contact: Contact,
  knownFields: readonly string[] = [],
): Record<string, unknown> {
  const carried: ExecutionVariables = { event: execution.context, steps: execution.results };
  const recipient = { ...contactVariable(execution, contact), links: null, footer: null };
  return templateVariables({ ...recipient, execution: carried, knownFields });
}
