import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import {
  assignColors,
  COLOR_COUNT,
  colorSlot,
  kindColor,
  lineSlot,
  mix,
  type Scheme,
  slotColor,
  textOn,
} from './palette.js';

type Triple = [number, number, number];

/** Linear RGB as perceived with each kind of colour blindness (Machado, Oliveira, Fernandes 2009, full severity). */
const VISIONS: Record<string, Triple[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function linear(hex: string): Triple {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function see(color: Triple, vision: Triple[]): Triple {
  const row = (r: Triple) => Math.min(1, Math.max(0, r[0] * color[0] + r[1] * color[1] + r[2] * color[2]));
  return [row(vision[0]!), row(vision[1]!), row(vision[2]!)];
}

function oklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const distance = (a: Triple, b: Triple) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const luminance = ([r, g, b]: Triple) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const slots = Array.from({ length: COLOR_COUNT }, (_, i) => i);

for (const scheme of ['light', 'dark'] satisfies Scheme[]) {
  test(`any two colours stay apart for every kind of colour vision (${scheme})`, () => {
    for (const [vision, matrix] of Object.entries(VISIONS)) {
      const seen = slots.map((slot) => oklab(see(linear(slotColor(slot, scheme)), matrix)));
      for (const a of slots) {
        for (const b of slots.slice(a + 1)) {
          const apart = distance(seen[a]!, seen[b]!);
          // A distance of about 0.02 is just noticeable.
          assert.ok(
            apart > 0.035,
            `${slotColor(a, scheme)} and ${slotColor(b, scheme)}, ${vision}: ${apart}`,
          );
        }
      }
    }
  });

  test(`the lines of the scheduler and of three workers have clearly different colours (${scheme})`, () => {
    for (const matrix of Object.values(VISIONS)) {
      const seen = [-1, 0, 1, 2].map((index) =>
        oklab(see(linear(slotColor(lineSlot(index), scheme)), matrix)),
      );
      for (const [i, a] of seen.entries())
        for (const b of seen.slice(i + 1)) assert.ok(distance(a, b) > 0.12, String(distance(a, b)));
    }
    assert.equal(new Set(slots.map((slot) => lineSlot(slot - 1))).size, COLOR_COUNT);
  });

  test(`lines are visible on the page (${scheme})`, () => {
    const ground = luminance(linear(scheme === 'light' ? '#ffffff' : '#14171c'));
    for (const slot of slots) {
      const own = luminance(linear(slotColor(slot, scheme)));
      const contrast = (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
      assert.ok(contrast > 2.2, `${slotColor(slot, scheme)}: ${contrast}`);
    }
  });
}

test('text on any colour has a contrast above 4.2 : 1', () => {
  for (const slot of slots) {
    for (const scheme of ['light', 'dark'] satisfies Scheme[]) {
      const ground = luminance(linear(slotColor(slot, scheme)));
      const ink = luminance(linear(textOn(slotColor(slot, scheme))));
      const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
      assert.ok(contrast > 4.2, `${slotColor(slot, scheme)}: ${contrast}`);
    }
  }
});

test('a prefix has the same colour on every page; up to 16 prefixes of a page have different colours', () => {
  const name = fc.string({ minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: COLOR_COUNT }), (prefixes) => {
      const assigned = assignColors(prefixes);
      assert.equal(new Set(assigned).size, prefixes.length);
      prefixes.forEach((prefix, i) => {
        const alone = prefixes.filter((other) => colorSlot(other) === colorSlot(prefix)).length === 1;
        if (alone && !prefixes.some((_, j) => j !== i && assigned[j] === colorSlot(prefix))) {
          assert.equal(assigned[i], colorSlot(prefix));
        }
      });
      const reversed = assignColors([...prefixes].reverse());
      assert.deepEqual([...reversed].reverse(), [...assigned]);
    }),
  );
});

test('more prefixes than colours share them', () => {
  const assigned = assignColors(Array.from({ length: 100 }, (_, i) => `prefix-${i}`));
  assert.ok(assigned.every((slot) => slot < COLOR_COUNT));
});

test('mixing interpolates between the ground and the colour', () => {
  assert.equal(mix('#ff8000', '#000000', 0), '#000000');
  assert.equal(mix('#ff8000', '#000000', 1), '#ff8000');
  assert.equal(mix('#ff8000', '#010101', 0.5), '#804101');
});

test('an activity with the name of a property of all objects has a colour', () => {
  for (const name of ['constructor', 'toString', '__proto__']) assert.match(kindColor(name, 'light'), /^#/);
});
