// Tests over HTTP that the blocks of a campaign and the body made from them stay together, as in a template.
import { expect, test } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import type { Design } from "@postloft/contract/design.ts";
import { designHtml } from "@postloft/contract/design-html.ts";
import { faultsOf, useTestServer } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });

type Campaign = ResponseOf<typeof campaigns.duplicateCampaign>;

const DESIGN: Design = {
  format: "postloft-blocks",
  version: 1,
  look: {
    background: "#eef0f7",
    surface: "#ffffff",
    ink: "#17181c",
    accent: "#4a4fd6",
    font: "sans",
    width: 600,
  },
  language: "en",
  preheader: "",
  blocks: [{ id: "1", kind: "heading", level: 1, text: "Hi {{firstName}} <b>", align: "left" }],
};
const HTML = designHtml(DESIGN);
const NEWS = { name: "News", subject: "News", from: "news@sandbox.localhost", audienceType: "ALL" };

test("builds the body from blocks, copies both, and drops the blocks when only a body is written", async () => {
  const { byKey } = await server.createProject();
  const made = await server.call<{ data: Campaign }>("POST", "/campaigns", byKey, {
    ...NEWS,
    design: DESIGN,
  });
  expect(made.body.data).toMatchObject({ body: HTML, design: DESIGN });
  const { id } = made.body.data;
  const copy = await server.call(campaigns.duplicateCampaign, byKey, { params: { id } });
  expect(JSON.stringify(copy.body)).toContain("postloft-blocks");
  const list = await server.call(campaigns.listCampaigns, byKey);
  expect(list.body.data).toHaveLength(2);
  expect(list.body.data.some((one) => "design" in one || "body" in one)).toBe(false);

  const put = (more: object) => server.call("PUT", `/campaigns/${id}`, byKey, { ...NEWS, ...more });
  expect(faultsOf(await put({ body: "<p>Other</p>", design: DESIGN }))).toEqual(["body custom"]);
  expect(faultsOf(await put({}))).toEqual(["body required"]);
  const faulty = { ...DESIGN, blocks: [{ id: "1", kind: "marquee" }] };
  expect((await put({ design: faulty })).status).toBe(422);
  const read = async () => (await server.call(campaigns.getCampaign, byKey, { params: { id } })).body;
  expect(await read()).toMatchObject({ body: HTML, design: DESIGN });
  expect((await put({ body: "<p>Other</p>" })).status).toBe(200);
  expect(await read()).toMatchObject({ body: "<p>Other</p>", design: null });
});

test("keeps the preview text of a campaign, which replaces the design's and is copied", async () => {
  const { byKey } = await server.createProject();
  const { body } = await server.call<{ data: Campaign }>("POST", "/campaigns", byKey, {
    ...NEWS,
    body: "<p>Hi</p>",
    previewText: "Soon",
  });
  const { id } = body.data;
  expect(body.data).toMatchObject({ previewText: "Soon", body: "<p>Hi</p>" });
  const copy = await server.call(campaigns.duplicateCampaign, byKey, { params: { id } });
  expect(copy.body).toMatchObject({ previewText: "Soon" });
  const put = (more: object) => server.call<Campaign>("PUT", `/campaigns/${id}`, byKey, { ...NEWS, ...more });
  const preheader = "In the blocks";
  expect((await put({ design: { ...DESIGN, preheader } })).body).toMatchObject({ previewText: preheader });
  expect((await put({ design: DESIGN, previewText: "Mine" })).body).toMatchObject({
    previewText: "Mine",
    design: { preheader: "Mine" },
  });
  expect((await put({ body: "<p>Hi</p>" })).body).toMatchObject({ previewText: null });
  expect(faultsOf(await put({ body: "<p>Hi</p>", previewText: "{{#if}}" }))).toEqual(["previewText custom"]);
});
