// A reporter for node:test that appends what scripts/test.mjs needs to a file, one JSON object per line. It writes
// synchronously: when a test hangs and its process is killed, what was known until then is on the disk.
import { appendFileSync } from 'node:fs';
import { inspect } from 'node:util';

/** Name of a test that stands for the end of a file, where one process runs several files. */
export const FILE_END = 'longpole:end of the file';

/**
 * @typedef {{ type: 'started', name: string }
 *   | { type: 'file-ended', at: number } in milliseconds since the process began
 *   | { type: 'passed' | 'skipped', name: string }
 *   | { type: 'failed', name: string, where: string, error: string }} TestEvent
 */

// biome-ignore lint/correctness/useYield: a reporter is a generator; this one has its own destination.
export default async function* testEvents(source) {
  const path = process.env.LONGPOLE_TEST_EVENTS;
  const parents = [];
  for await (const { type, data } of source) {
    const event = toEvent(type, data, parents);
    if (event !== undefined && path !== undefined) appendFileSync(path, `${JSON.stringify(event)}\n`);
  }
}

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

/** A suite or a test fails with its subtests: only the ones that failed themselves are told. */
function failure(data, parents) {
  const { error, type } = data.details;
  if (error.failureType === 'subtestsFailed') return undefined;
  if (type === 'suite' && error.failureType === 'cancelledByParent') return undefined;
  const name = [...parents.slice(0, data.nesting), data.name].join(' > ');
  const where = data.file === undefined ? '' : `${data.file}:${data.line ?? 1}:${data.column ?? 1}`;
  return { type: 'failed', name, where, error: inspect(error.cause ?? error, { depth: 4 }) };
}
