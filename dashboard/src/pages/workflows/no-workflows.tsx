// Explains workflows and offers starters while there are none.
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/states.tsx";
import { SCRATCH } from "./new-workflow-dialog.tsx";
import { STARTERS } from "./starters.ts";

interface NoWorkflowsProps {
  isFiltered: boolean;
  onClear: () => void;
  /** Receives the key of a starter, or `SCRATCH`. */
  onAdd: (startWith: string) => void;
}

export function NoWorkflows({ isFiltered, onClear, onAdd }: NoWorkflowsProps) {
  if (isFiltered)
    return (
      <Empty
        title={t("No matching workflows")}
        action={<Button onClick={onClear}>{t("Clear filters")}</Button>}
      >
        {t("Try a different search or clear the filters.")}
      </Empty>
    );
  return (
    <>
      <Empty
        title={t("No workflows yet")}
        action={
          <Button look="primary" onClick={() => onAdd(SCRATCH)}>
            {t("Create your first workflow")}
          </Button>
        }
      >
        {t(
          "A workflow sends emails to each contact over time, such as a welcome and a reminder three days later.",
        )}
      </Empty>
      <section className="border-t border-line p-5">
        <h2 className="mb-3 text-sm font-medium">{t("Or begin with a starter")}</h2>
        <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
          {STARTERS.map(({ key, label, about }) => (
            <li key={key}>
              <button
                type="button"
                onClick={() => onAdd(key)}
                className="flex h-full w-full flex-col rounded-md border border-line p-3 text-left text-sm transition-colors hover:bg-hover"
              >
                <span className="block font-medium">{label}</span>
                <span className="text-soft">{about}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
