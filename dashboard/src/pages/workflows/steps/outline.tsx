// Shows the steps of a workflow as a nested list, for the keyboard and for phones.
import type { ReactNode } from "react";
import { t } from "../../../text/t.ts";
import type { Plan, Way } from "../canvas/plan.ts";

interface OutlineProps {
  plan: Plan;
  nameOf: (id: string) => string;
  /** Returns the label of the branch of a way, or null. */
  labelOf: (way: Way) => string | null;
  /** The keys of the ways that a trial took; undefined without a trial. */
  takenWays?: ReadonlySet<string> | undefined;
  renderStep: (id: string) => ReactNode;
  renderWay: (way: Way) => ReactNode;
}

export function Outline(props: OutlineProps) {
  return (
    <ol aria-label={t("Steps")} className="flex flex-col gap-2">
      {props.plan.roots.map((id) => (
        <Chain key={id} id={id} {...props} />
      ))}
    </ol>
  );
}

/** A step and what follows it. A single way continues the list, and several ways are lists inside it. */
function Chain({ id, ...props }: OutlineProps & { id: string }) {
  const { plan, takenWays, labelOf, renderStep } = props;
  const ways = plan.ways.get(id) ?? [];
  const [only] = ways;
  const isSingle = ways.length === 1 && only !== undefined;
  return (
    <>
      <li>
        {renderStep(id)}
        {isSingle && <WayLine way={only} {...props} />}
        {ways.length > 1 && (
          <ul className="mt-2 flex flex-col gap-2">
            {ways.map((way) => (
              <li
                key={way.key}
                aria-label={labelOf(way) ?? undefined}
                className={`border-l-2 pl-3 sm:pl-5 ${takenWays?.has(way.key) === true ? "border-accent" : "border-line"}`}
              >
                <WayLine way={way} {...props} />
                {way.kind === "branch" && way.toStepId !== null && (
                  <ol className="mt-2 flex flex-col gap-2">
                    <Chain id={way.toStepId} {...props} />
                  </ol>
                )}
              </li>
            ))}
          </ul>
        )}
      </li>
      {isSingle && only.kind === "branch" && only.toStepId !== null && (
        <Chain id={only.toStepId} {...props} />
      )}
      {(plan.joins.get(id) ?? []).map((join) => (
        <Chain key={join} id={join} {...props} />
      ))}
    </>
  );
}

function WayLine({ way, renderWay, nameOf }: OutlineProps & { way: Way }) {
  const { kind, toStepId } = way;
  return (
    <div className="mt-2 flex flex-wrap items-center gap-2 text-sm text-soft">
      {renderWay(way)}
      {kind === "join" && toStepId !== null && t("Continues with {step}", { step: nameOf(toStepId) })}
      {kind === "loop" && toStepId !== null && t("Back to {step}", { step: nameOf(toStepId) })}
    </div>
  );
}
