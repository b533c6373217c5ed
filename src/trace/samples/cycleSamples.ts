// Converts a cycle of the statistical profiler to rows of the tables `samples` and `frames`.

import type { ProfileCycle } from '../../protocol/clusterObserver.js';
import type { KindOf, TaskKind } from '../../protocol/metrics.js';
import { cycleFrames, type FrameFacts, frameOfSample, type SampleFacts } from './sampleRows.js';

/**
 * Yields the samples of a thread, without samples of an idle thread. The first sample of a frame comes with the frames
 * on its stack that were not yielded before, callers first.
 */
export function* cycleSamples(
  worker: number,
  cycle: ProfileCycle,
  kindOf: KindOf,
): Generator<[SampleFacts, readonly FrameFacts[]]> {
  const { times, tasks, sampleLines, interval } = cycle;
  const frames = cycleFrames(cycle);
  const kinds = new Map<number, TaskKind | undefined>();
  const yielded = new Set<number>();
  const byId = new Map(frames.map((frame) => [frame.id, frame]));
  for (const [sample, time] of times.entries()) {
    const frame = frameOfSample(cycle, sample, frames);
    if (frame === undefined) continue;
    const task = tasks[sample]!;
    if (task >= 0 && !kinds.has(task)) kinds.set(task, kindOf(task));
    const kind = kinds.get(task);
    const row = {
      time,
      worker,
      thread: 0,
      task,
      prefix: kind?.prefix ?? '',
      span: kind?.span.join('/') ?? '',
      frame: frame.id,
      line: sampleLines[sample]!,
      count: 1,
      interval,
    };
    yield [row, yielded.has(frame.id) ? [] : pathTo(frame, byId, yielded)];
  }
}

/** Returns the frames on the stack of `frame` that `yielded` lacks, the outermost first, and adds them to `yielded`. */
function pathTo(
  frame: FrameFacts,
  byId: ReadonlyMap<number, FrameFacts>,
  yielded: Set<number>,
): readonly FrameFacts[] {
  const path: FrameFacts[] = [];
  for (
    let at: FrameFacts | undefined = frame;
    at !== undefined && !yielded.has(at.id);
    at = byId.get(at.parent)
  ) {
    yielded.add(at.id);
    path.push(at);
  }
  return path.reverse();
}
