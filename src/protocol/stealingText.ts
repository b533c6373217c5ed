// Texts of events about work stealing: a worker without work took tasks of another worker, which is the event's worker.

export interface StolenWork {
  /** Number of tasks. */
  readonly tasks: number;
  /** Expected seconds of the tasks. */
  readonly seconds: number;
  /** Name of the worker for which the tasks were taken; undefined if their worker was paused. */
  readonly thief: string | undefined;
}

export function stealingText({ tasks, seconds, thief }: StolenWork): string {
  const count = `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
  return `${count} of expected ${Number(seconds.toPrecision(3))} s to ${thief ?? SCHEDULER}`;
}

const SCHEDULER = 'the scheduler, because the worker is paused';
const TEXT = /^(\d+) tasks? of expected ([\d.e+-]+) s to (.+)$/s;

/** Returns the facts in the text of an event; undefined for another text. */
export function parseStealing(text: string): StolenWork | undefined {
  const found = TEXT.exec(text);
  if (found === null) return undefined;
  const [, tasks, seconds, thief] = found;
  return { tasks: Number(tasks), seconds: Number(seconds), thief: thief === SCHEDULER ? undefined : thief };
}
