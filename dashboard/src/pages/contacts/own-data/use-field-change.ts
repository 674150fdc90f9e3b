// Changes one key of a contact's data and offers to undo it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call, problemOf } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { projectKey } from "../../../api/query-key.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { useUndoToast } from "../../use-undo.ts";

interface FieldChange {
  name: string;
  /** Null removes the key. */
  value: unknown;
  /** Null if there was no value. */
  before: unknown;
}

export function useFieldChange(projectId: string, id: string) {
  const queries = useQueryClient();
  const done = useUndoToast(projectId);
  const put = async (name: string, value: unknown) => {
    const contact = await call(api.contacts.update, {
      projectId,
      params: { id },
      body: { data: { [name]: value } },
    });
    queries.setQueryData(query(api.contacts.get, { projectId, params: { id } }).queryKey, contact);
    // The API ignores reserved names without an error.
    if (value !== null && !Object.hasOwn(contact.data, name))
      throw new Error(t("This field name is reserved. Choose another name."));
  };
  return useMutation({
    mutationFn: ({ name, value }: FieldChange) => put(name, value),
    onSuccess: (_nothing, { name, value, before }) => {
      done(value === null ? t("Field removed") : t("Field saved"), {
        description: name,
        undo: () => put(name, before),
      });
      void queries.invalidateQueries({ queryKey: projectKey(projectId) });
    },
  });
}

/** Returns the error message for the field. */
export function errorOf(error: Error | null): string | undefined {
  return error === null ? undefined : (problemOf(error) ?? error.message);
}
