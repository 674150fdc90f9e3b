// Defines the order in which the server is read, and checks the import rules that follow from it.
import { posix } from "node:path";
import { importsOf, type Import, type SourceFile } from "./source.ts";
import { isTest, type Finding, type Rule } from "./tree.ts";

/** The folders below server/src. Code imports only its own folder and earlier ones, so there are no cycles. */
export const READING_ORDER = [
  "platform",
  "message",
  "rendering",
  "transports",
  "reactions",
  "emails",
  "events",
  "users",
  "audit",
  "projects",
  "requests",
  "billing",
  "domains",
  "own-transports",
  "contacts",
  "suppressions",
  "segments",
  "templates",
  "webhooks",
  "link-domains",
  "stream",
  "campaigns",
  "uploads",
  "workflows",
  "received",
  "deliveries",
  "v1",
  "smtp-submission",
  "reports",
  "instance",
  "backup",
] as const;

/** Orders the contents of large folders. An entry is a subfolder, a file, or `.` for the other files. There are no exceptions. */
export const INNER_ORDERS: Readonly<Record<string, readonly string[]>> = {
  emails: [
    "rows",
    "doubt",
    "results",
    "outbox",
    "lease",
    "submission",
    "throttling",
    "returned",
    "platform-email",
    "sending",
    "reading",
    "retention",
  ],
  users: [
    "place.ts",
    "mail-texts",
    "page-texts",
    ".",
    "second-factor",
    "passkeys",
    "oauth",
    "account-routes.ts",
    "routes.ts",
  ],
  contacts: [
    ".",
    "consent-chain",
    "fields",
    "views",
    "bulk",
    "import",
    "pages",
    "rendering-data.ts",
    "jobs.ts",
    "routes.ts",
  ],
};

/** The files directly below server/src. They assemble the program and may import anything. */
const ROOT_FILES = [
  "main.ts",
  "api.ts",
  "worker.ts",
  "smtp.ts",
  "admin.ts",
  "backup.ts",
  "doctor.ts",
] as const;

const ARCHITECTURE = "ARCHITECTURE.md";
const SERVER = "server/src/";
const CONTRACT = "contract/src/";
const CONTRACT_PACKAGE = "@postloft/contract/";
/** Packages that are installed or bundled separately, so relative imports never leave them. */
const PARTS = ["server/", "contract/", "dashboard/"];
/** Private files and the only outside file that may import them. The file that creates jobs is exempt. */
const PRIVATE_FILES: { name: RegExp; role: string; reader?: string; except?: string }[] = [
  { name: /^(.+-)?queries\.ts$/, role: "queries" },
  { name: /^(.+-)?routes\.ts$/, role: "routes", reader: `${SERVER}api.ts` },
  {
    name: /^(.+-)?jobs\.ts$/,
    role: "jobs",
    reader: `${SERVER}worker.ts`,
    except: `${SERVER}platform/background/jobs.ts`,
  },
];

/** Tests may import anything, and so may bench, e2e and tools, which are separate programs. */
export const readingOrder: Rule = {
  name: "server code imports only its own folder and earlier ones",
  check: ({ sources }) =>
    sources
      .filter(({ path }) => path.startsWith(SERVER) && !isTest(path))
      .flatMap((file) => [...faultsOfPlace(file.path), ...findingsOf(file, faultOfOrder)]),
};

export const readingOrderShown: Rule = {
  name: `${ARCHITECTURE} shows the checked reading order`,
  check: ({ texts }) => {
    const text = texts.get(ARCHITECTURE);
    const orders = [READING_ORDER, ...Object.values(INNER_ORDERS)].map((places) => places.join(" → "));
    return orders
      .filter((order) => text !== undefined && !text.includes(order))
      .map((order) => ({
        path: ARCHITECTURE,
        message: `does not contain "${order}". Show the current order.`,
      }));
  },
};

export const contractImports: Rule = {
  name: "the contract imports zod and itself, nothing else",
  check: ({ sources }) =>
    sources
      .filter(({ path }) => path.startsWith(CONTRACT) && !isTest(path))
      .flatMap((file) =>
        findingsOf(file, (target) =>
          target === "zod" || target.startsWith("zod/") || target.startsWith(CONTRACT)
            ? undefined
            : `imports ${target}. The contract also runs in a browser: pass the value in, or move the code to the server.`,
        ),
      ),
};

export const importsStayInside: Rule = {
  name: "no relative import leaves its package, and no code imports a test",
  check: ({ sources }) =>
    sources.filter(({ path }) => !isTest(path)).flatMap((file) => findingsOf(file, faultOfLeaving)),
};

export const privateFiles: Rule = {
  name: "queries, routes and jobs are imported only from their own folder",
  check: ({ sources }) =>
    sources.filter(({ path }) => !isTest(path)).flatMap((file) => findingsOf(file, faultOfPrivacy)),
};

/** Returns the folder below server/src that contains a path, or undefined outside and for root files. */
export function folderOf(path: string): string | undefined {
  const parts = path.startsWith(SERVER) ? path.slice(SERVER.length).split("/") : [];
  return parts.length > 1 ? parts[0] : undefined;
}

/** Returns the target of an import: a path from the root for our code, otherwise the package name. */
function targetOf(path: string, specifier: string): string {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(path), specifier);
  if (specifier.startsWith(CONTRACT_PACKAGE)) return CONTRACT + specifier.slice(CONTRACT_PACKAGE.length);
  return specifier;
}

function findingsOf(
  file: SourceFile,
  faultOf: (target: string, path: string, specifier: string) => string | undefined,
): Finding[] {
  return importsOf(file).flatMap(({ specifier, line }: Import) => {
    const message = faultOf(targetOf(file.path, specifier), file.path, specifier);
    return message === undefined ? [] : [{ path: file.path, line, message }];
  });
}

function faultsOfPlace(path: string): Finding[] {
  const folder = folderOf(path);
  if (folder === undefined) {
    if (ROOT_FILES.some((name) => path === SERVER + name)) return [];
    const message = `is directly below server/src, where only ${ROOT_FILES.join(", ")} belong. Move it into the folder of its subject.`;
    return [{ path, message }];
  }
  const inner = INNER_ORDERS[folder];
  if (inner !== undefined && !inner.includes(placeOf(path, inner))) {
    const message = `is at "${placeOf(path, inner)}", which INNER_ORDERS.${folder} (tools/tidy/reading-order.ts) does not list. Add it there.`;
    return [{ path, message }];
  }
  if (rankOf(folder) !== -1) return [];
  return [
    {
      path,
      message: `is in "${folder}", which READING_ORDER (tools/tidy/reading-order.ts) does not list. Add it there.`,
    },
  ];
}

function faultOfOrder(target: string, path: string): string | undefined {
  const own = folderOf(path);
  if (own === undefined || !target.startsWith(SERVER)) return undefined;
  const other = folderOf(target);
  if (other === undefined) {
    return `imports ${target}. Root files import the folders, never the other way. Pass the dependency in from main.ts.`;
  }
  if (other === own) return faultOfInnerOrder(target, path, own);
  if (rankOf(other) <= rankOf(own)) return undefined;
  return `imports ${target}, but "${other}" comes after "${own}" in the reading order. Pass it in from main.ts, send an event, or move the shared part to an earlier folder.`;
}

function faultOfInnerOrder(target: string, path: string, folder: string): string | undefined {
  const order = INNER_ORDERS[folder];
  if (order === undefined) return undefined;
  const [own, other] = [placeOf(path, order), placeOf(target, order)];
  if (order.indexOf(other) <= order.indexOf(own)) return undefined;
  return `imports ${target}, but "${other}" comes after "${own}" inside ${folder}/. Pass it in, or move the shared part to an earlier entry.`;
}

/** Returns the entry of a folder's order that a path belongs to, whether or not it is listed. */
function placeOf(path: string, order: readonly string[]): string {
  const [, first = "", ...rest] = path.slice(SERVER.length).split("/");
  if (rest.length > 0) return first;
  return order.includes(first) ? first : ".";
}

function faultOfLeaving(target: string, path: string, specifier: string): string | undefined {
  const part = PARTS.find((folder) => path.startsWith(folder));
  if (part === undefined || !specifier.startsWith(".")) return undefined;
  if (!target.startsWith(part)) {
    return `imports ${target} from another package. Import @postloft/contract/… by its name; packages share nothing else.`;
  }
  return isTest(target)
    ? `imports ${target}, which is test support. Move the shared code into a product file.`
    : undefined;
}

function faultOfPrivacy(target: string, path: string): string | undefined {
  const owner = folderOf(target);
  if (owner === undefined || owner === folderOf(path)) return undefined;
  const hidden = PRIVATE_FILES.find(
    ({ name, except }) => name.test(posix.basename(target)) && target !== except,
  );
  if (hidden === undefined || path === hidden.reader) return undefined;
  const way = hidden.reader === undefined ? "" : `, and of ${hidden.reader}`;
  return `imports ${target}; ${hidden.role} are private to server/src/${owner}${way}. Call a function of that folder instead, or add one.`;
}

/** Returns the position of a folder in the reading order, or -1. */
export function rankOf(folder: string): number {
  return READING_ORDER.findIndex((name) => name === folder);
}
