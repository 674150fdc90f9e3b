// Places the steps of a workflow for the canvas: branches side by side, and the step where they join below all of them. Pure.
import type { Plan, Way } from "./plan.ts";

export const STEP_WIDTH = 252;
export const STEP_HEIGHT = 96;
export const SLOT_WIDTH = 150;
export const SLOT_HEIGHT = 32;
/** From a step to the next one; the slot of the way is in between. */
const ROW_GAP = 76;
const COLUMN_GAP = 36;
const SLOT_OFFSET = 38;
/** Distance of a line's last bend from the step that it leads to. */
const BEND = 18;
const RADIUS = 8;

interface Point {
  x: number;
  y: number;
}

/** `x` is the center, `y` the top. */
export interface PlacedStep extends Point {
  id: string;
}

/** The place of a way's button and label; `x` and `y` are its center. */
export interface Slot extends Point {
  way: Way;
}

/** The line of a way from its step to its slot, or from there to the next step, as an SVG path. */
export interface Line {
  key: string;
  fromStepId: string;
  way: Way;
  isOnward: boolean;
  path: string;
}

export interface Layout {
  steps: PlacedStep[];
  slots: Slot[];
  lines: Line[];
  width: number;
  height: number;
}

/** A part of the layout, relative to its own top left corner. */
interface Block {
  width: number;
  height: number;
  steps: PlacedStep[];
  slots: Slot[];
}

const EMPTY: Block = { width: 0, height: 0, steps: [], slots: [] };

export function layoutOf(plan: Plan): Layout {
  const whole = row(plan.roots.map((id) => blockOf(id, plan)));
  return { ...whole, lines: linesOf(whole) };
}

function movedBy({ width, height, steps, slots }: Block, x: number, y: number): Block {
  return {
    width,
    height,
    steps: steps.map((one) => ({ ...one, x: one.x + x, y: one.y + y })),
    slots: slots.map((one) => ({ ...one, x: one.x + x, y: one.y + y })),
  };
}

function row(blocks: readonly Block[]): Block {
  return blocks.reduce<Block>((before, block) => {
    const x = before.width === 0 ? 0 : before.width + COLUMN_GAP;
    const moved = movedBy(block, x, 0);
    return {
      width: x + block.width,
      height: Math.max(before.height, block.height),
      steps: [...before.steps, ...moved.steps],
      slots: [...before.slots, ...moved.slots],
    };
  }, EMPTY);
}

/** Returns the block of a step: the step, its ways as columns, and below them the steps in which they join. All are centered. */
function blockOf(id: string, plan: Plan): Block {
  const ways = plan.ways.get(id) ?? [];
  const columns = ways.map((way) => columnOf(way, plan));
  const parts = [row(columns), ...(plan.joins.get(id) ?? []).map((join) => blockOf(join, plan))];
  const width = Math.max(STEP_WIDTH, ...parts.map((part) => part.width));
  const block: Block = {
    width,
    height: STEP_HEIGHT,
    steps: [{ id, x: width / 2, y: 0 }],
    slots: [],
  };
  for (const [at, part] of parts.entries()) {
    const y = block.height + (at === 0 ? 0 : ROW_GAP / 2);
    const moved = movedBy(part, (width - part.width) / 2, y);
    block.steps.push(...moved.steps);
    block.slots.push(...moved.slots);
    block.height = part.height === 0 ? block.height : y + part.height;
  }
  return block;
}

/** Returns the column of a way: its slot, and the step that only this way leads to. */
function columnOf(way: Way, plan: Plan): Block {
  const next = way.kind === "branch" && way.toStepId !== null ? blockOf(way.toStepId, plan) : EMPTY;
  const width = Math.max(SLOT_WIDTH, next.width);
  const moved = movedBy(next, (width - next.width) / 2, ROW_GAP);
  return {
    width,
    height: ROW_GAP + next.height,
    steps: moved.steps,
    slots: [{ way, x: width / 2, y: SLOT_OFFSET }, ...moved.slots],
  };
}

function linesOf({ steps, slots }: Block): Line[] {
  const places = new Map(steps.map((step) => [step.id, step]));
  return slots.flatMap(({ way, ...slot }): Line[] => {
    const from = places.get(way.fromStepId);
    if (from === undefined) return [];
    const start = { x: from.x, y: from.y + STEP_HEIGHT };
    const line = (isOnward: boolean, points: Point[]): Line => ({
      key: `${way.key} ${isOnward ? "onward" : "out"}`,
      fromStepId: way.fromStepId,
      way,
      isOnward,
      path: roundedPath(points),
    });
    const out = line(false, [start, ...bent(start, slot, start.y + BEND)]);
    const to = places.get(way.toStepId ?? "");
    if (to === undefined) return [out];
    if (way.kind !== "loop") return [out, line(true, [slot, ...bent(slot, to, to.y - BEND)])];
    const side = slot.x + STEP_WIDTH / 2 + COLUMN_GAP / 2;
    const turn = slot.y + SLOT_HEIGHT / 2 + BEND / 2;
    const end = { x: to.x + STEP_WIDTH / 2, y: to.y + STEP_HEIGHT / 2 };
    const back = [slot, { x: slot.x, y: turn }, { x: side, y: turn }, { x: side, y: end.y }, end];
    return [out, line(true, back)];
  });
}

/** Returns the points of a line that goes down, at `y` to the side, and down again. */
function bent(from: Point, to: Point, y: number): Point[] {
  const end = { x: to.x, y: to.y };
  return from.x === to.x ? [end] : [{ x: from.x, y }, { x: to.x, y }, end];
}

/** Returns an SVG path with round corners. */
function roundedPath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const parts = rest.map((point, at) => {
    const before = points[at] ?? point;
    const after = rest[at + 1];
    if (after === undefined) return `L ${point.x} ${point.y}`;
    const near = towards(point, before);
    const far = towards(point, after);
    return `L ${near.x} ${near.y} Q ${point.x} ${point.y} ${far.x} ${far.y}`;
  });
  return [`M ${first.x} ${first.y}`, ...parts].join(" ");
}

/** Returns the point up to one radius, or half the way, from a corner. */
function towards(corner: Point, other: Point): Point {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y);
  const share = length === 0 ? 0 : Math.min(RADIUS, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * share, y: corner.y + (other.y - corner.y) * share };
}
