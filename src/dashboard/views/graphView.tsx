// Draws a graph from left to right, or from top to bottom if it is long. A node stands after the nodes that it needs.
// Tab moves the focus to a node, arrow keys move it to other nodes, and Enter acts like a click.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Edge, layeredLayout, type NodeLayers } from '../../base/graphLayout/layers.js';
import { visibleName } from '../../base/visibleText.js';
import { countText } from '../../base/words.js';
import { stepInGraph } from '../model/graphSteps.js';
import { LABEL_GAP, RADIUS, type RoutedLayout, routedLayout } from '../model/routedLayout.js';

export interface GraphNode {
  /** Text of the tooltip, and for screen readers. */
  readonly name: string;
  /** Text beside the node; empty for none. */
  readonly label: string;
  readonly color: string;
  readonly strong?: boolean;
  /** Whether the node is on the critical path. Such nodes and the edges between them are emphasised. */
  readonly critical?: boolean;
}

interface Props {
  readonly nodes: readonly GraphNode[];
  /** Pairs of indices into `nodes`. */
  readonly edges: readonly Edge[];
  readonly onNode: (node: number) => void;
  /** Effect of `onNode` for screen readers, e.g. `shows the task in the task stream`. */
  readonly action: string;
  /** Whether the strong node receives the keyboard focus if another node or no element has it. */
  readonly followsFocus?: boolean;
}

const MARGIN = 16;
/** Width of a letter, px. */
const LETTER = 6.8;
const LONGEST_LABEL = 44;
/** Distances between layers without labels, px. */
const NARROW_LAYER = 60;
const WIDEST_LAYER = 240;
const DENSE_ROW = 10;
const DENSE_RADIUS = 3;
/** Nodes without labels in a column. A layer with more nodes has several columns. */
const MAX_ROWS = 64;

/** Positions of nodes and edges, px. */
interface Drawing extends Pick<RoutedLayout, 'layout' | 'down' | 'width' | 'height'> {
  readonly x: (node: number) => number;
  readonly y: (node: number) => number;
  readonly radius: number;
  /** Returns the pieces of an edge's path. Edges can share pieces. */
  readonly pieces: (edge: number) => readonly string[];
}

/** Lays out nodes without labels. Layers share the available width. */
function unlabelled(layout: NodeLayers, edges: readonly Edge[], available: number): Drawing {
  const { layer, place, sizes } = layout;
  const columnsOf = (size: number) => Math.max(1, Math.ceil(size / MAX_ROWS));
  const taken = sizes.reduce((sum, size) => sum + (columnsOf(size) - 1) * DENSE_ROW, 2 * MARGIN);
  const narrow = Math.max(
    NARROW_LAYER,
    Math.min(WIDEST_LAYER, (available - taken) / Math.max(1, sizes.length)),
  );
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

function labelled(labels: readonly string[], edges: readonly Edge[], available: number): Drawing {
  const widths = labels.map(({ length }) => length * LETTER);
  const { x, y, routes, segment, ...layout } = routedLayout(widths, edges, available);
  return {
    ...layout,
    x: (node) => x[node]!,
    y: (node) => y[node]!,
    radius: RADIUS,
    pieces: (edge) => routes[edge]!.slice(1).map((to, i) => segment(routes[edge]![i]!, to)),
  };
}

/** Returns the inner width of an element, px, and follows its changes. */
export function useWidth(element: { readonly current: HTMLElement | null }): number {
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
  const available = useWidth(scroller);
  const [focused, setFocused] = useState(0);
  const labels = nodes.map(({ label }) => {
    const shown = visibleName(label);
    return shown.length > LONGEST_LABEL ? `${shown.slice(0, LONGEST_LABEL - 1)}…` : shown;
  });
  // Counts of tasks in labels change during a live run. The drawing changes only if the width of a label changes.
  const widths = labels.map(({ length }) => length).join();
  const drawing = useMemo(
    () =>
      labels.some((label) => label !== '')
        ? labelled(labels, edges, available)
        : unlabelled(layeredLayout(nodes.length, edges), edges, available),
    [nodes.length, edges.join(), nodes[0]?.name, nodes.at(-1)?.name, widths, available],
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
    const to = stepInGraph(layout, edges, node, drawing.down ? transposed(event.key) : event.key);
    const isClick = event.key === 'Enter' || event.key === ' ';
    if (isClick) onNode(node);
    else if (to !== undefined) focus(to);
    if (!isClick && to === undefined && !event.key.startsWith('Arrow')) return;
    // Otherwise the keys of the page would move the time axis.
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
        aria-label={`A graph of ${countText(nodes.length, 'node')} and ${countText(edges.length, 'edge')}. Arrow keys move between nodes, Enter ${action}.`}
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

/** Exchanges the axes of an arrow key, for layers that stand from top to bottom. */
function transposed(key: string): string {
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
