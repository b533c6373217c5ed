import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { diff } from '../analysis/diff/diff.js';
import { decodeDiffPage, encodeDiffPage } from '../analysis/diff/diffPageData.js';
import { LongpoleError } from '../base/errors.js';
import { syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { writeDiffPage } from './diffPage.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-diff-page-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (parse: number) =>
  syntheticTrace({
    tasks: [{ key: 'load-1', started: 0, stopped: 1 + parse / 100, prefix: '<load>' }],
    samples: [
      { time: 0.1, prefix: 'load', stack: ['load', 'read'], count: 50 },
      { time: 0.5, prefix: 'load', stack: ['load', '<parse>'], count: parse },
    ],
  });

/** Returns the data of a page. */
function dataOf(html: string) {
  const text = /<script id="longpole-diff"[^>]*>([^<]*)<\/script>/.exec(html)?.[1] ?? '';
  return decodeDiffPage(inflateSync(Buffer.from(text, 'base64')));
}

describe('the page of a diff', () => {
  it('holds the verdict, the rows and the stacks, and loads nothing', () => {
    const file = join(folder, 'diff.html');
    const path = writeDiffPage(diff(run(20), run(80), { failOver: 0.05 }), file, {
      before: 'a&b',
      after: 'c</script>',
    });
    assert.equal(path, file);
    const html = readFileSync(file, 'utf8');
    assert.doesNotMatch(html, /<(script|link|img)\b[^>]+(src|href)=/);
    const { before, after: later, failed, reason, rows, more, stacks } = dataOf(html);
    assert.deepEqual([before, later, failed, more], ['a&b', 'c</script>', true, 0]);
    assert.match(reason, /Slower than allowed/);
    assert.ok(rows.some(({ kind, name }) => kind === 'prefix' && name === '<load>'));
    const load = stacks?.children[0];
    assert.deepEqual(
      load?.children.map(({ name, before: from, after: to }) => [name, from, to].join(' ')),
      ['<parse> 0.2 0.8', 'read 0.5 0.5'],
    );
  });

  it('has no stacks if the traces have none, and an error if it cannot be written', () => {
    const plain = syntheticTrace({ tasks: [{ key: 'a-1', started: 0, stopped: 1 }] });
    const path = writeDiffPage(diff(plain, plain), join(folder, 'plain.html'));
    assert.equal(dataOf(readFileSync(path, 'utf8')).stacks, null);
    assert.throws(
      () => writeDiffPage(diff(plain, plain), join(folder, 'missing', 'x.html')),
      (error) => error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_PAGE_FILE',
    );
  });

  it('rejects data that was changed or cut off', () => {
    const whole = encodeDiffPage(diff(run(20), run(80)), { before: 'a', after: 'b' });
    const text = new TextDecoder().decode(whole);
    const damages = [
      text.slice(0, -5),
      text.replace('"failed":false', '"failed":"no"'),
      text.replace('"before":0.5', '"before":null'),
      text.replace('"children":[]', '"children":7'),
      'null',
      '[]',
    ];
    assert.equal(decodeDiffPage(whole).before, 'a');
    for (const damaged of damages)
      assert.throws(() => decodeDiffPage(new TextEncoder().encode(damaged)), {
        code: 'ERR_LONGPOLE_PAGE_DATA',
      });
  });
});
