// Moves the object schemas of an OpenAPI document to named components, so that generated clients have one class for each shape.
import { COMPONENT_NAMES } from "./component-names.ts";
import { mapSubschemas } from "./rewrite-unions.ts";
import { resourceReference, type JsonSchema } from "./schemas.ts";

/** Named schemas, in the order in which the document first uses them. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  /** The shape of each component by name, and the first name of each shape. A shape is JSON with sorted fields. */
  readonly #shapes = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** Stores schemas that already have names, such as `Contact`. Equal objects elsewhere refer to them. */
  define(schemas: ReadonlyMap<string, JsonSchema>): void {
    for (const [name, schema] of schemas) this.#reserve(name, JSON.stringify(schema, sortFields));
    for (const [name, schema] of schemas) this.schemas[name] = this.#nameInside(schema, name);
  }

  /**
   * Returns the schema with a reference in place of each object with fields, and stores these objects. Equal objects share a component unless
   * `COMPONENT_NAMES` separates them.
   *
   * @param name the proposed name, to which objects inside add the names of their fields
   * @throws if two different objects get the same name
   */
  name(schema: JsonSchema, name: string): JsonSchema {
    if (!isObject(schema)) return this.#nameInside(schema, name);
    const { description, deprecated, ...shape } = schema;
    const key = JSON.stringify(shape, sortFields);
    const known = COMPONENT_NAMES.has(name) ? undefined : this.#names.get(key);
    return {
      $ref: resourceReference(known ?? this.#store(key, shape, name)),
      ...(description === undefined ? {} : { description }),
      ...(deprecated === undefined ? {} : { deprecated }),
    };
  }

  #store(key: string, shape: JsonSchema, name: string): string {
    const wrapper = this.#nameWrapper(shape, name);
    const proposed = wrapper?.name ?? name;
    const chosen = COMPONENT_NAMES.get(proposed) ?? proposed;
    if (this.#shapes.get(chosen) === key) return chosen;
    this.#reserve(chosen, key);
    this.schemas[chosen] = wrapper?.schema ?? this.#nameInside(shape, chosen);
    return chosen;
  }

  /** Takes the name before the objects inside are named, so that readers meet an object before its parts. */
  #reserve(name: string, key: string): void {
    if (this.#shapes.has(name))
      throw new Error(`Two schemas are named ${name}. Separate them in component-names.ts.`);
    this.#shapes.set(name, key);
    if (!this.#names.has(key)) this.#names.set(key, name);
    this.schemas[name] = {};
  }

  /** Names a page after its items (`ContactPage`), and an envelope after its data (`CampaignEnvelope`). */
  #nameWrapper(shape: JsonSchema, name: string): { name: string; schema: JsonSchema } | null {
    const { data } = shape.properties ?? {};
    const fields = Object.keys(shape.properties ?? {}).join();
    if (typeof data !== "object" || (fields !== PAGE_FIELDS && fields !== ENVELOPE_FIELDS)) return null;
    const isPage = fields === PAGE_FIELDS;
    const named = this.#nameInside(
      { properties: { data } },
      name.replace(/Result$/, ""),
      isPage ? "Item" : "Result",
    );
    const inner = named.properties?.["data"] as JsonSchema;
    const reference = isPage ? (inner.items as JsonSchema).$ref : inner.$ref;
    const base = reference?.split("/").at(-1) ?? name;
    const properties = { ...shape.properties, data: inner };
    return { name: `${base}${isPage ? "Page" : "Envelope"}`, schema: { ...shape, properties } };
  }

  /** Names the objects inside a schema, but not the schema. */
  #nameInside(schema: JsonSchema, name: string, suffix: string | null = null): JsonSchema {
    const objects = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(isObject);
    return mapSubschemas(schema, (inner, keyword, at) => {
      if (keyword === "properties")
        return this.#nameProperty(inner, `${name}${suffix ?? pascalCase(String(at))}`);
      if (keyword === "items" || keyword === "additionalProperties") return this.name(inner, name);
      // The fields that an object adds to another one belong to both.
      if (keyword === "allOf") return this.#nameInside(inner, name);
      return this.name(inner, objects.length > 1 ? `${name}${Number(at) + 1}` : name);
    });
  }

  /** Items of a list get the singular of its name: `WorkflowStep` for `steps`. */
  #nameProperty(schema: JsonSchema, name: string): JsonSchema {
    const isList = schema.type === "array" || schema.additionalProperties !== undefined;
    return this.name(schema, isList ? singular(name) : name);
  }
}

const PAGE_FIELDS = "data,cursor,hasMore,total";
const ENVELOPE_FIELDS = "success,data";

/** Returns whether a schema describes an object with known fields. */
function isObject(schema: JsonSchema): boolean {
  return Object.keys(schema.properties ?? {}).length > 0 || schema.allOf !== undefined;
}

/** `contacts.bulkDelete` → `ContactsBulkDelete` */
export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** `…Steps` → `…Step`, `…ResultData` → `…ResultItem` */
function singular(name: string): string {
  if (name.endsWith("Data")) return name.replace(/Data$/, "Item");
  return name.replace(/ies$/, "y").replace(/(?<![su])s$/, "");
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
