// One Chromium for all browser tests: scripts/test.mjs starts it before the first file. Each test runs in a separate
// browser context. A connection closes its contexts when it ends.
import { chromium, type LaunchOptions } from 'playwright-core';

/** Time limit of an action in a page, in milliseconds. An action that takes longer hangs. */
export const PATIENCE = 200_000;

/** Environment variable with the address of the shared browser. */
export const SHARED_BROWSER = 'LONGPOLE_TEST_BROWSER';

/**
 * Parts of Chromium that no test needs. Each window otherwise loads the page below its address bar, in a process that takes
 * more CPU than most tests. Chromium takes the last list that it gets, so this one also has what Playwright's has.
 */
const WITHOUT = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

/** Returns options that start Debian's Chromium, or the browser that LONGPOLE_CHROMIUM or CHROMIUM names. */
export function launchOptions(): LaunchOptions {
  const { LONGPOLE_CHROMIUM, CHROMIUM } = process.env;
  return {
    executablePath: LONGPOLE_CHROMIUM ?? CHROMIUM ?? '/usr/bin/chromium',
    // No GPU, no background requests, no first-run page.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-default-apps',
      '--disable-sync',
      '--no-first-run',
      `--disable-features=${WITHOUT.join(',')}`,
    ],
    timeout: PATIENCE,
  };
}

export interface SharedBrowser {
  /** Environment variables for the test files. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts the browser. Signals do not close it, because the caller handles interruptions. */
export async function shareBrowser(): Promise<SharedBrowser> {
  const server = await chromium.launchServer({
    ...launchOptions(),
    host: '127.0.0.1',
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  return { environment: { [SHARED_BROWSER]: server.wsEndpoint() }, close: () => server.close() };
}
