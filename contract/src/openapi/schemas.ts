// Converts the contract's Zod schemas to JSON Schemas (2020-12). The items in the list of a noun become a named resource.
import { z } from "zod";
import type { Endpoint } from "../endpoint.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { jsonSchemas } from "../field.ts";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Returns the noun of an endpoint: `contacts` of `contacts.list`. */
export function nounOf(endpoint: Endpoint): string {
  return endpoint.name.split(".")[0] ?? endpoint.name;
}

/** Item names that are not the noun without its `s`. */
const ITEM_NAMES: Readonly<Record<string, string>> = { audit: "auditEntry", mailbox: "message" };

/** Resources by name (`Contact`), which are the items of each endpoint `<noun>.list`. */
export const RESOURCES: ReadonlyMap<string, z.ZodObject> = new Map(
  ENDPOINTS.filter((endpoint) => endpoint.name === `${nounOf(endpoint)}.list`).flatMap((endpoint) => {
    const item = listedItem(endpoint.responses[200] ?? null);
    return item === null ? [] : [[resourceName(nounOf(endpoint)), item] as const];
  }),
);

/** `contacts` → `Contact`. */
export function resourceName(noun: string): string {
  const name = ITEM_NAMES[noun] ?? noun.replace(/s$/, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Returns the item of an array, or of an object with an array in `data`. */
function listedItem(response: z.core.$ZodType | null): z.ZodObject | null {
  const list: unknown = response instanceof z.ZodObject ? response.shape["data"] : response;
  return list instanceof z.ZodArray && list.element instanceof z.ZodObject ? list.element : null;
}

export function resourceReference(name: string): string {
  return `#/components/schemas/${name}`;
}

/** Returns the schema of a request. */
export function inputSchema(schema: z.ZodType): JsonSchema {
  return convert(schema, "input", null);
}

/** Returns the schema of a response; resources are references to the document's components. */
export function outputSchema(schema: z.ZodType): JsonSchema {
  return convert(schema, "output", null);
}

/** Returns the complete schema of a resource. */
export function resourceSchema(resource: z.ZodObject): JsonSchema {
  return convert(resource, "output", resource);
}

function convert(schema: z.ZodType, io: "input" | "output", spelledOut: z.ZodObject | null): JsonSchema {
  const converted: JsonSchema = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const registered = io === "input" ? jsonSchemas.get(zodSchema) : undefined;
      if (registered !== undefined)
        replace(
          jsonSchema,
          "like" in registered
            ? inputSchema(registered.like() as z.ZodType)
            : structuredClone(registered.jsonSchema),
        );
      const reference =
        io === "output" && zodSchema !== spelledOut ? asResource(zodSchema, jsonSchema) : null;
      if (reference !== null) replace(jsonSchema, reference);
      dropNoise(jsonSchema);
    },
  });
  delete converted.$schema;
  return { ...converted };
}

/** Replaces a schema with another one and keeps its description. */
function replace(schema: JsonSchema, by: JsonSchema): void {
  const { description, deprecated } = schema;
  for (const name of Object.keys(schema)) delete schema[name];
  Object.assign(
    schema,
    by,
    description === undefined ? {} : { description },
    deprecated === undefined ? {} : { deprecated },
  );
}

/** Returns a reference for a resource. For an object that extends one, returns the reference and the additional fields. */
function asResource(zodSchema: z.core.$ZodType, jsonSchema: JsonSchema): JsonSchema | null {
  if (!(zodSchema instanceof z.ZodObject)) return null;
  for (const [name, resource] of RESOURCES) {
    const $ref = resourceReference(name);
    if (zodSchema === resource) return { $ref };
    // `extend` keeps the schemas of the fields, so identity distinguishes an extension from a look-alike.
    if (!Object.entries(resource.shape).every(([field, schema]) => zodSchema.shape[field] === schema))
      continue;
    const isAdded = (field: string) => !(field in resource.shape);
    const properties = Object.fromEntries(
      Object.entries(jsonSchema.properties ?? {}).filter(([field]) => isAdded(field)),
    );
    return {
      allOf: [
        { $ref },
        { type: "object", properties, required: (jsonSchema.required ?? []).filter(isAdded) },
      ],
    };
  }
  return null;
}

/** Drops Zod's patterns next to formats and the bounds of safe integers, and allows additional fields in responses. */
function dropNoise(schema: JsonSchema): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  delete schema.propertyNames;
}
