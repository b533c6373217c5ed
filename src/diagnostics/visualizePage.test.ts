import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { LongpoleError } from '../base/errors.js';
import { type ProfilePage, TaskTableBuilder } from '../protocol/profilePage.js';
import { decodeProfilePage } from '../protocol/profilePageCodec.js';
import { renderProfilePage, writeProfilePage } from './visualizePage.js';

function pageOf(title: string): ProfilePage {
  const table = new TaskTableBuilder((key) => key.split('-')[0]!);
  return {
    title,
    workers: ['threads-0'],
    sections: [
      {
        type: 'tasks',
        task: Uint32Array.of(table.add('inc-1', 'inc(1)')),
        worker: Uint32Array.of(0),
        start: Float64Array.of(1.7e9),
        stop: Float64Array.of(1.7e9 + 0.5),
      },
    ],
    tasks: table.build(),
  };
}

const dataOf = (html: string) =>
  /<script id="longpole-data"[^>]*>([A-Za-z0-9+/=]*)<\/script>/.exec(html)?.[1] ?? '';

test('the file holds the data, the program, and nothing from elsewhere', () => {
  const html = renderProfilePage(pageOf('my run'));
  const page = decodeProfilePage(inflateSync(Buffer.from(dataOf(html), 'base64')));
  assert.equal(page.title, 'my run');
  assert.equal(page.tasks.keys.at(0), 'inc-1');
  assert.match(html, /<title>my run<\/title>/);
  assert.doesNotMatch(html, /@LONGPOLE_|<link|\ssrc=/);
  assert.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^"]*"/);
});

test('a title is text, whatever it contains', () => {
  const title = `</title><script>alert("1")</script> $& $1 @LONGPOLE_DATA@ 'x' & y`;
  const html = renderProfilePage(pageOf(title));
  assert.equal(html.split('<script>').length, 1);
  assert.ok(html.includes('&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; $&amp; $1'));
  assert.equal(decodeProfilePage(inflateSync(Buffer.from(dataOf(html), 'base64'))).title, title);
});

test('the file is written, and its absolute path returned', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-visualize-'));
  try {
    const path = writeProfilePage(pageOf('a'), join(folder, 'profile.html'));
    assert.ok(isAbsolute(path));
    assert.equal(readFileSync(path, 'utf8'), renderProfilePage(pageOf('a')));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a folder that does not exist is named in the error', () => {
  const path = join(tmpdir(), 'longpole-no-such-folder', 'profile.html');
  assert.throws(
    () => writeProfilePage(pageOf('a'), path),
    (error) =>
      error instanceof LongpoleError &&
      error.code === 'ERR_LONGPOLE_PAGE_FILE' &&
      error.message.includes(path),
  );
});
