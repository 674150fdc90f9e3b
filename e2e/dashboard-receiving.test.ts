// Tests receiving at a domain in a real browser: it is turned on, its MX record is checked, and emails show whether their sender is proven.
import { createTransport } from "nodemailer";
import { afterAll, expect, test } from "vitest";
import { startDnsServer } from "../server/src/testing/dns-server.ts";
import { freePort } from "../server/src/testing/free-port.ts";
import { proveDomain } from "../server/src/testing/prove-domain.ts";
import { useTestServer } from "../server/src/testing/test-server.ts";
import { openDashboard } from "./open-dashboard.ts";
import { useBrowser } from "./use-browser.ts";

const dns = await startDnsServer();
const port = await freePort();
const server = useTestServer({
  ROLES: "api,worker,smtp",
  MAIL_TRANSPORT: "smtp://127.0.0.1:9",
  SMTP_NAME: "mx.postloft.example",
  INBOUND_DOMAIN: "in.example",
  SMTP_PORT: String(port),
  DNS_SERVERS: dns.address,
});
const browser = useBrowser();
afterAll(async () => dns.close());

const DOMAIN = "acme.example";

async function write(from: string, subject: string): Promise<void> {
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true, name: "client.example" });
  await client.sendMail({ from, to: `hello@${DOMAIN}`, subject, text: "Hi" });
}

test("a domain receives email once its record is found, and the sender's badge follows DNS", async () => {
  const { page } = await openDashboard(server, browser, async ({ byKey }) => {
    await proveDomain(server, dns, byKey, DOMAIN);
    return "/domains";
  });
  const receiving = page.getByLabel(`Receive emails at ${DOMAIN}`);
  await receiving.check();
  await page.getByRole("heading", { name: "Receiving (MX)" }).waitFor();
  await page.getByText("10 mx.postloft.example", { exact: true }).waitFor();
  const badge = page.getByRole("heading", { name: "Receiving (MX)" }).locator("..");
  const check = page.getByRole("button", { name: "Check now" }).first();
  await check.click();
  await badge.getByText("Not found yet").waitFor();
  dns.setRecords(DOMAIN, { MX: ["10 mx.postloft.example"] });
  await check.click();
  await badge.getByText("Found", { exact: true }).waitFor();

  dns.setTxt("person.example", ["v=spf1 ip4:127.0.0.1 -all"]);
  dns.setTxt("_dmarc.person.example", ["v=DMARC1; p=reject"]);
  await write("ada@person.example", "From Ada");
  await write("eve@stranger.example", "From Eve");
  await page.getByRole("link", { name: "Emails", exact: true }).click();
  await page.getByRole("button", { name: "Received emails" }).click();
  for (const [sender, verdict] of [
    ["ada@person.example", "Sender verified"],
    ["eve@stranger.example", "Sender not verified"],
  ] as const) {
    await page.getByRole("link", { name: sender }).click();
    expect(await page.getByText(/^Sender (not )?verified$/).innerText()).toBe(verdict);
    await page.getByRole("link", { name: "Received emails" }).click();
  }
});
