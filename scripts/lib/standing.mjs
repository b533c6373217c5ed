// Where the threads of a process group stand, as Linux tells it: what a test that hangs was waiting for.
import { readdirSync, readFileSync } from 'node:fs';

/** One line per process and kind of wait, e.g. `4711 node: 7 × S futex_wait_queue`. Empty where there is no /proc. */
export function standing(group) {
  return numbersIn('/proc')
    .filter((pid) => statOf(`/proc/${pid}/stat`)?.group === group)
    .flatMap((pid) => linesOf(pid))
    .join('\n');
}

function linesOf(pid) {
  const counts = new Map();
  for (const task of numbersIn(`/proc/${pid}/task`)) {
    const state = statOf(`/proc/${pid}/task/${task}/stat`)?.state ?? '?';
    const place = `${state} ${textOf(`/proc/${pid}/task/${task}/wchan`)}`.trim();
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const command = textOf(`/proc/${pid}/cmdline`).split('\0').slice(0, 4).join(' ').slice(0, 120);
  return [`${pid} ${command}`, ...Array.from(counts, ([place, count]) => `  ${count} × ${place}`)];
}

function numbersIn(folder) {
  try {
    return readdirSync(folder)
      .map(Number)
      .filter((number) => number > 0);
  } catch {
    return [];
  }
}

/** The name of the command stands in brackets and may have anything in it. */
function statOf(path) {
  const [state, , group] = textOf(path)
    .replace(/^.*\) /s, '')
    .split(' ');
  return state === undefined || group === undefined ? undefined : { state, group: Number(group) };
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
