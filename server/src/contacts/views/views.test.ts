// Saved contact views over HTTP: created, renamed, changed and deleted by members of the project only.
import { expect, test } from "vitest";
import * as contactViews from "@postloft/contract/contact-views.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { newId } from "../../platform/ids.ts";
import { faultsOf, errorOf, useTestServer, type TestProject } from "../../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

const QUERY = {
  search: "@example.com",
  subscribed: true,
  filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
  sort: "email",
  dir: "asc",
  fields: ["plan", "city"],
};
const list = async ({ byKey }: TestProject) =>
  (await server.call(contactViews.listContactViews, byKey)).body.data;
const create = ({ byKey }: TestProject, name: string, query: Record<string, unknown> = QUERY) =>
  server.call(contactViews.createContactView, byKey, { body: { name, query } });
const change = ({ byKey }: TestProject, id: string, body: object) =>
  server.call(contactViews.updateContactView, byKey, { params: { id }, anyBody: body });
const remove = ({ byKey }: TestProject, id: string) =>
  server.call(contactViews.deleteContactView, byKey, { params: { id } });

test("a view is returned as saved, and the list is sorted by name", async () => {
  const project = await server.createProject();
  const { status, body } = await create(project, "  Readers ");
  expect(status).toBe(201);
  expect(body).toMatchObject({ name: "Readers", query: QUERY });
  await create(project, "active", {});
  expect((await list(project)).map(({ name }) => name)).toEqual(["active", "Readers"]);
  expect((await list(project))[1]).toEqual(body);
});

test("a view can be renamed, and its query is replaced as a whole", async () => {
  const project = await server.createProject();
  const { id } = (await create(project, "Readers")).body;
  expect((await change(project, id, { name: "All readers" })).body).toMatchObject({
    name: "All readers",
    query: QUERY,
  });
  expect((await change(project, id, { query: { subscribed: false } })).body).toMatchObject({
    name: "All readers",
    query: { subscribed: false },
  });
  expect((await list(project))[0]?.query).toEqual({ subscribed: false });
});

test("view names are unique in a project, and a rejected name changes nothing", async () => {
  const project = await server.createProject();
  await create(project, "Readers");
  const { id } = (await create(project, "Others", {})).body;
  expect(errorOf(await create(project, "Readers"))).toBe("409 CONFLICT");
  expect(errorOf(await change(project, id, { name: "Readers", query: QUERY }))).toBe("409 CONFLICT");
  expect((await list(project))[0]).toMatchObject({ name: "Others", query: {} });
  expect((await change(project, id, { name: "Others" })).status).toBe(200);
  const both = await Promise.all([create(project, "One name"), create(project, "One name")]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});

test("rejects views above the limit of a project", async () => {
  const project = await server.createProject();
  await server.rows(
    `insert into contact_views (project_id, id, name, query)
     select $1, gen_random_uuid(), 'View ' || n, '{}' from generate_series(1, $2) n`,
    project.id,
    LIMITS.contactViews.value - 1,
  );
  expect((await create(project, "The last")).status).toBe(201);
  expect(errorOf(await create(project, "One too many"))).toBe("409 CONFLICT");
});

test("an invalid view returns an error on its field", async () => {
  const project = await server.createProject();
  const fields = Array.from({ length: LIMITS.viewFields.value + 1 }, (_unused, at) => `f${at}`);
  const refused = await create(project, "", { subscribed: "yes", segmentId: "x", sort: "city", fields });
  expect(faultsOf(refused).map((fault) => fault.split(" ")[0])).toEqual(
    expect.arrayContaining(["name", "query.subscribed", "query.segmentId", "query.sort", "query.fields"]),
  );
});

test("rejects a view with an unknown segment", async () => {
  const project = await server.createProject();
  const id = newId();
  expect(errorOf(await create(project, "Members", { segmentId: id }))).toBe("404 SEGMENT_NOT_FOUND");
  const filters = {
    operator: "AND",
    conditions: [{ field: `segment.${id}`, operator: "notMemberOfSegment" }],
  };
  expect(faultsOf(await create(project, "Others", { filters }))).toEqual(["query.filters custom"]);
  expect(await list(project)).toEqual([]);
});

test("a deleted view is gone, and views of other projects are not accessible", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const { id } = (await create(project, "Readers")).body;
  for (const response of [await change(other, id, { name: "Mine" }), await remove(other, id)])
    expect(errorOf(response)).toBe("404 VIEW_NOT_FOUND");
  expect(await list(other)).toEqual([]);
  expect((await remove(project, id)).status).toBe(204);
  for (const gone of [id, "no-id"]) expect(errorOf(await remove(project, gone))).toBe("404 VIEW_NOT_FOUND");
});
