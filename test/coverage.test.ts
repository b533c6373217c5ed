// The coverage of a program, which Node measures e.g. for c8, includes the tasks of its workers.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageUrl, withFolder } from './support/programs.js';

const MODULE = `
  import { tasks } from '${packageUrl('index')}';
  export const { covered } = tasks(import.meta.url, { covered: (x) => x + 1 });
`;
const program = (end: string): string => `
  import { compute } from '${packageUrl('index')}';
  import { covered } from './covered.mjs';
  await compute(covered(1), covered(2), { scheduler: 'processes', numWorkers: 2 });
  ${end}
`;

/** Returns how often each function of the module ran in a process. */
function countsOf(file: string): number[] {
  const {
    result,
  }: { result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[] } =
    JSON.parse(readFileSync(file, 'utf8'));
  const module = result.find(({ url }) => url.endsWith('/covered.mjs'));
  return (module?.functions ?? []).flatMap(({ functionName, ranges }) =>
    functionName === 'covered' ? ranges.map(({ count }) => count) : [],
  );
}

for (const [how, end] of [
  ['ends', ''],
  ['exits', 'process.exit();'],
] as const)
  test(`a program that ${how} leaves the coverage of tasks in processes`, () =>
    withFolder(async (folder) => {
      const coverage = join(folder, 'coverage');
      writeFileSync(join(folder, 'covered.mjs'), MODULE);
      writeFileSync(join(folder, 'program.mjs'), program(end));
      const env = { ...process.env, NODE_V8_COVERAGE: coverage };
      const child = spawn(process.execPath, [join(folder, 'program.mjs')], { env, stdio: 'inherit' });
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      const counts = readdirSync(coverage).flatMap((file) => countsOf(join(coverage, file)));
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        2,
      );
    }));
