// Makes a screenshot smaller: an image of few colours, as pictures of pages almost are, in a fraction of the bytes.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * @param {Buffer} png 8 bits per channel, RGB or RGBA, not interlaced: a screenshot of Chromium
 * @param {number} colors at most 256
 * @returns {Buffer} the same picture without transparency; rare colours become the nearest frequent one
 */
export function withPalette(png, colors = 256) {
  const { width, height, pixels } = decode(png);
  const counts = new Map();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, colors)
    .map(([color]) => color);
  const indexOf = new Map(palette.map((color, index) => [color, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [i, color] of pixels.entries()) {
    if (!indexOf.has(color)) indexOf.set(color, nearest(palette, color));
    // Each row begins with the number of its filter, which is 0: none.
    rows[i + Math.floor(i / width) + 1] = indexOf.get(color);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per pixel, an index into the palette.
  header.set([8, 3], 8);
  const table = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  const parts = [
    ['IHDR', header],
    ['PLTE', table],
    ['IDAT', deflateSync(rows, { level: 9 })],
    ['IEND', Buffer.alloc(0)],
  ];
  return Buffer.concat([SIGNATURE, ...parts.map(([name, data]) => chunk(name, data))]);
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const part = Buffer.alloc(body.length + 8);
  part.writeUInt32BE(data.length, 0);
  part.set(body, 4);
  part.writeUInt32BE(crc32(body), part.length - 4);
  return part;
}

function nearest(palette, color) {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, other] of palette.entries()) {
    const distance =
      ((color >> 16) - (other >> 16)) ** 2 +
      (((color >> 8) & 255) - ((other >> 8) & 255)) ** 2 +
      ((color & 255) - (other & 255)) ** 2;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

/** Returns the pixels as 0xRRGGBB, row by row. */
export function decode(png) {
  const data = [];
  let header = Buffer.alloc(13);
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const name = png.toString('latin1', at + 4, at + 8);
    if (name === 'IHDR') header = png.subarray(at + 8, at + 8 + length);
    if (name === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const channels = new Map([
    [2, 3],
    [6, 4],
  ]).get(header[9]);
  if (header[8] !== 8 || channels === undefined || header[12] !== 0)
    throw new Error('No screenshot of Chromium');
  const bytes = unfiltered(inflateSync(Buffer.concat(data)), width * channels, channels);
  const pixels = new Uint32Array(width * height);
  for (let i = 0; i < pixels.length; i++) {
    const at = i * channels;
    pixels[i] = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
  }
  return { width, height, pixels };
}

/** Undoes the filters of PNG: a byte is stored as the difference to those on its left and above. */
function unfiltered(rows, stride, channels) {
  const height = rows.length / (stride + 1);
  const bytes = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : bytes[at - channels];
      const above = y === 0 ? 0 : bytes[at - stride];
      const corner = x < channels || y === 0 ? 0 : bytes[at - stride - channels];
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      bytes[at] = rows[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return bytes;
}

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(guess - value));
  return a <= b && a <= c ? left : b <= c ? above : corner;
}
