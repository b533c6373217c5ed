// `npm run soak`: searches for rare failures that a single test run cannot show. See docs/decisions/gate-and-soak.md.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { parseArgs } from 'node:util';
import { repositoryPath } from '../test/support/repository.js';
import type { RoundResult } from './launch.js';
import type { Round } from './round.js';
import { ROUNDS } from './rounds/index.js';
import { passed, soak } from './soak.js';
import { formatFailures, formatOperations, formatTable } from './table.js';

const USAGE = `Usage: npm run soak -- [options]

  --minutes N      minutes after which no round begins (default 10)
  --rounds N       at most this many rounds
  --seed S         integer (default: different every time), which is also the seed of the first round
  --only NAME…     repeats only these rounds; repeat the option or separate names by commas
  --burners N      endless loops that compete for the cores (default 0)
  --no-stress      stops no process and starves no thread
  --docs           writes the table into docs/soak.md

Rounds:
${ROUNDS.map(({ name, checks }) => `  ${name.padEnd(16)} ${checks}`).join('\n')}
`;

interface Settings {
  readonly rounds: readonly Round[];
  readonly seed: number;
  readonly seconds: number;
  readonly most: number;
  readonly burners: number;
  readonly stress: boolean;
  readonly docs: boolean;
}

/** Returns the settings; undefined for --help. */
function readSettings(): Settings | undefined {
  const { values, positionals } = parseArgs({
    allowNegative: true,
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: '10' },
      rounds: { type: 'string', default: 'Infinity' },
      seed: { type: 'string', default: String(Date.now() % 1e9) },
      only: { type: 'string', multiple: true, default: [] },
      burners: { type: 'string', default: '0' },
      stress: { type: 'boolean', default: true },
      docs: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  // In `--only a b c`, the names after the first are positional arguments.
  const names = [...values.only, ...positionals].flatMap((one) => one.split(','));
  const unknown = names.find((name) => ROUNDS.every((round) => round.name !== name));
  if (unknown !== undefined || (positionals.length > 0 && values.only.length === 0))
    throw new RangeError(`There is no round '${unknown ?? positionals[0]}'.\n\n${USAGE}`);
  const settings = {
    rounds: ROUNDS.filter(({ name, onlyByName }) =>
      names.length === 0 ? onlyByName !== true : names.includes(name),
    ),
    seed: Number(values.seed),
    seconds: Number(values.minutes) * 60,
    most: Number(values.rounds),
    burners: Number(values.burners),
    stress: values.stress && process.platform === 'linux',
    docs: values.docs,
  };
  if (!Number.isInteger(settings.seed) || !(settings.seconds > 0) || !(settings.most >= 1))
    throw new RangeError(`--seed, --minutes and --rounds take numbers.\n\n${USAGE}`);
  return settings;
}

/** Returns the page of the documentation with the machine and the results of the soak. */
function page(settings: Settings, results: readonly RoundResult[]): string {
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const failures = formatFailures(results);
  return `# The last soak

\`npm run soak -- --docs\` writes this page. [The decision](decisions/gate-and-soak.md) says what it is for.

- date: ${new Date().toISOString().slice(0, 10)}
- processor: ${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores
- system: ${process.platform} ${release()}, Node ${process.version}
- seed ${settings.seed}, ${(seconds / 60).toFixed(0)} minutes, beside ${settings.burners} burners
- ${stressed(results)} of ${results.length} rounds with stopped processes and starved threads

${formatTable(results)}

The durations of each kind of operation, in the rounds whose processes were not stopped. Sizes of graphs are random, so the slowest of a
kind is also its largest. Workers of \`chaos\` die every 0.2 s, of \`nested\` every 0.3 s, of \`steady\` every 20 s.

${formatOperations(results)}
${failures === '' ? '' : `\n\`\`\`\n${failures}\n\`\`\`\n`}`;
}

function stressed(results: readonly RoundResult[]): number {
  return results.filter((result) => result.stressed).length;
}

function settingsOrExit(): Settings {
  try {
    const settings = readSettings();
    if (settings !== undefined) return settings;
    console.log(USAGE);
    process.exit();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

const settings = settingsOrExit();
const abort = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => abort.abort());
const burners = Array.from({ length: settings.burners }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
);
const module = new URL('rounds/index.js', import.meta.url).href;
const results = await soak({
  ...settings,
  module,
  grace: 10,
  signal: abort.signal,
  print: (text) => console.log(text),
}).finally(() => {
  for (const burner of burners) burner.kill('SIGKILL');
});
const failed = results.filter((result) => !passed(result));
console.log(`\n${formatTable(results)}\n\n${formatOperations(results)}\n`);
if (failed.length > 0) console.log(formatFailures(results));
console.log(
  `${results.length - failed.length} rounds passed, ${failed.length} failed (seed ${settings.seed})`,
);
if (settings.docs) writeFileSync(repositoryPath('docs/soak.md'), page(settings, results));
process.exitCode = failed.length === 0 && results.length > 0 ? 0 : 1;
