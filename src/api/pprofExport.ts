// Converts a trace into a profile for pprof.
import { profileTree, samplingInterval } from '../analysis/profile.js';
import { childOf, emptyTree, type FrameDescription, type MutableCallTree } from '../profile/callTree.js';
import { toPprof } from '../profile/pprof.js';
import type { Trace } from '../trace/trace.js';

/** Seconds per sample. */
const INTERVAL = 1e-6;
/** Tasks of more seconds (285 years) have damaged times and are skipped, because pprof cannot represent their sum. */
const MAX_SECONDS = Number.MAX_SAFE_INTEGER * INTERVAL;

/**
 * Yields the samples of the statistical profiler. For a trace without samples, yields the duration of the tasks as if
 * sampled once per microsecond. The stack of a task is then its spans, outermost first, and its function. Stacks with
 * less than half a microsecond in total are missing.
 */
export function* pprofProfile(trace: Trace): Generator<Uint8Array> {
  yield trace.samples.length > 0
    ? toPprof(profileTree(trace), { interval: samplingInterval(trace), ...sampledTime(trace) })
    : taskProfile(trace);
}

/** Returns the time of the first sample, and the seconds from there to the last one. */
function sampledTime({ samples: { time } }: Trace): { start: number; duration: number } {
  let [start, stop] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const at of time) {
    start = Math.min(start, at);
    stop = Math.max(stop, at);
  }
  return { start, duration: stop - start };
}

function taskProfile(trace: Trace): Uint8Array {
  const { tasks, strings } = trace;
  const sums = new Map<number, number>();
  const width = strings.length + 1;
  let [start, stop] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < tasks.length; row++) {
    const seconds = tasks.duration[row]!;
    if (!(seconds >= 0 && seconds <= MAX_SECONDS)) continue;
    const group = (tasks.span[row]! + 1) * width + tasks.functionName[row]! + 1;
    sums.set(group, (sums.get(group) ?? 0) + seconds);
    start = Math.min(start, tasks.started[row]!);
    stop = Math.max(stop, tasks.stopped[row]!);
  }
  const tree = emptyTree();
  for (const [group, seconds] of sums) {
    const text = (id: number): string => (id < 0 ? '' : strings.get(id));
    const span = text(Math.floor(group / width) - 1);
    const frames = span === '' ? [] : span.split('/').map((name) => name.trim());
    addStack(tree, [...frames, text((group % width) - 1)], Math.round(seconds / INTERVAL));
  }
  const times = start <= stop ? { start, duration: stop - start } : {};
  return toPprof(tree, { interval: INTERVAL, ...times });
}

function addStack(tree: MutableCallTree, names: readonly string[], samples: number): void {
  let node = tree;
  node.count += samples;
  for (const name of names) {
    const frame: FrameDescription = { name: name === '' ? '(no name)' : name, filename: '', lineNumber: 0 };
    node = childOf(node, frame);
    node.count += samples;
  }
}
