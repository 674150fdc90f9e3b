// Reads a page as a screen reader does, from the browser's accessibility tree: headings in order, landmarks and control names.
import type { Page } from "playwright-core";

interface Node {
  nodeId: string;
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  properties?: Array<{ name: string; value: { value: unknown } }>;
  childIds?: string[];
}

/** Controls that need an accessible name. */
const CONTROLS = new Set(
  "button link textbox searchbox combobox checkbox radio switch menuitem option tab slider spinbutton".split(
    " ",
  ),
);

/** One announced element and its context. */
interface Spoken {
  role: string;
  name: string;
  level: number;
  within: readonly string[];
}

/** Returns everything a screen reader announces, in order. */
export async function readAccessibilityTree(page: Page): Promise<Spoken[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as unknown as { nodes: Node[] };
  await session.detach();
  const known = new Map(nodes.map((node) => [node.nodeId, node]));
  const read = (node: Node, within: readonly string[]): Spoken[] => {
    const role = node.ignored ? "" : (node.role?.value ?? "");
    const level = node.properties?.find(({ name }) => name === "level")?.value.value;
    const inner = role === "" ? within : [...within, role];
    const below = (node.childIds ?? []).flatMap((id) => {
      const child = known.get(id);
      return child === undefined ? [] : read(child, inner);
    });
    return role === ""
      ? below
      : [
          { role, name: node.name?.value ?? "", level: typeof level === "number" ? level : 0, within },
          ...below,
        ];
  };
  const [root] = nodes;
  return root === undefined ? [] : read(root, []);
}

/** Returns problems of the reading order as sentences. */
export function readingOrderFaults(spoken: readonly Spoken[], isOutside: boolean): string[] {
  const headings = spoken.filter(({ role }) => role === "heading");
  const count = (role: string) => spoken.filter((one) => one.role === role).length;
  const jumps = headings.filter(({ level }, at) => level > (headings[at - 1]?.level ?? 0) + 1);
  return [
    ...(count("main") === 1 ? [] : [`${count("main")} main landmarks`]),
    ...(isOutside || count("navigation") > 0 ? [] : ["no navigation"]),
    ...(headings.filter(({ level }) => level === 1).length === 1
      ? []
      : ["not exactly one first-level heading"]),
    ...headings.filter(({ within }) => !within.includes("main")).map(({ name }) => `outside main: ${name}`),
    ...jumps.map(({ name, level }) => `a level is skipped before ${level}: ${name}`),
    ...headings.filter(({ name }) => name.trim() === "").map(() => "an empty heading"),
    ...spoken
      .filter(({ role, name }) => CONTROLS.has(role) && name.trim() === "")
      .map(({ role, within }) => `a ${role} without a name, in ${within.slice(-3).join(" > ")}`),
  ];
}
