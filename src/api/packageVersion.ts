// The version of this package, for pages and files that name the program that wrote them.
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return version;
}
