// A dashboard in a browser test: waits for it, visits its pages, and reads their text.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { PATIENCE } from './browser.js';

interface Hooks {
  idle(): Promise<void>;
  animationFrameTimes(): number[];
  rectangles(): number;
  view(): { readonly start: number; readonly stop: number; readonly left: number; readonly columns: number };
  show(start: number, stop: number): void;
  go(page: string): void;
  pages(): readonly string[];
}

declare global {
  var longpoleDashboard: Hooks | undefined;
  var harmed: unknown;
}

/** Waits until the page accepts keys, clicks and files, and has drawn its present data. */
export const ready = async (page: Page) => {
  await page.waitForFunction(() => globalThis.longpoleDashboard !== undefined);
  await page.evaluate(() => globalThis.longpoleDashboard?.idle());
};
/** Waits until the page shows its complete trace, and accepts keys and clicks. */
export const whole = async (page: Page) => {
  await page.locator('main.page[data-status="whole"]').waitFor();
  await ready(page);
};
export const go = async (page: Page, name: string) => {
  await ready(page);
  await page.evaluate((one) => globalThis.longpoleDashboard?.go(one), name);
  await page.locator(`main.page[data-page="${name}"]`).waitFor();
  await page.evaluate(() => globalThis.longpoleDashboard?.idle());
};
/** Presses Tab until an element that matches the selector has the focus, or until the first element has it again. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const stops: string[] = [];
  for (;;) {
    const { isThere, wasThere, name } = await page.evaluate(lookAtFocus, selector);
    if (isThere) return;
    assert.ok(!wasThere, `Tab does not lead to ${selector}, but to ${stops.join(', ')}`);
    stops.push(name);
    await page.keyboard.press('Tab');
  }
}

/** Runs in the page. */
function lookAtFocus(selector: string): { isThere: boolean; wasThere: boolean; name: string } {
  const { activeElement } = document;
  const isThere = activeElement?.matches(selector) === true;
  const wasThere = activeElement?.hasAttribute('data-stop') === true;
  activeElement?.setAttribute('data-stop', '');
  if (isThere) for (const one of document.querySelectorAll('[data-stop]')) one.removeAttribute('data-stop');
  return { isThere, wasThere, name: activeElement?.outerHTML.slice(0, 60) ?? '' };
}

/** Returns the page's time window, once there is one. */
export async function viewOf(page: Page) {
  const view = await page.evaluate(() => globalThis.longpoleDashboard?.view());
  assert.ok(view !== undefined);
  return view;
}

/** Replaces non-breaking spaces by ordinary spaces. */
export const plain = (text: string) => text.replaceAll('\u00a0', ' ');
/** Returns the shown text of an element with ordinary spaces. */
export const textOf = async (page: Page, selector: string) =>
  plain((await page.locator(selector).first().allInnerTexts()).join());
export const panel = (title: string) => `section.panel[aria-label="${title}"]`;

/** Waits until a condition holds. Checks it after every animation frame. `what` returns the message of the error. */
export async function comes(page: Page, what: () => string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!(await isSo())) {
    if (performance.now() > end) assert.fail(what());
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

/**
 * Waits until an element contains a text, and returns the whole shown text of the element. The pattern may match the
 * shown text, with spaces between cells and lines, or the text content of the document.
 */
export async function said(page: Page, selector: string, what: RegExp): Promise<string> {
  const element = page.locator(selector).first();
  let shown = '';
  await comes(
    page,
    () => `${selector} does not contain ${what}, but ${shown}`,
    async () => {
      const content = plain((await element.allTextContents()).join());
      shown = await textOf(page, selector);
      return what.test(content) || what.test(shown);
    },
  );
  return shown;
}

/** Visits every page. Each must show content, fit the width of the window, and name every control for screen readers. */
export async function everyPage(page: Page): Promise<readonly string[]> {
  const names = await page.evaluate(() => globalThis.longpoleDashboard?.pages() ?? []);
  assert.equal(names.length, 18);
  for (const name of names) {
    await go(page, name);
    assert.notEqual((await textOf(page, 'main.page')).trim(), '', name);
    const { nameless, overflow } = await page.evaluate(lookAround);
    assert.deepEqual(nameless, [], name);
    assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
  }
  return names;
}

/** Runs in the page. */
function lookAround(): { nameless: string[]; overflow: number } {
  const controls = document.querySelectorAll<HTMLElement>('button, a, input, select, canvas, svg[role]');
  const nameOf = (element: HTMLElement): string =>
    `${element.getAttribute('aria-label') ?? ''}${element.textContent ?? ''}${element.closest('label')?.textContent ?? ''}`;
  return {
    nameless: [...controls]
      .filter((element) => nameOf(element).trim() === '')
      .map(({ outerHTML }) => outerHTML),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
}
