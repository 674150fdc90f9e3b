// Shows the settings of a project, with one tab per topic.
import { getRouteApi } from "@tanstack/react-router";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { Page } from "../../ui/page.tsx";
import { ImageSettings } from "../images/image-settings.tsx";
import { useProject } from "../project-shell.tsx";
import { AuditLog } from "./audit-log.tsx";
import { BrandSettings } from "./brand-settings.tsx";
import { DangerSettings } from "./danger-settings.tsx";
import { FieldSettings } from "./field-settings.tsx";
import { GeneralSettings } from "./general-settings.tsx";
import { MemberSettings } from "./member-settings.tsx";
import { NotificationSettings } from "./notification-settings.tsx";
import { Reputation } from "./reputation.tsx";
import { SmtpSettings } from "./smtp-settings.tsx";
import { SuppressionSettings } from "./suppression-settings.tsx";
import { tabOf } from "./tabs.ts";
import { TransportSettings } from "./transport-settings.tsx";
import { UsageSettings } from "./usage-settings.tsx";
import { WebhookSettings } from "./webhook-settings.tsx";

const route = getRouteApi("/signed-in/$projectId/settings");

export function SettingsPage() {
  const project = useProject();
  const { tab: asked, search = "", endpoint, state } = route.useSearch();
  const tab = tabOf(asked);
  const navigate = route.useNavigate();
  return (
    <Page title={t("Settings")} about={project.name}>
      <Choices
        look="tabs"
        label={t("Section")}
        options={[
          { value: "general", label: t("General") },
          { value: "brand", label: t("Brand") },
          { value: "images", label: t("Images") },
          { value: "members", label: t("Members") },
          { value: "notifications", label: t("Notifications") },
          { value: "webhooks", label: t("Webhooks") },
          { value: "smtp", label: t("SMTP") },
          { value: "transports", label: t("Transports") },
          { value: "fields", label: t("Fields") },
          { value: "reputation", label: t("Reputation") },
          { value: "usage", label: t("Usage") },
          { value: "suppressions", label: t("Suppression list") },
          { value: "audit", label: t("Audit log") },
          { value: "danger", label: t("Reset and delete") },
        ]}
        value={tab}
        onChoose={(chosen) => void navigate({ search: { tab: chosen } })}
      />
      {tab === "general" && <GeneralSettings key={project.id} project={project} />}
      {tab === "brand" && <BrandSettings key={project.id} project={project} />}
      {tab === "images" && <ImageSettings project={project} />}
      {tab === "members" && <MemberSettings project={project} />}
      {tab === "notifications" && <NotificationSettings project={project} />}
      {tab === "webhooks" && (
        <WebhookSettings
          project={project}
          endpointId={endpoint}
          state={state}
          onChoose={(chosen) =>
            void navigate({
              search: {
                tab,
                ...(endpoint === undefined ? {} : { endpoint }),
                ...(chosen === undefined ? {} : { state: chosen }),
              },
              replace: true,
            })
          }
        />
      )}
      {tab === "smtp" && <SmtpSettings project={project} />}
      {tab === "transports" && <TransportSettings project={project} />}
      {tab === "fields" && <FieldSettings project={project} />}
      {tab === "reputation" && <Reputation project={project} />}
      {tab === "usage" && <UsageSettings project={project} />}
      {tab === "suppressions" && (
        <SuppressionSettings
          project={project}
          search={search}
          onSearch={(text) =>
            void navigate({ search: { tab, ...(text === "" ? {} : { search: text }) }, replace: true })
          }
        />
      )}
      {tab === "audit" && <AuditLog project={project} />}
      {tab === "danger" && <DangerSettings project={project} />}
    </Page>
  );
}
