// Tests in a real browser that the settings of SMTP are those with which a program can send.
import { createTransport } from "nodemailer";
import { expect, test } from "vitest";
import * as keys from "@postloft/contract/keys.ts";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const server = useTestServer();
const browser = useBrowser();
const PATH = "/settings?tab=smtp";

test("code from the SMTP settings sends with a scoped key, and says how to turn SMTP on before", async () => {
  const { page, project } = await openDashboard(server, browser, () => PATH);
  await page.getByRole("heading", { name: "SMTP is turned off" }).waitFor();
  await page.getByText("SUBMISSION_PORT=587").waitFor();

  const submitting = await server.startAnother({ SUBMISSION_PORT: "0" });
  await page.goto(`${submitting.url}/app/${project.id}${PATH}`);
  await page.getByText("Only programs on the same machine can connect.").waitFor();
  await page.getByRole("link", { name: "Create scoped key" }).waitFor();
  const code = await page.locator("pre").innerText();
  for (const name of [
    "Django",
    "Laravel",
    "Rails",
    "WordPress",
    "Supabase",
    "Auth.js",
    "Grafana",
    "Go",
    "swaks",
  ]) {
    await page.getByRole("button", { name, exact: true }).click();
    await page.locator("pre", { hasText: project.id }).waitFor();
  }
  const { status, body } = await server.call(keys.createKey, project.bySession, {
    params: { projectId: project.id },
    body: { name: "Program", scopes: ["v1:write"] },
  });
  expect(status).toBe(201);
  const program = `return (async () => { ${code.replace("YOUR_SCOPED_KEY", body.data.key)} })()`;
  await new Function("nodemailer", program)({ createTransport });
  const emails = await server.rows("select to_address from emails where project_id = $1", project.id);
  expect(emails).toEqual([{ toAddress: "ada@example.com" }]);
});
