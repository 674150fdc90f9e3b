// A text field for an event, with suggestions.
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { Field } from "../../ui/field.tsx";

interface EventFieldProps {
  projectId: string;
  label: string;
  help?: string | undefined;
  placeholder?: string;
  autoFocus?: boolean;
  value: string;
  onChange: (name: string) => void;
  error: string | undefined;
}

/** A text field that suggests the names of past events. */
export function EventField({
  projectId,
  label,
  help,
  placeholder = "signed-up",
  autoFocus = false,
  value,
  onChange,
  error,
}: EventFieldProps) {
  const events = useQuery(query(api.events.names, { projectId }));
  const listId = useId();
  return (
    <>
      <Field
        label={label}
        help={help}
        list={listId}
        autoComplete="off"
        placeholder={placeholder}
        autoFocus={autoFocus}
        maxLength={LIMITS.eventNameLength.value}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        error={error}
      />
      <datalist id={listId}>
        {events.data?.names.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
