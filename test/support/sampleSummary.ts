// Compares the summary of a run on a page with the run of the same program in the test: its labels, and the counts that do
// not depend on the machine.

/** The part of the JSON of `longpole run --json` that is compared. */
export interface SummaryCounts {
  readonly tasks: { readonly memory: number; readonly erred: number };
  readonly computations: number;
  readonly workers: readonly { readonly name: string; readonly tasks: number }[];
  readonly prefixes: readonly { readonly prefix: string; readonly tasks: number }[];
}

/** Returns the labels of the page that the printed summary lacks. */
export function missingLabels(shown: string, printed: string): string[] {
  const labels = labelsOf(printed);
  return labelsOf(shown).filter((label) => !labels.includes(label));
}

/** Returns the words at the beginnings of lines before a column of values, such as `tasks` and `long pole`. */
function labelsOf(text: string): string[] {
  return [...text.matchAll(/^([a-z]+(?: [a-z]+)?)(?=:? {2,}|: )/gm)].map((match) => match[1]!);
}

interface Row {
  readonly name: string;
  readonly tasks: number;
}

/**
 * Compares the counts in a summary on a page with each other and with the counts of a run. Returns one text per
 * difference. The page may list workers that ran no task in this run.
 *
 * @param run counts of the same program in this test; undefined if the test does not run the program
 */
export function differentCounts(shown: string, run: SummaryCounts | undefined): string[] {
  const total = /^tasks +([\d,]+) done(?:, ([\d,]+) failed)? in ([\d,]+) computation/m.exec(shown);
  const [done, failed, computations] = [1, 2, 3].map((group) => numberOf(total?.[group]));
  const workers = rowsOf(shown, 'workers');
  const prefixes = rowsOf(shown, 'prefixes');
  const found: string[] = [];
  const check = (what: string, page: unknown, real: unknown): void => {
    if (page !== real) found.push(`${what}: ${page} on the page, ${real} in the run`);
  };
  if (total !== null && workers.more === 0 && workers.rows.length > 0)
    check('tasks of all workers', sumOf(workers.rows), done! + failed!);
  if (run === undefined) return found;
  if (total !== null) {
    check('tasks', done, run.tasks.memory);
    check('failed tasks', failed, run.tasks.erred);
    check('computations', computations, run.computations);
  }
  if (workers.rows.length > 0 && workers.more === 0)
    for (const { name } of run.workers)
      if (!workers.rows.some((row) => row.name === name)) found.push(`worker ${name} is not on the page`);
  for (const { name, tasks } of prefixes.rows)
    check(`tasks of ${name}`, tasks, run.prefixes.find(({ prefix }) => prefix === name)?.tasks);
  if (prefixes.rows.length > 0) check('prefixes', prefixes.rows.length + prefixes.more, run.prefixes.length);
  return found;
}

/** Returns the rows below a label, and the number of rows that the summary leaves out (`and 4 more`). */
function rowsOf(text: string, label: string): { readonly rows: Row[]; readonly more: number } {
  const block = new RegExp(`^${label} +.*\\n(?: +.*\\n)*`, 'm').exec(text)?.[0].slice(label.length) ?? '';
  const rows = Array.from(block.matchAll(/^ +(\S+) .*?([\d,]+) tasks?\b/gm), ([, name, tasks]) => ({
    name: name!,
    tasks: numberOf(tasks),
  }));
  return { rows, more: numberOf(/and ([\d,]+) more/.exec(block)?.[1]) };
}

function sumOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { tasks }) => sum + tasks, 0);
}

function numberOf(text = '0'): number {
  return Number(text.replaceAll(',', ''));
}
