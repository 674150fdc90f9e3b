// The filter of a CONDITION step, which can also use the data of the event that started the execution.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useReducer } from "react";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { ConditionBuilder } from "../../segments/condition-builder/condition-builder.tsx";
import { sentenceOf } from "../../segments/condition-builder/condition-sentence.ts";
import { changeTree, filterOf, readTree } from "../../segments/condition-builder/condition-tree.ts";
import { useFields, type Fields } from "../../segments/condition-builder/fields.ts";
import { carriedName, eventDataField, filterOfStored, storedFilterOf } from "../condition-form.ts";
import type { FieldsProps } from "./step-config.ts";

export function ConditionFields({ projectId, startEvent, config, onChange, error }: FieldsProps) {
  const [tree, act] = useReducer(changeTree, filterOfStored(config), readTree);
  const fields = useStepFields(projectId, startEvent);
  const filter = filterOf(tree);
  const isUntouched = useUntouched(tree);
  useEffect(() => {
    if (isUntouched()) return;
    onChange(filter === null ? null : { ...storedFilterOf(filter) });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only an edit changes the configuration
  }, [tree]);
  return (
    <div>
      <ConditionBuilder tree={tree} fields={fields} error={error} path="config" onAction={act} />
      <p role="status" className="mt-3 border-t border-line pt-3 text-sm wrap-anywhere text-soft">
        {filter === null ? t("Complete the conditions to see the result.") : sentenceOf(filter, fields)}
      </p>
    </div>
  );
}

/** Returns whether the tree is still the one of the first render. */
function useUntouched(tree: object): () => boolean {
  const first = useMemo(() => tree, []); // oxlint-disable-line react-hooks/exhaustive-deps -- the first tree
  return () => tree === first;
}

/** Returns the fields of contacts and events, and the data of the starting event. */
export function useStepFields(projectId: string, startEvent: string | undefined): Fields {
  const fields = useFields(projectId, undefined);
  const { data } = useQuery({
    ...query(api.events.fields, { projectId, params: { eventName: startEvent ?? "" } }),
    enabled: startEvent !== undefined,
  });
  return useMemo(() => {
    const found = data?.fields ?? [];
    const items = found.map(({ field }) => ({ value: eventDataField(field), label: field }));
    const types = new Map(found.map(({ field, type }) => [eventDataField(field), type]));
    return {
      ...fields,
      nameOf: (field) => carriedName(field) ?? fields.nameOf(field),
      typeOf: (field) => types.get(field) ?? fields.typeOf(field),
      groups: [...(items.length === 0 ? [] : [{ label: t("Start event"), items }]), ...fields.groups],
    };
  }, [fields, data]);
}
