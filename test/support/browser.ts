// Provides the Chromium that scripts/test.mjs shares between test files, or a separate one for this file.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { launchOptions, PATIENCE, SHARED_BROWSER } from './sharedBrowser.js';

export { PATIENCE };

export interface OpenPage {
  readonly page: Page;
  /** Complaints of the page: console errors and warnings, exceptions, requests. */
  readonly complaints: string[];
}

/** Collects console errors, warnings and exceptions of a page from now on. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isComplaint = message.type() === 'error' || message.type() === 'warning';
    // The tests read pixels, the page does not.
    if (isComplaint && !/getImageData/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
}

/** Registers before and after hooks; call it at the top of a test file. */
export function useBrowser() {
  let browser: Browser | undefined;
  let folder = '';
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'longpole-page-'));
    const shared = process.env[SHARED_BROWSER];
    browser =
      shared === undefined
        ? await chromium.launch(launchOptions())
        : await chromium.connect(shared, { timeout: PATIENCE });
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    /** Returns a file name in a folder that is removed at the end. */
    path: (name: string) => join(folder, name),
    /** Opens an empty page. */
    blank: (): string => {
      const path = join(folder, 'blank.html');
      writeFileSync(path, '<!doctype html><title>blank</title>');
      return path;
    },
    /** Returns the path of the built dashboard without a trace. */
    template: () => fileURLToPath(new URL('../../../dist/dashboard/dashboard.html', import.meta.url)),
    /** Opens a file from disk in a separate context. On return, the page may not have drawn anything yet. */
    async open(path: string, options: BrowserContextOptions = {}, hash = ''): Promise<OpenPage> {
      assert.ok(browser !== undefined);
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
      context.setDefaultTimeout(PATIENCE);
      const page = await context.newPage();
      const complaints = complaintsOf(page);
      page.on('request', (request) => {
        if (!request.url().startsWith('file:') || request.resourceType() !== 'document') {
          complaints.push(`request of ${request.url()}`);
        }
      });
      await page.goto(`${pathToFileURL(path).href}${hash}`);
      return { page, complaints };
    },
  };
}
