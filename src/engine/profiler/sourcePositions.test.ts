import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SourcePositions } from './sourcePositions.js';

/** A script of one line whose map names a source, in a folder that is deleted afterwards. */
function withScript(
  body: (
    url: string,
    compile: (source: string, seconds: number, sourceRoot?: string) => void,
    remove: () => void,
  ) => void,
): void {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-positions-'));
  const script = join(folder, 'script.js');
  const compile = (source: string, seconds: number, sourceRoot?: string): void => {
    writeFileSync(script, 'const f = 1;\n//# sourceMappingURL=script.js.map');
    utimesSync(script, seconds, seconds);
    const map = { version: 3, file: 'script.js', sourceRoot, sources: [source], names: [], mappings: 'AAAA' };
    writeFileSync(`${script}.map`, JSON.stringify(map));
  };
  try {
    body(pathToFileURL(script).href, compile, () => rmSync(`${script}.map`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sourceOf(positions: SourcePositions, url: string): string {
  return positions.functionPosition(url, 0, 0).file.replace(/.*[/]/, '');
}

test('profilers of several threads share the map of a script', () =>
  withScript((url, compile, remove) => {
    compile('source.ts', 1000);
    const [first, second] = [new SourcePositions(), new SourcePositions()];
    assert.equal(sourceOf(first, url), 'source.ts');
    remove();
    assert.equal(sourceOf(second, url), 'source.ts');
    assert.equal(sourceOf(first, url), 'source.ts');
  }));

test('a profiler of a new thread reads the map of a script that was compiled again', () =>
  withScript((url, compile) => {
    compile('before.ts', 1000);
    const first = new SourcePositions();
    assert.equal(sourceOf(first, url), 'before.ts');
    compile('after.ts', 2000);
    assert.equal(sourceOf(new SourcePositions(), url), 'after.ts');
    assert.equal(sourceOf(first, url), 'before.ts');
  }));

test('a source has the folder that its map names', () =>
  withScript((url, compile) => {
    for (const [at, [root, file]] of [
      ['/', '/home/a/source.ts'],
      ['/home', '/home/home/a/source.ts'],
      ['file:///mnt/', '/mnt/home/a/source.ts'],
      ['', fileURLToPath(new URL('home/a/source.ts', url))],
    ].entries()) {
      compile('home/a/source.ts', 1000 + at, root);
      assert.equal(new SourcePositions().functionPosition(url, 0, 0).file, file);
    }
  }));

test("Longpole's own bundle keeps its positions: no map of it is read", () => {
  const { href, pathname } = new URL('../../bundle/cluster-modules.cjs', import.meta.url);
  assert.ok(existsSync(`${pathname}.map`));
  assert.deepEqual(new SourcePositions().functionPosition(href, 500, 0), { file: pathname, line: 501 });
});
