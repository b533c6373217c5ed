import assert from 'node:assert/strict';
import { SourceMap } from 'node:module';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import fc from '../../base/properties.test.support.js';
import { relined } from './relined.js';

/** Returns code in one line with a source map that assigns each marked text to a line of the original. */
function compiled(code: string, marks: readonly (readonly [text: string, line: number])[]): string {
  let from = 0;
  const segments = marks.map(([text, line]): SourceMapSegment => {
    const column = code.indexOf(text, from);
    assert.ok(column >= 0, text);
    from = column + 1;
    return [column, 0, line, 0];
  });
  const map = { version: 3, sources: ['a.ts'], names: [], mappings: encode([segments]) };
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}

function mapOf(text: string): SourceMap {
  const [, encoded = ''] = /base64,(\S+)/.exec(text) ?? [];
  return new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
}

/** Returns the code without its map. */
function codeOf(text: string): string {
  return text.slice(0, text.indexOf('//# sourceMappingURL'));
}

test('statements get their original lines, and the map leads to the same lines', () => {
  const text = relined(
    compiled('function f(a){let s=0;for(const x of a){s+=g(x)}return s}', [
      ['function', 0],
      ['let', 1],
      ['for', 2],
      ['s+=', 3],
      ['return', 5],
    ]),
  );
  const lines = codeOf(text).trimEnd().split('\n');
  assert.deepEqual(lines, ['function f(a){', 'let s=0;', 'for(const x of a){', 's+=g(x)}', 'return s}']);
  const map = mapOf(text);
  assert.deepEqual(
    lines.map((_, line) => Reflect.get(map.findEntry(line, 3), 'originalLine')),
    [0, 1, 2, 3, 5].map((line, index) => (index === 4 ? 5 : line)),
  );
});

test('no line is broken where a break would change the meaning', () => {
  for (const [code, marks] of [
    // `return` alone would return nothing.
    [
      'function f(a){return a}',
      [
        ['return', 1],
        ['a}', 2],
      ],
    ],
    [
      'const f=async x=>await x',
      [
        ['async', 0],
        ['x=>', 1],
        ['=>', 2],
        ['x', 4],
      ],
    ],
    // The text of a template must not change.
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
      'const s=`a;${b}{c}`',
      [
        ['const', 0],
        ['`a', 1],
        ['a;', 2],
        ['${', 3],
        ['{c', 4],
        ['}`', 5],
      ],
    ],
    [
      'for(;;){x++;break;}',
      [
        ['for', 0],
        ['++', 1],
      ],
    ],
    [
      'const r=/[;]x/;',
      [
        ['const', 0],
        ['x', 1],
      ],
    ],
  ] as const) {
    const text = codeOf(relined(compiled(code, marks))).trimEnd();
    // All line breaks are at places without a meaning: before `b` of the template or after an operator.
    assert.equal(text.replaceAll('\n', ''), code);
    assert.doesNotMatch(text, /(return|async|break)\n|\n(=>|\+\+)|`[^`$]*\n/, text);
  }
});

test('a chain of calls gets one line per call', () => {
  const text = codeOf(
    relined(
      compiled('export const a=[1].map(f).filter(g);', [
        ['export', 0],
        ['.map', 1],
        ['.filter', 2],
      ]),
    ),
  );
  assert.deepEqual(text.trimEnd().split('\n'), ['export const a=[1]', '.map(f)', '.filter(g);']);
});

test('text that is not JavaScript or has no valid map is not changed', () => {
  for (const source of [
    'let a = 1;\n',
    'let = = 1\n//# sourceMappingURL=data:application/json;base64,e30=\n',
    'let a=1\n//# sourceMappingURL=data:application/json;base64,AAAA\n',
    'let a=1\n//# sourceMappingURL=a.js.map\n',
  ])
    assert.equal(relined(source), source);
});

test('code returns the same value for any lines of the map', () => {
  const code =
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    'const f=(n)=>{let s=0,t="";for(let i=0;i<n;i++){if(i%2){s+=i;continue}t+=`${i};{${s}}`}return{s,t:t.split(";").map(x=>x+"!").join("|")}};f(9)';
  const expected: unknown = evaluate(code);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(code.length - 1), fc.nat(9)), { maxLength: 60 }), (marks) => {
      const segments = marks
        .toSorted(([a], [b]) => a - b)
        .map(([column, line]): SourceMapSegment => [column, 0, line, 0]);
      const map = { version: 3, sources: ['a.ts'], names: [], mappings: encode([segments]) };
      const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
      const text = relined(`${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`);
      assert.deepEqual(evaluate(codeOf(text)), expected);
    }),
  );
});

function evaluate(code: string): unknown {
  return JSON.stringify(runInNewContext(code));
}
