// Explains the failure of a TypeScript program that is a CommonJS module. The message of the compiler names only the
// format.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../../base/errors.js';

const TOP_LEVEL_AWAIT = /^(?:(?:export )?(?:const|let|var) [^=\n]*= )?(?:await |[\w.]+\(await )/m;

/** Returns what to change if the script has a top-level `await`, but is a CommonJS module; otherwise undefined. */
export function commonJsAdvice(script: string): string | undefined {
  const [, extension] = /\.(tsx?)$/.exec(script) ?? [];
  if (extension === undefined || isModule(dirname(script)) || !TOP_LEVEL_AWAIT.test(textOf(script)))
    return undefined;
  const name = basename(script);
  const renamed = extension === 'ts' ? `name it ${name.replace(/ts$/, 'mts')}, or ` : '';
  return (
    `${name} is a CommonJS module, which has no top-level await:\n` +
    `${renamed}write "type": "module" into package.json.`
  );
}

function isModule(folder: string): boolean {
  const file = join(folder, 'package.json');
  if (existsSync(file)) return /"type"\s*:\s*"module"/.test(textOf(file));
  const parent = dirname(folder);
  return parent !== folder && isModule(parent);
}

function textOf(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '');
}
