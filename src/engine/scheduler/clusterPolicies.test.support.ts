// A new cluster scheduler for each test of policies, and helpers for it.

import { beforeEach } from 'node:test';
import { KIND_NUMBER } from '../../protocol/resultKinds.js';
import type { GraphAdded, Instruction, SchedulerEvent } from './events.js';
import { Scheduler, type SchedulerOptions } from './scheduler.js';
import { type Edges, finished, requestedOf, toGraph } from './schedulerGraphs.test.support.js';
import type { Segment, SegmentPolicy } from './taskGraph.js';
import { validateState } from './validate.test.support.js';

export let scheduler: Scheduler;

/** Creates a scheduler. Batches have one task unless the options say otherwise. */
export function newScheduler(options: SchedulerOptions = { limits: { maxTasks: 1 } }): void {
  scheduler = new Scheduler(null, options);
}

beforeEach(() => newScheduler());

export function handle(event: SchedulerEvent): Instruction[] {
  const instructions = scheduler.handle(event);
  validateState(scheduler.state);
  return instructions;
}

export function addWorkers(...names: string[]): void {
  for (const [worker, name] of names.entries()) handle({ type: 'worker-added', worker, name });
}

export interface Added {
  readonly segment: Segment;
  readonly instructions: Instruction[];
}

export function add(edges: Edges, policy: SegmentPolicy = {}, more: Partial<GraphAdded> = {}): Added {
  const graph = toGraph(edges, requestedOf(edges, []));
  const instructions = handle({ type: 'graph-added', graph, policy, ...more });
  return { segment: scheduler.lastSegment!, instructions };
}

export function finish(
  worker: number,
  id: number,
  kind = KIND_NUMBER,
  nbytes = 8,
  seconds = 1e-4,
): Instruction[] {
  return handle({ ...finished(worker, id, kind, seconds), nbytes: Float64Array.of(nbytes) });
}

/** Returns `[worker, id]` of the sent tasks, in order. */
export function sent(instructions: readonly Instruction[]): [number, number][] {
  return instructions.flatMap((each) =>
    each.type === 'dispatch' ? Array.from(each.ids, (id): [number, number] => [each.worker, id]) : [],
  );
}

export function only<T extends Instruction['type']>(
  instructions: readonly Instruction[],
  type: T,
): Extract<Instruction, { type: T }>[] {
  return instructions.filter((each): each is Extract<Instruction, { type: T }> => each.type === type);
}

/** Adds data of the given size on a worker. */
export function scatter(holder: number, nbytes: number): Segment {
  const more = { holders: Int32Array.of(holder), nbytes: Float64Array.of(nbytes) };
  return add([[]], { data: true }, more).segment;
}

/** Adds one task that needs one result of another segment. */
export function addUser(of: Segment, policy: SegmentPolicy = {}): Added {
  return add([[], [0]], policy, { imports: new Map([[0, of.base + of.size - 1]]) });
}
