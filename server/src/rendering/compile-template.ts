// Compiles a checked template tree into a render function, using Handlebars with a small set of our own helpers.

import Handlebars from "handlebars";
import { COMPARISONS } from "./comparisons.ts";
import { LINK_HELPER, type LinkSlots } from "./link-slots.ts";
import {
  COMPARE_HELPER,
  FALLBACK_HELPER,
  PRINT_HELPER,
  PRINT_LIST_HELPER,
  PRINT_UNESCAPED_HELPER,
  WORD_HELPER,
} from "./helper-names.ts";

declare global {
  namespace Handlebars {
    let JavaScriptCompiler: HandlebarsCompilerClass;
  }
}

interface HandlebarsCompiler {
  compiler: HandlebarsCompilerClass;
  matchExistingProgram(): unknown;
}

type HandlebarsCompilerClass = new () => HandlebarsCompiler;

/**
 * Renders variables (plain JSON data) to text. `data` is passed to the helpers. Throws only if a hostile size makes the engine throw, or if a
 * given helper throws.
 */
export type Template = (variables: Record<string, unknown>, data?: object) => string;

export interface CompileOptions {
  /** Escapes `{{x}}` for HTML; otherwise nothing is escaped. */
  escape: boolean;
  /** Renders an array as lines with a dash each, for text parts. */
  listsAsLines?: boolean;
  /** Applied to the output of `{{{x}}}`. */
  mapUnescaped?: (text: string) => string;
  /** Links and a pixel to insert at the slots of the tree. */
  slots?: LinkSlots | null;
  /** Replace the helpers of the same name. */
  helpers?: Readonly<Record<string, Handlebars.HelperDelegate>>;
}

/** Maximum depth of nested arrays that are printed; deeper ones print nothing. */
const PRINTED_ARRAY_DEPTH_MAX = 20;

/** Compiles a tree made by `parseTemplate`. Takes milliseconds and consumes the tree. */
export function compileTemplate(program: hbs.AST.Program, options: CompileOptions): Template {
  const render = environment.compile<Record<string, unknown>>(program, {
    noEscape: !options.escape,
    // Only these names are ever called; all other names are looked up in the variables.
    knownHelpersOnly: true,
    knownHelpers: {
      [COMPARE_HELPER]: true,
      [PRINT_HELPER]: true,
      [PRINT_LIST_HELPER]: true,
      [WORD_HELPER]: true,
      [PRINT_UNESCAPED_HELPER]: true,
      [FALLBACK_HELPER]: true,
      [LINK_HELPER]: true,
      log: false,
      helperMissing: false,
      blockHelperMissing: false,
    },
  });
  const { mapUnescaped, slots = null } = options;
  const runtime = {
    allowProtoPropertiesByDefault: false,
    allowProtoMethodsByDefault: false,
    helpers: {
      ...slots?.helpers,
      [PRINT_LIST_HELPER]: listPrinter(options),
      ...(mapUnescaped === undefined
        ? {}
        : { [PRINT_UNESCAPED_HELPER]: (value: unknown) => mapUnescaped(printed(value)) }),
      ...options.helpers,
    },
  };
  // Handlebars compiles on the first call, so this call moves the cost from the first email to compilation.
  render({}, runtime);
  if (slots === null)
    return (variables, data) => render(variables, data === undefined ? runtime : { ...runtime, data });
  return (variables) => render(variables, { ...runtime, data: slots.data() });
}

const environment = createEnvironment();

function createEnvironment(): typeof Handlebars {
  const handlebars = Handlebars.create();
  handlebars.unregisterHelper("log");
  handlebars.unregisterDecorator("inline");
  handlebars.registerHelper(PRINT_HELPER, (value: unknown) => printed(value));
  handlebars.registerHelper(PRINT_UNESCAPED_HELPER, (value: unknown) => printed(value));
  handlebars.registerHelper(FALLBACK_HELPER, firstPresent);
  handlebars.registerHelper(WORD_HELPER, (value: unknown, word: string) =>
    value === undefined ? word : value,
  );
  // Handlebars appends its options object.
  handlebars.registerHelper(COMPARE_HELPER, (name: string, ...values: unknown[]) =>
    COMPARISONS.get(name)?.run(values.slice(0, -1)),
  );
  handlebars.registerHelper("lookup", lookUp);

  // Handlebars shares the code of equal blocks by comparing every block with every other one. That takes seconds for a few hundred nested
  // blocks.
  class LinearCompiler extends handlebars.JavaScriptCompiler {
    override matchExistingProgram(): undefined {
      return undefined;
    }
  }
  LinearCompiler.prototype.compiler = LinearCompiler;
  handlebars.JavaScriptCompiler = LinearCompiler;
  return handlebars;
}

/** Prints an array as list items in HTML and as lines in text generated from HTML. */
function listPrinter({ escape, listsAsLines = false }: CompileOptions) {
  return (value: unknown) => {
    if (!Array.isArray(value) || (!escape && !listsAsLines)) return printed(value);
    const items = value.map((item) => printed(item));
    if (!escape) return items.map((item) => `- ${item}`).join("\n");
    const html = items.map((item) => `<li>${Handlebars.escapeExpression(item)}</li>`).join("");
    return new Handlebars.SafeString(html);
  };
}

/** Returns a helper of Handlebars itself. */
export function builtInHelper(name: "each" | "blockHelperMissing"): Handlebars.HelperDelegate {
  const helper = environment.helpers[name];
  if (helper === undefined) throw new Error(`Handlebars has no helper ${name}.`);
  return helper;
}

/** Prints a value like Handlebars does, but without calling anything on the value. */
export function printed(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) {
    if (depth === PRINTED_ARRAY_DEPTH_MAX) return "";
    return value.map((item) => printed(item, depth + 1)).join(",");
  }
  return typeof value === "object" && value !== null ? "[object Object]" : "";
}

/** `a ?? b ?? c`: returns the first value that is neither missing nor null. Handlebars appends its options object. */
function firstPresent(...values: unknown[]): unknown {
  return values.slice(0, -1).find((value) => value !== undefined && value !== null);
}

/** `{{lookup object key}}`: reads own properties only, and ignores keys that are neither text nor numbers. */
function lookUp(object: unknown, key: unknown): unknown {
  if (object === null || object === undefined) return undefined;
  if (typeof key !== "string" && typeof key !== "number") return undefined;
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}
