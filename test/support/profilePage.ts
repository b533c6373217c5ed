// The page of `visualize` in tests: positions and colours.
import type { Page } from 'playwright-core';
import { ready, viewOf } from './dashboardPage.js';
import type { SamplePage } from './samplePages.js';

export const idle = ready;
export const spanOf = async (page: Page) => {
  const { start, stop } = await viewOf(page);
  return stop - start;
};
export const rectanglesOf = (page: Page) =>
  page.evaluate(() => globalThis.longpoleDashboard?.rectangles() ?? 0);

/** Returns the colour of a pixel of a canvas, in CSS px from its top left corner. */
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

/** Returns the position of a run on the screen. */
export async function placeOf(page: Page, { runs, workers }: SamplePage, entry: number) {
  const view = await viewOf(page);
  const origin = Math.min(...runs.map(({ start }) => start));
  const { start, stop, worker } = runs[entry]!;
  const middle = (start + stop) / 2 - origin;
  const box = (await page.locator('.drawing').first().boundingBox())!;
  return {
    x: box.x + view.left + ((middle - view.start) / (view.stop - view.start)) * view.columns,
    y: box.y + ((worker + 0.5) * box.height) / workers.length,
  };
}
