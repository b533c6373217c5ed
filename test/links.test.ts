// Every link of every page leads to a file, a folder or a heading.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { test } from 'node:test';
import { anchorOf, type MarkdownPage, readMarkdown } from './support/markdown.js';
import { repositoryPath } from './support/repository.js';

const FOREIGN = /(^|\/)(node_modules|dist|dist-\w+|fixtures|\.[^/]+)\//;
/** Files whose comments, messages and texts name pages of the documentation. */
const SOURCES = /^(src|scripts|test|examples|bench|soak|python)\/.*(?<!\.test)\.(ts|tsx|mjs|py|sh)$/;
/** Pages that a program writes on request. They are not part of the repository. */
const WRITTEN = new Set(['docs/findings-table.md', 'docs/soak.md']);

const files = readdirSync(repositoryPath('.'), { withFileTypes: true })
  .flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name];
    if (FOREIGN.test(`${entry.name}/`)) return [];
    return readdirSync(repositoryPath(entry.name), { recursive: true, encoding: 'utf8' }).map((path) =>
      posix.join(entry.name, path),
    );
  })
  .filter((path) => !FOREIGN.test(path));
const text = (path: string): string => readFileSync(repositoryPath(path), 'utf8');
const pages = new Map<string, MarkdownPage>(
  files.filter((path) => path.endsWith('.md')).map((path) => [path, readMarkdown(text(path))]),
);

/** Returns why a link does not work; undefined if it works. */
function problemOf(page: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? page : posix.join(dirname(page), decodeURI(path));
  if (!existsSync(repositoryPath(file))) return `${file} does not exist`;
  if (anchor === undefined) return undefined;
  const headings = pages.get(file)?.headings;
  if (headings === undefined) return `${file} is no page, so it has no headings`;
  return headings.some((heading) => heading.anchor === anchor) ? undefined : `${file} has no such heading`;
}

test('every link and picture of every page resolves', () => {
  const problems = [...pages].flatMap(([page, { links }]) =>
    links
      .filter(({ target }) => !/^(https?|mailto):/.test(target))
      .map(({ target, line }) => ({ target, line, problem: problemOf(page, target) }))
      .filter(({ problem }) => problem !== undefined)
      .map(({ target, line, problem }) => `${page}:${line}: ${target}: ${problem}`),
  );
  assert.deepEqual(problems, []);
});

test('every page that the source names exists', () => {
  const problems = files
    .filter((path) => SOURCES.test(path))
    .flatMap((path) =>
      [...text(path).matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
        .filter(([page]) => !pages.has(page) && !WRITTEN.has(page))
        .map(([page]) => `${path} names ${page}`),
    );
  assert.deepEqual(problems, []);
});

test('docs/README.md and docs/decisions/README.md list every page of their folders', () => {
  for (const index of ['docs/README.md', 'docs/decisions/README.md']) {
    const listed = pages.get(index)!.links.map(({ target }) => posix.join(dirname(index), target));
    const missing = [...pages.keys()].filter(
      (page) => dirname(page) === dirname(index) && page !== index && !listed.includes(page),
    );
    assert.deepEqual(missing, [], `${index} does not list these pages`);
  }
});

test('headings have the anchors that GitHub gives them', () => {
  const { headings, links, fences } = readMarkdown(
    [
      '# `longpole run`: a *first* [look](x.md#y)',
      '## ERR_LONGPOLE_ABORTED',
      '## Twice',
      '## Twice',
      '<!-- [hidden](a.md) -->',
      '[two\nlines](b.md) and [![picture](c.png)](d.md), not `[code](e.md)`',
      '```ts not run: a reason',
      '# no heading',
      '```',
    ].join('\n'),
  );
  assert.deepEqual(
    headings.map(({ anchor }) => anchor),
    ['longpole-run-a-first-look', 'err_longpole_aborted', 'twice', 'twice-1'],
  );
  assert.deepEqual(
    links.map(({ target, isImage, line }) => [target, isImage, line]),
    [
      ['x.md#y', false, 1],
      ['b.md', false, 6],
      ['d.md', false, 7],
      ['c.png', true, 7],
    ],
  );
  assert.deepEqual(fences, [
    {
      above: 'lines](b.md) and [![picture](c.png)](d.md), not `[code](e.md)`',
      language: 'ts',
      info: 'not run: a reason',
      text: '# no heading\n',
      line: 8,
    },
  ]);
  assert.equal(anchorOf('Keys, and graphs'), 'keys-and-graphs');
});
