// Results that cannot be fetched, because their worker cannot be reached, e.g. through a firewall. A worker that has died looks
// the same for up to a minute, so its results are computed again first.
import { LongpoleError } from '../../base/errors.js';
import { visibleText } from '../../base/visibleText.js';
import type { WorkerInfo } from '../../protocol/clusterObserver.js';
import { UNREACHABLE } from '../../protocol/eventTopics.js';
import { dependentsOf } from '../../protocol/program.js';
import type { MissingInput } from '../../protocol/workerMessages.js';
import { PROCESSING } from '../scheduler/taskStates.js';
import { taskError } from '../taskFailure.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';
import type { TaskPlace } from './lineage.js';

/**
 * Attempts of one worker, or of the program, to fetch a result. Between two of them a worker that is up has computed the
 * result again, so a worker that has died does not explain all of them.
 */
const MAX_ATTEMPTS = 3;
/** Clusters that have warned. */
const warned = new WeakSet<ClusterEngine>();

/**
 * Counts an attempt, and warns of the first one. Returns the error of the last one, after which the result must not be
 * computed again.
 *
 * @param from index of the worker that has the result
 * @param to who needs the result
 * @param why from `unreachableText`
 */
export function unreachedError(
  engine: ClusterEngine,
  { computation, local }: TaskPlace,
  from: number,
  to: string,
  why: string,
): LongpoleError | undefined {
  const fetch = `${local} ${to}`;
  const attempts = (computation.unreached.get(fetch) ?? 0) + 1;
  computation.unreached.set(fetch, attempts);
  const text =
    `${to} cannot reach ${nameOf(engine, from)}, which has the result of '${computation.info.keys[local]}'. ${why} ` +
    'Results travel directly between workers and the program: permit TCP between their machines.';
  if (attempts > computation.unreachedMost) {
    computation.unreachedMost = attempts;
    engine.event(UNREACHABLE, text);
  }
  if (!warned.has(engine)) {
    warned.add(engine);
    const again = `${text} Until then, results that cannot be fetched are computed again.`;
    process.emitWarning(visibleText(again), { type: 'LongpoleWarning', code: 'LONGPOLE_UNREACHABLE' });
  }
  if (attempts < MAX_ATTEMPTS) return undefined;
  return new LongpoleError('ERR_LONGPOLE_UNREACHABLE', `${text} Number of attempts: ${attempts}.`);
}

/** Fails the tasks on a worker that need results which it could not fetch as often as permitted. */
export function failUnreached(
  engine: ClusterEngine,
  computation: ComputationState,
  { index, name }: WorkerInfo,
  missing: readonly MissingInput[],
): void {
  const { base } = computation.segment;
  const failed: number[] = [];
  for (const { id: local, from, unreachable } of missing) {
    // A worker that has been removed meanwhile explains the attempt. The client has index -1.
    if (unreachable === undefined || (from >= 0 && !engine.workers.has(from))) continue;
    const error = unreachedError(engine, { computation, local }, from, `Worker '${name}'`, unreachable);
    if (error === undefined) continue;
    const { graph, state, location } = engine.scheduler.state;
    for (const task of dependentsOf(graph, base + local)) {
      if (state[task] !== PROCESSING || location[task] !== index) continue;
      engine.explain(computation, task - base, taskError(computation.info, task - base, name, error));
      failed.push(task);
    }
  }
  if (failed.length > 0) engine.handleEvent({ type: 'tasks-stuck', ids: failed });
}

function nameOf({ workers }: ClusterEngine, index: number): string {
  const found = workers.get(index);
  return found === undefined ? 'the program' : `worker '${found.info.name}'`;
}
