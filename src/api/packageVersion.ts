// The version of this package, for pages that say what wrote them.
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return version;
}
