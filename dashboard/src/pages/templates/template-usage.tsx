// Lists where a template is used.
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { getTemplateUsage } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";

export function TemplateUsage({ projectId, id }: { projectId: string; id: string }) {
  const usage = useQuery({
    queryKey: ["project", projectId, "template", id, "usage"],
    queryFn: ({ signal }) => call(getTemplateUsage, { projectId, params: { id }, signal }),
  });
  if (usage.data === undefined) return null;
  const { campaigns, workflowSteps, emailsSent } = usage.data;
  const names = [
    ...campaigns.map(({ name }) => name),
    ...workflowSteps.map(({ workflowName }) => workflowName),
  ];
  return (
    <Card className="p-5 text-sm">
      <h2 className="font-medium">{t("Used in")}</h2>
      {names.length === 0 ? (
        <p className="text-soft">{t("Not used yet.")}</p>
      ) : (
        <ul className="mt-1 text-soft">
          {names.map((name, at) => (
            <li key={at}>
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      <p className="mt-2 text-faint">{plural(emailsSent, "{n} email sent.", "{n} emails sent.")}</p>
    </Card>
  );
}
