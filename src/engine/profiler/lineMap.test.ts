// Compares `lineMap` with Node's `SourceMap`.
import assert from 'node:assert/strict';
import { SourceMap } from 'node:module';
import { test } from 'node:test';
import { encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import fc from '../../base/properties.test.support.js';
import { lineMap } from './lineMap.js';

const SOURCES = ['a.ts', 'b.ts', 'c.ts'];

/** Lines of segments with ascending columns. */
const lines = fc.array(
  fc
    .uniqueArray(
      fc.tuple(
        fc.nat(100_000),
        fc.nat(SOURCES.length - 1),
        fc.nat(100_000),
        fc.nat(300),
        fc.option(fc.nat(5)),
      ),
      { maxLength: 6, selector: ([column]) => column },
    )
    .map((segments) =>
      segments
        .map(
          ([column, source, line, from, name]): SourceMapSegment =>
            name === null ? [column, source, line, from] : [column, source, line, from, name],
        )
        .sort((a, b) => a[0] - b[0]),
    ),
  { minLength: 1, maxLength: 8 },
);

test('a position has the mapping that the source map of Node has', () => {
  fc.assert(
    fc.property(lines, fc.nat(8), fc.nat(100_000), (segments, line, column) => {
      const payload = { mappings: encode(segments), sources: SOURCES };
      const found = lineMap(payload)(line, column);
      if (line >= segments.length) {
        assert.equal(found, undefined);
        return;
      }
      const names = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];
      const map = new SourceMap({
        ...payload,
        version: 3,
        file: '',
        names,
        sourcesContent: [],
        sourceRoot: '',
      });
      const expected = map.findEntry(line, column);
      if (!('originalSource' in expected)) {
        assert.equal(found, undefined);
        return;
      }
      assert.equal(found?.source, expected.originalSource);
      assert.equal(found?.line, expected.originalLine);
      assert.equal(found?.column, expected.generatedLine === line ? expected.generatedColumn : -1);
    }),
  );
});

test('a mapping without a source belongs to no source', () => {
  const map = lineMap({ mappings: encode([[[0, 0, 4, 0], [10]]]), sources: SOURCES });
  assert.deepEqual(map(0, 9), { column: 0, source: 'a.ts', line: 4 });
  assert.equal(map(0, 10)?.source, undefined);
});
