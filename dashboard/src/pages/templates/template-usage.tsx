// Lists where a template is used.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";

export function TemplateUsage({ projectId, id }: { projectId: string; id: string }) {
  const usage = useQuery(query(api.templates.usage, { projectId, params: { id } }));
  if (usage.data === undefined) return null;
  const { campaigns, workflowSteps, executions, emailsSent } = usage.data;
  const workflows = [...workflowSteps, ...executions].map(({ workflowName }) => workflowName);
  const names = new Set([...campaigns.map(({ name }) => name), ...workflows]);
  return (
    <Card className="p-5 text-sm">
      <h2 className="font-medium">{t("Used in")}</h2>
      {names.size === 0 ? (
        <p className="text-soft">{t("Not used yet.")}</p>
      ) : (
        <ul className="mt-1 text-soft">
          {[...names].map((name) => (
            <li key={name}>
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      <p className="mt-2 text-faint">{plural(emailsSent, "{n} email sent.", "{n} emails sent.")}</p>
    </Card>
  );
}
