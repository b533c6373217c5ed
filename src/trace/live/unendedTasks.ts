// The tasks of the current graph whose runs have not ended, with their states. Only the graph page asks for them. The
// answer costs some microseconds per task.
import { type Computation, TASK_ERRED } from '../../protocol/clusterObserver.js';
import { MAX_OPEN, type OpenState, type OpenTask } from '../../protocol/openGraph.js';

/** `ended`: 0, or 1 + the state of the latest run, by local id. */
type Known = ReadonlyMap<Computation, { readonly ended: Uint8Array }>;

/**
 * Returns undefined if there are more than MAX_OPEN tasks.
 *
 * @param processing ids of the tasks that workers have
 */
export function unendedTasks(
  known: Known,
  unfinished: number,
  processing: ReadonlySet<number>,
): OpenTask[] | undefined {
  if (unfinished > MAX_OPEN) return undefined;
  const open = new Map<number, Omit<OpenTask, 'state'>>();
  const erred = new Set<number>();
  for (const [computation, { ended }] of known) {
    const given = new Set(computation.given);
    for (const [local, end] of ended.entries()) {
      const id = computation.firstId + local;
      // A worker may have a task again whose result was lost, or that is retried.
      const isOpen = (end === 0 && !given.has(local)) || processing.has(id);
      if (isOpen) open.set(id, taskOf(computation, local));
      else if (end === 1 + TASK_ERRED) erred.add(id);
    }
  }
  addDependents(open, erred);
  const stateOf = ({ id, dependencies }: Omit<OpenTask, 'state'>): OpenState => {
    if (processing.has(id)) return 'processing';
    if (erred.has(id)) return 'erred';
    return dependencies.some((dependency) => open.has(dependency)) ? 'waiting' : 'queued';
  };
  return Array.from(open.values(), (task) => ({ ...task, state: stateOf(task) }));
}

function taskOf(computation: Computation, local: number): Omit<OpenTask, 'state'> {
  const { firstId, size, keys, prefixes, prefixOf } = computation;
  const { dependencies, dependencyOffsets, externals } = computation;
  const needed = dependencies.subarray(dependencyOffsets[local], dependencyOffsets[local + 1]);
  return {
    id: firstId + local,
    key: keys[local] ?? '',
    prefix: prefixes[prefixOf[local]!] ?? '',
    dependencies: Array.from(needed, (one) => (one < size ? firstId + one : externals[one - size]!)),
  };
}

/** Adds the tasks that need a failed task to the failed tasks. */
function addDependents(open: ReadonlyMap<number, Omit<OpenTask, 'state'>>, erred: Set<number>): void {
  let before = -1;
  while (erred.size > 0 && erred.size !== before) {
    before = erred.size;
    for (const { id, dependencies } of open.values())
      if (dependencies.some((dependency) => erred.has(dependency))) erred.add(id);
  }
}
