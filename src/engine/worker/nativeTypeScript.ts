// Which modules in TypeScript Node runs itself, without the compiler tsx.
import { readFileSync, statSync } from 'node:fs';
import * as modules from 'node:module';

export const TYPESCRIPT = /\.[cm]?tsx?($|\?)/;
/** Specifiers of imports, also those in comments and in strings. */
export const SPECIFIER = /\b(?:from|import)\s*\(?\s*(?:"([^"\\\n]+)"|'([^'\\\n]+)')/g;

/**
 * Whether Node may run a module. It is checked before the first import, because Node 22 keeps an import that failed. What this
 * cannot see, e.g. enums, fails with an error of Node before any code of the module runs.
 */
export function nodeRuns(url: string): boolean {
  return stripsTypes() && !isCommonJs(url) && findsImports(url, new Set([url]));
}

function stripsTypes(): boolean {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  return (
    'typescript' in process.features &&
    process.features.typescript !== false &&
    !options.some((option) => /\btsx\b/.test(option))
  );
}

/** Whether a module belongs to a package of CommonJS. There Node refuses `import`, which compilers accept, and loads no module twice. */
function isCommonJs(url: string): boolean {
  const file = manifestOf(url);
  // For a module without a package.json, Node returns the module.
  if (file?.endsWith('package.json') !== true) return false;
  const { type }: { readonly type?: unknown } = JSON.parse(readFileSync(file, 'utf8'));
  return type === 'commonjs';
}

/** The package.json of a module or package. Throws if there is no such package. */
function manifestOf(specifier: string, importer?: string): string | undefined {
  // Absent in Node 20, which runs no TypeScript.
  const find: unknown = Reflect.get(modules, 'findPackageJSON');
  const file: unknown = typeof find === 'function' ? find(specifier, importer) : undefined;
  return typeof file === 'string' ? file : undefined;
}

/** Whether Node finds what a module and its own modules import. Compilers also accept folders, aliases, and no extension. */
function findsImports(url: string, reached: Set<string>): boolean {
  return [...readFileSync(new URL(url), 'utf8').matchAll(SPECIFIER)].every(([, one, other]) => {
    const specifier = one ?? other ?? '';
    if (!/^\.{0,2}\//.test(specifier)) return findsPackage(specifier, url);
    const { href } = new URL(specifier, url);
    if (statSync(new URL(href), { throwIfNoEntry: false })?.isFile() !== true) return false;
    if (reached.has(href) || !TYPESCRIPT.test(href)) return true;
    reached.add(href);
    return findsImports(href, reached);
  });
}

function findsPackage(specifier: string, importer: string): boolean {
  // A name with `#` or of another scheme is Node's to resolve.
  if (modules.isBuiltin(specifier) || /^(#|[a-z][a-z\d+.-]+:)/i.test(specifier)) return true;
  try {
    manifestOf(specifier, importer);
    return true;
  } catch {
    return false;
  }
}
