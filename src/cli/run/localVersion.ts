// Which installation of Longpole a program uses: the one that its own `import 'longpole'` finds records it, not another that
// the shell happened to find first.
import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OWN = realpathSync(fileURLToPath(new URL('../../../', import.meta.url)));

/** The command line of the program's own installation; undefined if it is this one, or it has none. */
export function otherCommandLine(script: string): string | undefined {
  const manifest = manifestOf(script);
  if (manifest === undefined || realpathSync(dirname(manifest)) === OWN) return undefined;
  const content: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
  if (typeof content !== 'object' || content === null || !('bin' in content)) return undefined;
  const { bin } = content;
  if (typeof bin !== 'object' || bin === null || !('longpole' in bin)) return undefined;
  return typeof bin.longpole === 'string' ? join(dirname(manifest), bin.longpole) : undefined;
}

function manifestOf(script: string): string | undefined {
  try {
    return createRequire(script).resolve('longpole/package.json');
  } catch {
    // It imports Longpole by a path, or not at all.
    return undefined;
  }
}
