// Warns of calls that are still pending when the program has nothing left to do. Node then ends the program silently: with
// exit code 13 if it awaits at the top level, otherwise with code 0.

import { shortened, visibleText } from '../../base/visibleText.js';
import type { OpenWaits } from '../openWaits.js';

/** Most characters of the warning. */
const LONGEST_WARNING = 2000;
/** Pending calls of open clusters. One listener serves all clusters, because Node warns of many listeners. */
const watched = new Set<OpenWaits>();

/** Warns at the end of the program if one of these calls is pending then. Returns a function that ends the watch. */
export function watchEnd(waits: OpenWaits): () => void {
  if (watched.size === 0) process.on('beforeExit', warn);
  watched.add(waits);
  return () => {
    if (watched.delete(waits) && watched.size === 0) process.off('beforeExit', warn);
  };
}

function warn(): void {
  const calls = [...watched].flatMap((waits) => waits.dump());
  if (calls.length === 0) return;
  const list = calls.map(({ what, subject, count }) => {
    const more = count > 1 ? ` and ${count - 1} more` : '';
    return `${what}${subject === '' ? '' : ` of '${subject}'`}${more}`;
  });
  const text =
    `The program has nothing left to do and ends, but these calls are pending: ${list.join(', ')}. ` +
    'No task that can run would end them. See earlier warnings for tasks that no worker can run, or cancel the futures.';
  process.emitWarning(visibleText(shortened(text, LONGEST_WARNING)), {
    type: 'LongpoleWarning',
    code: 'LONGPOLE_PENDING_CALLS',
  });
}
