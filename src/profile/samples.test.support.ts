// Synthetic profiles for tests: call trees, cycles, and V8 profiles written as stacks.
import fc from '../base/properties.test.support.js';
import type { ProfileCycle } from '../protocol/clusterObserver.js';
import { type CallTree, childOf, emptyTree, forEachStack, type MutableCallTree } from './callTree.js';
import type { CpuProfile, CpuProfileNode } from './cpuProfile.js';

/** Returns a tree with the given number of samples per stack of function names. */
export function treeOf(
  stacks: readonly { readonly names: readonly string[]; readonly count: number }[],
): CallTree {
  const root = emptyTree();
  for (const { names, count } of stacks) {
    let node: MutableCallTree = root;
    node.count += count;
    for (const name of names) {
      node = childOf(node, { name, filename: `/src/${name}.ts`, lineNumber: 1 });
      node.count += count;
    }
  }
  return root;
}

const NAMES = fc.constantFrom('load', 'parse', 'sum', '__proto__', 'constructor', 'ä;b');

export const STACKS = fc.array(
  fc.record({
    names: fc.array(NAMES, { minLength: 1, maxLength: 5 }),
    count: fc.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 12 },
);

/** Returns the own samples of each stack, e.g. `load>parse`. Equal trees agree in them, whatever the order of children. */
export function selfCounts(tree: CallTree): Map<string, number> {
  const counts = new Map<string, number>();
  forEachStack(tree, (frames, self) => {
    const stack = frames.map(({ name }) => name).join('>');
    counts.set(stack, (counts.get(stack) ?? 0) + self);
  });
  return counts;
}

/** Returns a cycle whose stacks have one frame each. */
export function cycleOf(
  start: number,
  samples: readonly { readonly time: number; readonly name: string; readonly task: number }[],
  thread = 'threads-0',
): ProfileCycle {
  const names = [...new Set(samples.map(({ name }) => name))];
  return {
    thread,
    start,
    stop: start + 1,
    interval: 0.01,
    parents: new Int32Array(names.length).fill(-1),
    names,
    files: names.map((name) => `/src/${name}.ts`),
    lines: new Int32Array(names.length).fill(1),
    times: Float64Array.from(samples, ({ time }) => time),
    stacks: Int32Array.from(samples, ({ name }) => names.indexOf(name)),
    sampleLines: new Int32Array(samples.length),
    tasks: Float64Array.from(samples, ({ task }) => task),
  };
}

/** Returns a V8 profile with one sample per stack, 10 ms apart from time 0. A frame is `name` or `name@url`. */
export function cpuProfileOf(stacks: readonly (readonly string[])[]): CpuProfile {
  const nodes: (CpuProfileNode & { readonly children: number[] })[] = [];
  const node = (frame: string): number => {
    const [functionName = '', url = ''] = frame.split('@');
    const id = nodes.length + 1;
    nodes.push({ id, callFrame: { functionName, url, lineNumber: 6, columnNumber: 0 }, children: [] });
    return id;
  };
  const root = node('(root)');
  const samples = stacks.map((frames) => {
    let at = root;
    for (const frame of frames) {
      const children = nodes[at - 1]!.children;
      const [name, url = ''] = frame.split('@');
      const known = children.find((child) => {
        const { callFrame } = nodes[child - 1]!;
        return callFrame.functionName === name && callFrame.url === url;
      });
      const next = known ?? node(frame);
      if (known === undefined) children.push(next);
      at = next;
    }
    return at;
  });
  return {
    nodes,
    startTime: 0,
    endTime: stacks.length * 10_000,
    samples,
    timeDeltas: samples.map(() => 10_000),
  };
}
