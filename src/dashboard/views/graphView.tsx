// A graph from left to right, or from top to bottom where it is long: what is needed stands before what needs it. Tab leads
// to one node, the arrows from there to the others, Enter does what a click does.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { layeredLayout, type NodeLayers } from '../../base/graphLayout/layers.js';
import { visibleName } from '../../base/visibleText.js';
import { stepInGraph } from '../model/graphSteps.js';
import { LABEL_GAP, RADIUS, routedLayout } from '../model/routedLayout.js';

export interface GraphNode {
  /** For the tooltip and for screen readers. */
  readonly name: string;
  /** Beside the node; empty: none. */
  readonly label: string;
  readonly color: string;
  readonly strong?: boolean;
  /** On the critical path: it and the edges between such nodes stand out. */
  readonly critical?: boolean;
}

interface Props {
  readonly nodes: readonly GraphNode[];
  /** Places in `nodes`. */
  readonly edges: readonly (readonly [number, number])[];
  readonly onNode: (node: number) => void;
  /** What `onNode` does, e.g. `shows the task in the task stream`. */
  readonly action: string;
  /** Whether the strong node takes the focus that the graph has, or that nothing else has. */
  readonly followsFocus?: boolean;
}

const MARGIN = 16;
/** px of a letter. */
const LETTER = 6.8;
const LONGEST_LABEL = 44;
/** Without labels: px between layers. */
const NARROW_LAYER = 60;
const WIDEST_LAYER = 240;
const DENSE_ROW = 10;
const DENSE_RADIUS = 3;
/** A layer with more nodes without labels stands in several columns. */
const MAX_ROWS = 64;

type Edge = readonly [number, number];

/** Where everything stands, px. */
interface Drawing {
  readonly layout: NodeLayers;
  /** Whether layers stand below each other. */
  readonly down: boolean;
  readonly x: (node: number) => number;
  readonly y: (node: number) => number;
  readonly width: number;
  readonly height: number;
  readonly radius: number;
  /** Edge → the pieces of its path; edges may share them. */
  readonly pieces: (edge: number) => readonly string[];
}

/** Layers share the room that there is. */
function unlabelled(layout: NodeLayers, edges: readonly Edge[], room: number): Drawing {
  const { layer, place, sizes } = layout;
  const columnsOf = (size: number) => Math.max(1, Math.ceil(size / MAX_ROWS));
  const taken = sizes.reduce((sum, size) => sum + (columnsOf(size) - 1) * DENSE_ROW, 2 * MARGIN);
  const narrow = Math.max(NARROW_LAYER, Math.min(WIDEST_LAYER, (room - taken) / Math.max(1, sizes.length)));
  const left: number[] = [];
  let width = MARGIN;
  let rows = 0;
  for (const size of sizes) {
    left.push(width);
    width += (columnsOf(size) - 1) * DENSE_ROW + narrow;
    rows = Math.max(rows, Math.min(size, MAX_ROWS));
  }
  const height = MARGIN * 2 + rows * DENSE_ROW;
  const x = (node: number) => left[layer[node]!]! + Math.floor(place[node]! / MAX_ROWS) * DENSE_ROW;
  const y = (node: number) => {
    const size = Math.min(MAX_ROWS, sizes[layer[node]!]!);
    const spread = Math.min(DENSE_ROW * 3, (height - 2 * MARGIN) / Math.max(1, size));
    return height / 2 + ((place[node]! % MAX_ROWS) - (size - 1) / 2) * spread;
  };
  const curve = ([from, to]: Edge) => {
    const [x1, y1, x2, y2] = [x(from) + DENSE_RADIUS, y(from), x(to) - DENSE_RADIUS, y(to)];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  };
  return {
    layout,
    down: false,
    x,
    y,
    width,
    height,
    radius: DENSE_RADIUS,
    pieces: (edge) => [curve(edges[edge]!)],
  };
}

function labelled(labels: readonly string[], edges: readonly Edge[], room: number): Drawing {
  const words = labels.map(({ length }) => length * LETTER);
  const { x, y, routes, segment, ...rest } = routedLayout(words, edges, room);
  return {
    ...rest,
    x: (node) => x[node]!,
    y: (node) => y[node]!,
    radius: RADIUS,
    pieces: (edge) => routes[edge]!.slice(1).map((to, i) => segment(routes[edge]![i]!, to)),
  };
}

/** px inside of an element, as its size changes. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    setWidth(current.clientWidth);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

export function GraphView({ nodes, edges, onNode, action, followsFocus = false }: Props) {
  const strong = nodes.findIndex((node) => node.strong === true);
  const svg = useRef<SVGSVGElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const room = useWidth(scroller);
  const [focused, setFocused] = useState(0);
  const labels = nodes.map(({ label }) => {
    const shown = visibleName(label);
    return shown.length > LONGEST_LABEL ? `${shown.slice(0, LONGEST_LABEL - 1)}…` : shown;
  });
  // Counts of tasks in labels change while a run goes on; what is drawn moves only when a width does.
  const widths = labels.map(({ length }) => length).join();
  const drawing = useMemo(
    () =>
      labels.some((label) => label !== '')
        ? labelled(labels, edges, room)
        : unlabelled(layeredLayout(nodes.length, edges), edges, room),
    [nodes.length, edges.length, nodes[0]?.name, nodes.at(-1)?.name, widths, room],
  );
  const { layout, x, y, width, height, radius } = drawing;
  const active = focused < nodes.length ? focused : 0;
  const focus = (node: number) => {
    setFocused(node);
    svg.current?.querySelectorAll<SVGGElement>('.node')[node]?.focus();
  };
  useEffect(() => {
    if (strong < 0) return;
    setFocused(strong);
    const has = document.activeElement;
    if (followsFocus && (has === document.body || svg.current?.contains(has) === true)) focus(strong);
  }, [nodes[strong]?.name]);
  const onKey = (event: KeyboardEvent, node: number) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = stepInGraph(layout, edges, node, drawing.down ? turned(event.key) : event.key);
    const acts = event.key === 'Enter' || event.key === ' ';
    if (acts) onNode(node);
    else if (to !== undefined) focus(to);
    if (!acts && to === undefined && !event.key.startsWith('Arrow')) return;
    // The page's own keys move the time axis.
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={scroller} class="table-scroll">
      {/* biome-ignore lint/a11y/useSemanticElements: nothing else than an SVG holds nodes of a drawing */}
      <svg
        ref={svg}
        class="graph-view"
        width={width}
        height={height}
        role="group"
        aria-label={`A graph of ${nodes.length} nodes and ${edges.length} edges. Arrows go from node to node, Enter ${action}.`}
      >
        <Edges nodes={nodes} edges={edges} pieces={drawing.pieces} />
        {nodes.map((node, i) => (
          // biome-ignore lint/a11y/useSemanticElements: HTML has no button inside a drawing
          <g
            key={i}
            class={node.critical === true ? 'node critical' : 'node'}
            role="button"
            tabindex={i === active ? 0 : -1}
            aria-label={node.critical === true ? `${node.name}, on the critical path` : node.name}
            onClick={() => onNode(i)}
            onFocus={() => setFocused(i)}
            onKeyDown={(event) => onKey(event, i)}
          >
            <title>{node.name}</title>
            <circle cx={x(i)} cy={y(i)} r={node.strong === true ? radius + 3 : radius} fill={node.color} />
            {labels[i] === '' ? null : (
              <text x={x(i) + radius + LABEL_GAP} y={y(i) + 4}>
                {labels[i]}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Where layers stand below each other, what leads to the next one is below. */
function turned(key: string): string {
  const across: Readonly<Record<string, string>> = {
    ArrowDown: 'ArrowRight',
    ArrowUp: 'ArrowLeft',
    ArrowRight: 'ArrowDown',
    ArrowLeft: 'ArrowUp',
  };
  return across[key] ?? key;
}

type EdgesProps = Pick<Props, 'nodes' | 'edges'> & Pick<Drawing, 'pieces'>;

function Edges({ nodes, edges, pieces }: EdgesProps) {
  const isCritical = (node: number) => nodes[node]?.critical === true;
  const all = new Set(edges.flatMap((_, edge) => pieces(edge)));
  const critical = new Set(
    edges.flatMap(([from, to], edge) => (isCritical(from) && isCritical(to) ? pieces(edge) : [])),
  );
  return (
    <>
      <path
        class="edge"
        style={{ strokeOpacity: Math.min(0.55, Math.max(0.06, 400 / Math.max(1, edges.length))) }}
        d={[...all].join('')}
      />
      <path class="edge critical" d={[...critical].join('')} />
    </>
  );
}
