// Reference pages name everything that the source declares, and nothing else. src/base/errors.test.ts compares
// docs/errors.md, and scripts/lib/traceTables.test.mjs docs/trace-format.md.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { ProgressBar, visualize } from 'longpole/diagnostics';
import { FileDatabase, Pipeline, registerDefaultProfiler } from 'longpole/trace';
import { FINDING_CODES } from '#internal/analysis/findings/finding.js';
import { PATH_KINDS } from '#internal/analysis/path/pathParts.js';
import { QUESTIONS } from '#internal/analysis/questions.js';
import { adaptSettings } from '#internal/api/cluster/adaptive.js';
import { PROFILE_OPTIONS } from '#internal/api/cluster/clientMeasures.js';
import { SUBMIT_OPTIONS } from '#internal/api/cluster/clientOptions.js';
import { CLUSTER_OPTIONS, DASK_OPTIONS } from '#internal/api/cluster/clusterOptions.js';
import { EXPORTERS } from '#internal/api/exporters.js';
import { LOCAL_OPTIONS } from '#internal/api/runPlan.js';
import { defaultSetting, readSetting, SETTING_NAMES } from '#internal/base/settings.js';
import { PAGES } from '#internal/dashboard/pages/pageNames.js';
import { MEMORY_MEASURES } from '#internal/diagnostics/memorySampler.js';
import { FAMILIES } from '#internal/server/prometheus/allFamilies.js';
import { DURATIONS } from '#internal/server/prometheus/prometheus.js';
import { readMarkdown } from './support/markdown.js';
import { repositoryPath } from './support/repository.js';

interface Reference {
  readonly page: string;
  /** Title of the column that holds the names. Several tables of a page may have it. */
  readonly column: string;
  readonly names: readonly string[];
  /** Whether the rows have the order of the source. */
  readonly ordered?: boolean;
  /** Whether the column has titles, separated by commas, instead of names in backquotes. */
  readonly isPlain?: boolean;
}

/** Has an option that no function knows. */
const WRONG: object = { unknown: 0 };

const REFERENCES: readonly Reference[] = [
  { page: 'docs/settings.md', column: 'setting', names: SETTING_NAMES },
  { page: 'docs/findings.md', column: 'code', names: FINDING_CODES },
  { page: 'docs/questions.md', column: 'name', names: QUESTIONS.map(({ name }) => name), ordered: true },
  { page: 'docs/export.md', column: '`--to`', names: EXPORTERS.map(({ name }) => name) },
  {
    page: 'docs/metrics-reference.md',
    column: 'name',
    names: [...FAMILIES.map(({ name }) => name), DURATIONS.name],
  },
  { page: 'docs/name-the-long-pole.md', column: 'kind', names: PATH_KINDS },
  { page: 'docs/sample-memory.md', column: 'measure', names: MEMORY_MEASURES },
  {
    page: 'docs/performance-report.md',
    column: 'page',
    names: PAGES.map(({ title }) => title),
    isPlain: true,
  },
  {
    page: 'docs/get-started.md',
    column: 'option',
    names: ['scheduler', ...Object.keys(LOCAL_OPTIONS)],
  },
  {
    page: 'docs/cluster.md',
    column: 'option',
    names: [
      ...Object.keys(CLUSTER_OPTIONS),
      ...Object.keys(SUBMIT_OPTIONS),
      ...optionsOf(() => adaptSettings('adapt()', WRONG)),
    ],
  },
  {
    page: 'docs/analyse-a-dasf-trace.md',
    column: 'option',
    names: optionsOf(() => new FileDatabase('unused', WRONG)),
  },
  // `filename` selects no samples; the page describes it below the table.
  {
    page: 'docs/profile-a-task.md',
    column: 'option',
    names: Object.keys(PROFILE_OPTIONS).filter((name) => name !== 'filename'),
  },
  {
    page: 'docs/profile-a-pipeline.md',
    column: 'option',
    names: optionsOf(() => registerDefaultProfiler(new Pipeline('empty'), WRONG)),
  },
  { page: 'docs/run-on-dask.md', column: 'option', names: Object.keys(DASK_OPTIONS) },
  { page: 'docs/show-progress.md', column: 'option', names: optionsOf(() => new ProgressBar(WRONG)) },
  {
    page: 'docs/diagnostics.md',
    column: 'option',
    names: [...optionsOf(() => new ProgressBar(WRONG)), ...optionsOf(() => visualize([], WRONG))],
  },
];
/** Pages about a command with a table of its options, and whether the table has all of them. */
const OPTIONS = [
  { page: 'docs/run.md', command: 'run', isComplete: true },
  { page: 'docs/analyse-a-trace.md', command: 'analyze', isComplete: true },
  { page: 'docs/predict-a-run.md', command: 'simulate', isComplete: false },
  { page: 'docs/dask.md', command: 'dask', isComplete: false },
];

/** Returns the rows of all tables whose first title is `column`. */
function rowsOf(page: string, column: string): (readonly string[])[] {
  const { tables } = readMarkdown(readFileSync(repositoryPath(page), 'utf8'));
  return tables.filter(({ titles }) => titles[0] === column).flatMap(({ rows }) => rows);
}

/** Returns the texts in backquotes. */
function namesIn(cell = ''): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), (match) => match[1]!);
}

/** Returns the options that the error of a call with WRONG lists. */
function optionsOf(call: () => unknown): string[] {
  try {
    call();
  } catch (error) {
    const list = /The options are: (.*)\.$/.exec(String(error))?.[1];
    if (list !== undefined) return list.split(', ');
  }
  throw new Error('The call did not fail with a list of options.');
}

/** Returns the long options in a text, such as `--workers`. */
function optionsIn(text: string): string[] {
  return Array.from(text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g), ([option]) => option);
}

for (const { page, column, names, ordered = false, isPlain = false } of REFERENCES) {
  it(`${page} has every ${column} of the source, and no other`, () => {
    const documented = rowsOf(page, column).flatMap(([first = '']) =>
      isPlain ? first.split(', ') : namesIn(first),
    );
    const [actual, expected] = ordered ? [documented, [...names]] : [documented.sort(), [...names].sort()];
    assert.deepEqual(actual, expected);
  });
}

it('docs/settings.md has the default of every setting, in words if the program derives it', () => {
  for (const [first, text = ''] of rowsOf('docs/settings.md', 'setting')) {
    const name = SETTING_NAMES.find((one) => one === namesIn(first)[0]);
    assert.ok(name !== undefined, first);
    const expected = defaultSetting(name);
    if (expected === undefined) assert.match(text, /[a-z]/, name);
    else assert.equal(readSetting(name, text, name), expected, name);
  }
});

for (const { page, command, isComplete } of OPTIONS) {
  it(`${page} has ${isComplete ? 'all' : 'only'} options of longpole ${command}`, () => {
    const { fences } = readMarkdown(readFileSync(repositoryPath('docs/command-line.md'), 'utf8'));
    const help = fences.filter(({ text }) => text.startsWith(`$ longpole ${command} `));
    // The first words of a line are the option; its description may mention others.
    const options = new Set(
      help.flatMap(({ text }) => optionsIn(text.match(/^ {2}-.*?(?= {2})/gm)?.join('\n') ?? '')),
    );
    options.delete('--help');
    const documented = rowsOf(page, 'option').flatMap(([first = '']) => optionsIn(first));
    assert.ok(documented.length > 0);
    for (const option of documented) assert.ok(options.has(option), option);
    if (isComplete) assert.deepEqual([...options].sort(), [...new Set(documented)].sort());
  });
}
