// Shows the steps of a workflow as a canvas to move and zoom. Loaded on demand, because of its library.
import {
  Handle,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from "@xyflow/react";
// oxlint-disable-next-line import/no-unassigned-import -- a stylesheet has no value
import "@xyflow/react/dist/base.css";
import { Maximize, Minus, Plus } from "lucide-react";
import { memo, useEffect, useMemo, useRef, type ReactNode } from "react";
import { t } from "../../../text/t.ts";
import { layoutOf, SLOT_HEIGHT, SLOT_WIDTH, STEP_HEIGHT, STEP_WIDTH, type Layout } from "./layout.ts";
import type { Plan, Way } from "./plan.ts";

interface CanvasProps {
  plan: Plan;
  /** The selected step, which stays in view. */
  selectedId: string | undefined;
  /** The keys of the ways that a trial took; undefined without a trial. */
  takenWays?: ReadonlySet<string> | undefined;
  renderStep: (id: string) => ReactNode;
  renderWay: (way: Way) => ReactNode;
}

type StepNode = Node<{ content: ReactNode }, "step">;
type SlotNode = Node<{ content: ReactNode }, "slot">;
type LineEdge = Edge<{ path: string; isDashed: boolean; isTaken: boolean | undefined }, "line">;

const LEAST_ZOOM = 0.15;
const MOST_ZOOM = 1.5;
/** The first view shows texts at a readable size. */
const LEAST_FIRST_ZOOM = 0.85;
const EDGE_PX = 28;
/** The library ignores the pointer on nodes that it can neither select nor drag, but these contain buttons. */
const CLICKABLE = { pointerEvents: "all" } as const;

const HANDLES = (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} className="opacity-0" />
    <Handle type="source" position={Position.Bottom} isConnectable={false} className="opacity-0" />
  </>
);

const NODE_TYPES = {
  step: memo(({ data: { content } }: NodeProps<StepNode>) => (
    <>
      {HANDLES}
      {content}
    </>
  )),
  slot: memo(({ data: { content } }: NodeProps<SlotNode>) => (
    <div className="flex size-full items-center justify-center">
      {HANDLES}
      {content}
    </div>
  )),
};
const LINES = { plain: "stroke-line-strong", taken: "stroke-accent", other: "stroke-line" };
const EDGE_TYPES = {
  line: memo(({ data }: EdgeProps<LineEdge>) => (
    <path
      d={data?.path}
      fill="none"
      strokeWidth={data?.isTaken === true ? 2.5 : 1.5}
      className={LINES[data?.isTaken === undefined ? "plain" : data.isTaken ? "taken" : "other"]}
      strokeDasharray={data?.isDashed === true ? "4 4" : undefined}
    />
  )),
};

export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ plan, selectedId, takenWays, renderStep, renderWay }: CanvasProps) {
  const layout = useMemo(() => layoutOf(plan), [plan]);
  const edges = useMemo(() => edgesOf(layout, takenWays), [layout, takenWays]);
  const nodes = nodesOf(layout, renderStep, renderWay);
  useView(layout, selectedId);
  return (
    <ReactFlow
      aria-label={t("Canvas of the steps")}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      minZoom={LEAST_ZOOM}
      maxZoom={MOST_ZOOM}
      panOnScroll
      zoomOnDoubleClick={false}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      disableKeyboardA11y
      proOptions={{ hideAttribution: true }}
    >
      <Zoom layout={layout} />
    </ReactFlow>
  );
}

/** Returns the nodes in reading order: each step, its ways, and what follows. */
function nodesOf(
  { steps, slots }: Layout,
  renderStep: CanvasProps["renderStep"],
  renderWay: CanvasProps["renderWay"],
): Array<StepNode | SlotNode> {
  return [
    ...steps.map(({ id, x, y }): StepNode => ({
      id,
      type: "step",
      position: { x: x - STEP_WIDTH / 2, y },
      width: STEP_WIDTH,
      height: STEP_HEIGHT,
      style: CLICKABLE,
      data: { content: renderStep(id) },
    })),
    ...slots.map(({ way, x, y }): SlotNode => ({
      id: way.key,
      type: "slot",
      position: { x: x - SLOT_WIDTH / 2, y: y - SLOT_HEIGHT / 2 },
      width: SLOT_WIDTH,
      height: SLOT_HEIGHT,
      style: CLICKABLE,
      // Otherwise a press on the button begins to move the canvas, which closes the menu.
      className: "nopan",
      data: { content: renderWay(way) },
    })),
  ].toSorted((one, other) => one.position.y - other.position.y || one.position.x - other.position.x);
}

function edgesOf({ lines }: Layout, takenWays: CanvasProps["takenWays"]): LineEdge[] {
  const edges = lines.map(({ key, fromStepId, way, isOnward, path }): LineEdge => ({
    id: key,
    type: "line",
    source: isOnward ? way.key : fromStepId,
    target: isOnward ? (way.toStepId ?? way.key) : way.key,
    data: { path, isDashed: way.kind === "loop" || way.isImplied, isTaken: takenWays?.has(way.key) },
  }));
  // Taken lines are drawn last, so that no other line covers a part of the path.
  return edges.toSorted((one, other) => rankOf(one) - rankOf(other));
}

const rankOf = ({ data }: LineEdge) => (data?.isTaken === true ? 1 : 0);

/** Shows the beginning first, and moves to the selected step if it is out of view. */
function useView(layout: Layout, selectedId: string | undefined): void {
  const { setViewport, getViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const shownWidth = useRef(0);
  useEffect(() => {
    if (width === 0 || height === 0) return;
    const before = shownWidth.current;
    shownWidth.current = width;
    const view = getViewport();
    // The middle stays in the middle when the panel opens and takes a part of the width.
    const moved = { ...view, x: view.x + (width - before) / 2 };
    void setViewport(before === 0 ? firstView(layout, { width, height }) : moved);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a changed layout must not move the view
  }, [width, height]);
  useEffect(() => {
    const place = layout.steps.find(({ id }) => id === selectedId);
    if (place === undefined || width === 0) return;
    const { x, y, zoom } = getViewport();
    const [left, top] = [(place.x - STEP_WIDTH / 2) * zoom + x, place.y * zoom + y];
    const isInView =
      left >= 0 && top >= 0 && left + STEP_WIDTH * zoom <= width && top + STEP_HEIGHT * zoom <= height;
    if (isInView) return;
    const middle = place.y + STEP_HEIGHT / 2;
    void setViewport({ x: width / 2 - place.x * zoom, y: height / 2 - middle * zoom, zoom });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a new selection moves the view
  }, [selectedId, width, height]);
}

function firstView(layout: Layout, { width, height }: { width: number; height: number }) {
  const fitting = Math.min((width - 2 * EDGE_PX) / layout.width, (height - 2 * EDGE_PX) / layout.height);
  const zoom = Math.min(1, Math.max(LEAST_FIRST_ZOOM, fitting));
  const isWide = layout.width * zoom > width;
  const center = isWide ? (layout.steps[0]?.x ?? 0) : layout.width / 2;
  return { x: width / 2 - center * zoom, y: EDGE_PX, zoom };
}

function Zoom({ layout }: { layout: Layout }) {
  const { zoomIn, zoomOut, setViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const buttons = [
    { label: t("Zoom in"), icon: Plus, run: () => void zoomIn() },
    { label: t("Zoom out"), icon: Minus, run: () => void zoomOut() },
    {
      label: t("Back to the start"),
      icon: Maximize,
      run: () => void setViewport(firstView(layout, { width, height })),
    },
  ];
  return (
    <Panel position="bottom-left" className="m-3! flex gap-1 rounded-md border border-line bg-raised p-0.5">
      {buttons.map(({ label, icon: Icon, run }) => (
        <button
          key={label}
          type="button"
          aria-label={label}
          title={label}
          onClick={run}
          className="grid size-7 place-items-center rounded-sm text-soft hover:bg-hover hover:text-ink"
        >
          <Icon size={14} aria-hidden />
        </button>
      ))}
    </Panel>
  );
}
