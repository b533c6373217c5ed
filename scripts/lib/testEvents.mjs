// A reporter for node:test that appends events for scripts/test.mjs to a file, one JSON object per line. It writes
// synchronously, so that all earlier events are on the disk when a hanging process is killed.
import { appendFileSync } from 'node:fs';
import { inspect } from 'node:util';

/** Name of the test that marks the end of a file in a process that runs several files. */
export const FILE_END = 'longpole:end of the file';

/**
 * @typedef {{ type: 'started', name: string }
 *   | { type: 'file-ended', at: number } in milliseconds since the process began
 *   | { type: 'passed' | 'skipped', name: string }
 *   | { type: 'failed', name: string, where: string, error: string }} TestEvent
 */

// biome-ignore lint/correctness/useYield: a reporter must be a generator, and this one writes to a file.
export default async function* testEvents(source) {
  const path = process.env.LONGPOLE_TEST_EVENTS;
  const parents = [];
  for await (const { type, data } of source) {
    const event = toEvent(type, data, parents);
    if (event !== undefined && path !== undefined) appendFileSync(path, `${JSON.stringify(event)}\n`);
    if (event?.type === 'file-ended') ended += 1;
  }
}

let ended = 0;

/** Returns the number of files whose events are on the disk. */
export const endedFiles = () => ended;

/** @returns {TestEvent | undefined} */
function toEvent(type, data, parents) {
  if (data.name === FILE_END)
    return type === 'test:pass' ? { type: 'file-ended', at: performance.now() } : undefined;
  switch (type) {
    case 'test:dequeue':
      return { type: 'started', name: data.name };
    case 'test:start':
      parents[data.nesting] = data.name;
      return undefined;
    case 'test:pass':
      if (data.details.type === 'suite') return undefined;
      return { type: data.skip === undefined ? 'passed' : 'skipped', name: data.name };
    case 'test:fail':
      return failure(data, parents);
    default:
      return undefined;
  }
}

/**
 * Returns the event for a failed test. A parent fails with its subtests, so only tests that failed themselves are
 * reported.
 */
function failure(data, parents) {
  const { error, type } = data.details;
  if (error.failureType === 'subtestsFailed') return undefined;
  if (type === 'suite' && error.failureType === 'cancelledByParent') return undefined;
  const name = [...parents.slice(0, data.nesting), data.name].join(' > ');
  const where = data.file === undefined ? '' : `${data.file}:${data.line ?? 1}:${data.column ?? 1}`;
  return { type: 'failed', name, where, error: inspect(error.cause ?? error, { depth: 4 }) };
}
