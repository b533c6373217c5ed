// A cycle of the statistical profiler as rows of the tables `samples` and `frames`.
import type { ProfileCycle } from '../../protocol/profileCycle.js';
import type { KindOf, TaskKind } from '../../protocol/taskKinds.js';
import { cycleFrames, type FrameFacts, frameOfSample } from './frameIds.js';
import type { SampleFacts } from './sampleRows.js';

/**
 * The samples of a thread that had something to do. Beside the first row of a frame stand the frames that lead to it, callers
 * first; beside later rows of it none.
 */
export function* cycleSamples(
  worker: number,
  cycle: ProfileCycle,
  kindOf: KindOf,
): Generator<[SampleFacts, readonly FrameFacts[]]> {
  const { times, tasks, sampleLines, interval } = cycle;
  const frames = cycleFrames(cycle);
  const kinds = new Map<number, TaskKind | undefined>();
  const told = new Set<number>();
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
    yield [row, told.has(frame.id) ? [] : pathTo(frame, byId, told)];
  }
}

/** The frames from the outermost one on that are not in `told`, which has them afterwards. */
function pathTo(
  frame: FrameFacts,
  byId: ReadonlyMap<number, FrameFacts>,
  told: Set<number>,
): readonly FrameFacts[] {
  const path: FrameFacts[] = [];
  for (
    let at: FrameFacts | undefined = frame;
    at !== undefined && !told.has(at.id);
    at = byId.get(at.parent)
  ) {
    told.add(at.id);
    path.push(at);
  }
  return path.reverse();
}
