// Finds every import of a source tree with a real parser (the one that Vite brings), and resolves it to a file or to
// the name of a package.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { parseSync } from 'vite';

/**
 * @typedef {object} Import
 * @property {string} file importing file, relative to the source folder, with `/`
 * @property {number} line 1-based
 * @property {string} specifier as written
 * @property {string | undefined} target imported file, the same way; undefined for packages and `node:`
 * @property {'file' | 'missing' | 'outside' | 'node' | 'package'} kind
 */

/** @returns {string[]} paths of all .ts and .tsx files below `root`, relative to it, sorted */
export function sourceFiles(root) {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => /\.tsx?$/.test(path) && statSync(join(root, path)).isFile())
    .sort();
}

/**
 * @param {string} root the source folder
 * @param {string} file relative to it
 * @returns {Import[]}
 */
export function importsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors[0].message}`);
  const found = [];
  visit(program, (node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined) return;
    const line = text.slice(0, node.start).split('\n').length;
    found.push({ file, line, specifier, ...resolveSpecifier(root, file, specifier) });
  });
  return found;
}

/** Returns what a node imports: `import`, `export … from`, `import()`, or `import('…')` in a type. */
function specifierOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return typeof node.source?.value === 'string' ? node.source.value : undefined;
    default:
      return undefined;
  }
}

function resolveSpecifier(root, file, specifier) {
  if (specifier.startsWith('node:')) return { kind: 'node', target: undefined };
  if (!specifier.startsWith('.')) return { kind: 'package', target: undefined };
  const path = resolve(root, dirname(file), specifier.replace(/\?.*$/, ''));
  const inside = relative(root, path);
  if (inside.startsWith('..')) return { kind: 'outside', target: undefined };
  const candidates = [path.replace(/\.js$/, '.ts'), path.replace(/\.jsx?$/, '.tsx'), path];
  const hit = candidates.find((candidate) => existsSync(candidate) && statSync(candidate).isFile());
  if (hit === undefined) return { kind: 'missing', target: undefined };
  return { kind: 'file', target: relative(root, hit).split(sep).join('/') };
}

/** Calls `see` for every node of an ESTree. Uses an explicit stack, because deep input must not overflow the call stack. */
function visit(program, see) {
  const stack = [program];
  while (stack.length > 0) {
    const value = stack.pop();
    if (Array.isArray(value)) {
      for (let i = value.length - 1; i >= 0; i--) stack.push(value[i]);
    } else if (value !== null && typeof value === 'object') {
      if (typeof value.type === 'string') see(value);
      stack.push(Object.values(value).reverse());
    }
  }
}

/**
 * Finds import cycles between files: one per strongly connected component (Tarjan), as the files on it.
 *
 * @param {Map<string, Set<string>>} edges file → files that it imports
 * @returns {string[][]}
 */
export function cycles(edges) {
  const index = new Map();
  const low = new Map();
  const onStack = new Set();
  const stack = [];
  const found = [];
  const connect = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    onStack.add(file);
    for (const next of edges.get(file) ?? []) {
      if (!index.has(next)) connect(next);
      if (onStack.has(next)) low.set(file, Math.min(low.get(file), low.get(next)));
    }
    if (low.get(file) !== index.get(file)) return;
    const component = stack.splice(stack.lastIndexOf(file));
    for (const member of component) onStack.delete(member);
    if (component.length > 1 || edges.get(file)?.has(file)) found.push(component);
  };
  for (const file of edges.keys()) if (!index.has(file)) connect(file);
  return found;
}
