// Fields of steps and triggers that may contain variables, and filters on the data of an event.
import { z } from "zod";
import { parseAddress } from "../address.ts";
import { issue, jsonSchemas } from "../field.ts";
import { conditionsOf, filter, filterNames, filterWithVariables } from "../filters.ts";
import { LIMITS } from "../limits/limits.ts";
import { isVariable } from "../read-condition.ts";
import { messageOf } from "../refused-address.ts";
import { withValues } from "../translation.ts";
import { readAs } from "../unknown-fields.ts";

/** The name of an event that a workflow waits for, tracked by callers or emitted by the service (spec §6). */
export const awaitedEventName = z.string().trim().min(1).max(LIMITS.eventNameLength.value);

/** Only applies to the event's data. Use a CONDITION to ask about the contact. */
const ofEvent = (schema: typeof filter) =>
  readAs(
    schema
      .superRefine((read, context) => {
        const other = conditionsOf(read).find(({ field }) => !field.startsWith("data."));
        if (other !== undefined)
          context.addIssue(
            issue(
              withValues("Only event data can be used here: `data.<key>`, not `{field}`.", {
                field: other.field,
              }),
              "custom",
              other,
            ),
          );
      })
      .register(jsonSchemas, jsonSchemas.get(filter) ?? { jsonSchema: {} }),
    filterNames,
  );

/** The filter of a trigger, which runs before there is an execution with variables. */
export const eventFilter = ofEvent(filter);
/** The filter of a wait. */
export const waitFilter = ofEvent(filterWithVariables);

/** An address, or a text with variables that becomes one when the step runs. */
export const recipientAddress = z
  .string()
  .max(LIMITS.filterTextLength.value)
  .transform((text, context) => {
    if (isVariable(text)) return text;
    const parsed = parseAddress(text);
    if (parsed.ok) return parsed.address;
    context.issues.push(issue(messageOf(parsed), "invalid_string", text));
    return z.NEVER;
  })
  .register(jsonSchemas, {
    jsonSchema: {
      type: "string",
      maxLength: LIMITS.filterTextLength.value,
      description: "An email address. May contain variables.",
      examples: ["team@example.com"],
    },
  });
