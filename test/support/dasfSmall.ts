// A small trace that was written by DASF itself.
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { repositoryPath } from './repository.js';

/** Unpacks `NAME.gz` of the fixture to `file`, and returns `file`. */
export function unpackFixture(name: string, file: string): string {
  writeFileSync(file, gunzipSync(readFileSync(repositoryPath(`test/fixtures/dasf-small/${name}.gz`))));
  return file;
}
