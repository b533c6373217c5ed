// The page of `visualize`, as tests look at it: its hooks, what is drawn where.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { ProfilePage } from '#internal/protocol/profilePage.js';

export interface View {
  readonly start: number;
  readonly stop: number;
  readonly left: number;
  readonly columns: number;
}

interface Hooks {
  idle(): Promise<void>;
  frameTimes(): number[];
  rectangles(): number;
  view(): View;
  show(start: number, stop: number): void;
}

declare global {
  var longpole: Hooks | undefined;
  var harmed: unknown;
}

export const ready = async (page: Page) => {
  await page.waitForFunction(() => globalThis.longpole !== undefined);
  await idle(page);
};
export const idle = (page: Page) => page.evaluate(() => globalThis.longpole?.idle());
export const viewOf = (page: Page) => page.evaluate(() => globalThis.longpole!.view());
export const spanOf = async (page: Page) => {
  const { start, stop } = await viewOf(page);
  return stop - start;
};
export const rectanglesOf = (page: Page) => page.evaluate(() => globalThis.longpole!.rectangles());

/** Colour of a pixel of a canvas, CSS px from its top left corner. */
export const pixelOf = (page: Page, canvas: number, x: number, y: number) =>
  page.evaluate(
    ([index, px, py]) => {
      const element = document.querySelectorAll<HTMLCanvasElement>('.drawing canvas')[index!]!;
      const ratio = element.width / element.clientWidth;
      const data = element.getContext('2d')!.getImageData(px! * ratio, py! * ratio, 1, 1).data;
      return [...data].join();
    },
    [canvas, x, y],
  );

/** Where a run of the first section is on the screen. */
export async function placeOf(page: Page, data: ProfilePage, entry: number) {
  const section = data.sections[0]!;
  assert.ok(section.type === 'tasks');
  const view = await viewOf(page);
  const origin = Math.min(...section.start);
  const middle = (section.start[entry]! + section.stop[entry]!) / 2 - origin;
  const box = (await page.locator('.drawing').first().boundingBox())!;
  const rows = data.workers.length;
  return {
    x: box.x + view.left + ((middle - view.start) / (view.stop - view.start)) * view.columns,
    y: box.y + ((section.worker[entry]! + 0.5) * box.height) / rows,
  };
}
