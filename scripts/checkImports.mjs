// Checks every import below src/ against the table of src/README.md, which holds the rules.
//
//   node scripts/checkImports.mjs [--dot] [SRC]
//
// Prints one line per violation and exits with 1 if there is any. `--dot` prints the folders and their imports as a
// Graphviz graph instead.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { cycles, importsOf, sourceFiles } from './lib/importGraph.mjs';
import { readImportRules } from './lib/importRules.mjs';

const PACKAGE = 'longpole';
const folderOf = (file) => file.split('/')[0];
const isTest = (file) => /\.test\.tsx?$/.test(file);

/**
 * @param {string} root the source folder; its README.md holds the table
 * @returns {{ problems: string[], files: string[], imports: import('./lib/importGraph.mjs').Import[],
 *   rules: import('./lib/importRules.mjs').ImportRules }}
 */
export function checkImports(root) {
  const readme = join(root, 'README.md');
  const rules = readImportRules(existsSync(readme) ? readFileSync(readme, 'utf8') : '');
  const problems = rules.problems.map((problem) => `src/README.md: ${problem}`);
  const files = sourceFiles(root);
  const imports = files.flatMap((file) => importsOf(root, file));
  problems.push(...checkFolders(root, rules, files));
  for (const one of imports) {
    const problem = checkImport(rules, one);
    if (problem !== undefined)
      problems.push(`src/${one.file}:${one.line} imports ${one.specifier}: ${problem}`);
  }
  for (const cycle of cycles(fileEdges(files, imports))) {
    problems.push(`src/${cycle[0]}: import cycle: ${[...cycle, cycle[0]].join(' -> ')}`);
  }
  return { problems, files, imports, rules };
}

/** Checks that every folder is in the table, and that every row of the table has a file. */
function checkFolders(root, rules, files) {
  const problems = [];
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isDirectory() && !rules.mayImport.has(entry.name)) {
      problems.push(`src/${entry.name}/: the folder is not in the table of src/README.md`);
    }
  }
  for (const file of files) {
    if (!file.includes('/')) problems.push(`src/${file}: a source file belongs into a folder of the table`);
  }
  for (const folder of rules.mayImport.keys()) {
    if (!files.some((file) => folderOf(file) === folder)) {
      problems.push(`src/README.md: the rule for ${folder}/ matches no file`);
    }
  }
  return problems;
}

/** @returns {string | undefined} why the import is not allowed */
function checkImport(rules, { file, specifier, target, kind }) {
  const from = folderOf(file);
  switch (kind) {
    case 'missing':
      return 'there is no such file';
    case 'outside':
      return 'it lies outside src/';
    case 'node':
      // Unit tests of pure folders run under Node's own test runner.
      return rules.pure.has(from) && !isTest(file) ? `${from}/ is pure and may not use Node` : undefined;
    case 'package':
      // The package by its own name is what api/ exports.
      return specifier === PACKAGE || specifier.startsWith(`${PACKAGE}/`)
        ? direction(rules, from, 'api')
        : undefined;
    case 'file':
      return direction(rules, from, folderOf(target));
  }
}

function direction(rules, from, to) {
  if (from === to || rules.mayImport.get(from)?.has(to)) return undefined;
  return `${from}/ may not import ${to}/`;
}

function fileEdges(files, imports) {
  const edges = new Map(files.map((file) => [file, new Set()]));
  for (const { file, target } of imports) {
    if (target !== undefined) edges.get(file)?.add(target);
  }
  return edges;
}

/**
 * Returns folders as boxes (pure ones filled) and an edge for each direction in use, labelled with its number of
 * imports.
 */
export function toDot({ imports, rules }) {
  const counts = new Map();
  for (const { file, target } of imports) {
    if (target === undefined || folderOf(file) === folderOf(target)) continue;
    const edge = `"${folderOf(file)}" -> "${folderOf(target)}"`;
    counts.set(edge, (counts.get(edge) ?? 0) + 1);
  }
  const nodes = [...rules.mayImport.keys()].map(
    (folder) => `  "${folder}" [shape=box${rules.pure.has(folder) ? ', style=filled' : ''}];`,
  );
  const edges = [...counts].sort().map(([edge, count]) => `  ${edge} [label="${count}"];`);
  return ['digraph src {', ...nodes, ...edges, '}'].join('\n');
}

function main() {
  const { values, positionals } = parseArgs({
    options: { dot: { type: 'boolean' } },
    allowPositionals: true,
  });
  const root = resolve(positionals[0] ?? fileURLToPath(new URL('../src', import.meta.url)));
  const result = checkImports(root);
  if (values.dot) {
    console.log(toDot(result));
    return;
  }
  for (const problem of result.problems) console.error(problem);
  if (result.problems.length > 0) {
    console.error(`${result.problems.length} problems in the imports of ${result.files.length} files`);
    process.exitCode = 1;
  } else {
    console.log(`Checked ${result.imports.length} imports of ${result.files.length} files.`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
