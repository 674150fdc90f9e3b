// Shows the type of a custom field and derives it again from the existing values.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatNumber } from "../../ui/format.ts";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import type { ContactField } from "../contacts/field-queries.ts";
import { TYPE_NAMES } from "../segments/condition-builder/fields.ts";

interface FieldTypeProps {
  projectId: string;
  field: ContactField;
  /** Whether any contact has a value, which determines the type. */
  hasValues: boolean;
}

export function FieldType({ projectId, field: { field, type }, hasValues }: FieldTypeProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const resetting = useMutation({
    mutationFn: () => call(api.contacts.resetFieldType, { projectId, params: { field } }),
    onSuccess: async (now) => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.contacts.listFields, { projectId }) });
      toast(
        now.type === type
          ? t("Type unchanged: {type}", { type: TYPE_NAMES[now.type] })
          : t("Type changed to {type}", { type: TYPE_NAMES[now.type] }),
        t("{count} of {total} values have this type.", {
          count: formatNumber(now.ofType),
          total: formatNumber(now.contactCount),
        }),
      );
    },
  });
  return (
    <section className="mt-4">
      <h3 className="text-sm font-medium">{t("Type")}</h3>
      <div className="mt-1 flex items-center justify-between gap-3">
        <p className="text-sm">
          {TYPE_NAMES[type]}
          <span className="block text-faint">
            {hasValues
              ? t("Set by the first value. Reset to use the most common type. Values don't change.")
              : t("No contact uses this field. Delete it to let the next value set the type.")}
          </span>
        </p>
        {hasValues && (
          <Button busy={resetting.isPending} onClick={() => resetting.mutate()}>
            {t("Reset type")}
          </Button>
        )}
      </div>
      {resetting.isError && (
        <div className="mt-2">
          <Failure error={resetting.error} />
        </div>
      )}
    </section>
  );
}
