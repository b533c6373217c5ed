import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import { decode, withPalette } from './palettePng.mjs';
import { MAX_BYTES, PICTURES } from './pictures.mjs';

const inRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Returns `page shows picture` for every picture of a page. */
function shownBy(page) {
  const text = readFileSync(inRoot(page), 'utf8');
  return [...text.matchAll(/!\[[^\]]+\]\([\w/]*images\/([\w-]+)\.png\)/g)].map(
    ([, name]) => `${page} shows ${name}`,
  );
}

test('the pages show the pictures of the list and no others', () => {
  const docs = readdirSync(inRoot('docs')).filter((name) => name.endsWith('.md'));
  const shown = ['README.md', ...docs.map((name) => `docs/${name}`)].flatMap(shownBy);
  const listed = PICTURES.flatMap(({ name, pages }) => pages.map((page) => `${page} shows ${name}`));
  assert.deepEqual(shown.sort(), listed.sort());
});

test('docs/images has the pictures of the list and no others, and they are small', () => {
  const files = readdirSync(inRoot('docs/images'));
  assert.deepEqual(files.sort(), PICTURES.map(({ name }) => `${name}.png`).sort());
  for (const file of files) {
    const { size } = statSync(inRoot(`docs/images/${file}`));
    assert.ok(size <= MAX_BYTES, `${file} has ${size} bytes, more than ${MAX_BYTES}`);
  }
});

/** A PNG of RGB pixels, with the filter of each row. */
function png(width, rows) {
  const part = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const ends = [Buffer.alloc(4), Buffer.alloc(4)];
    ends[0].writeUInt32BE(data.length);
    ends[1].writeUInt32BE(crc32(body));
    return Buffer.concat([ends[0], body, ends[1]]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(rows.length, 4);
  header.set([8, 2], 8);
  const data = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([
    Buffer.alloc(8),
    part('IHDR', header),
    part('IDAT', data),
    part('IEND', Buffer.alloc(0)),
  ]);
}

test('decode undoes every filter of PNG', () => {
  const rows = [
    [0, 1, 2, 3, 4, 5, 6],
    [1, 1, 2, 3, 3, 3, 3],
    [2, 0, 0, 0, 0, 0, 1],
    [3, 1, 1, 1, 1, 1, 1],
    [4, 1, 0, 0, 0, 1, 0],
  ];
  const { pixels } = decode(png(2, rows));
  assert.deepEqual(
    [...pixels].map((color) => color.toString(16).padStart(6, '0')),
    ['010203', '040506', '010203', '040506', '010203', '040507', '010202', '030405', '020202', '030505'],
  );
});

test('a picture with a palette begins like a PNG and has one byte per pixel', () => {
  const small = withPalette(png(2, [[0, 255, 0, 0, 0, 0, 255]]));
  assert.equal(small.toString('latin1', 1, 4), 'PNG');
  // Width, height, bits per pixel, type: an index into the palette.
  assert.deepEqual([...small.subarray(16, 26)], [0, 0, 0, 2, 0, 0, 0, 1, 8, 3]);
});
