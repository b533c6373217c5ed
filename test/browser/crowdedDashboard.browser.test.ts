// More open pages than the server of a dashboard allows.
import { test } from 'node:test';
import { ScriptedCluster } from '#internal/server/dashboard.test.support.js';
import { DashboardServer } from '#internal/server/dashboardServer.js';
import { useBrowser } from '../support/browser.js';
import { said } from '../support/dashboardPage.js';

const browser = useBrowser();

test('a page above the limit shows a message, and shows the run after another page is closed', async () => {
  const cluster = new ScriptedCluster({ seed: 3, sizes: [20], workers: 2, batch: 5 });
  cluster.play();
  const server = await DashboardServer.start({
    source: cluster.source(),
    port: 0,
    limits: { maxViewers: 1 },
  });
  const open = async () => {
    const { page } = await browser.open(browser.blank());
    await page.goto(server.link);
    return page;
  };
  const live = 'main.page[data-status="live"]';
  const first = await open();
  await first.locator(live).waitFor();
  const second = await open();
  await said(second, '.banner', /reached its limit of open pages \(1\)\. Close another one\..*Trying again/);
  await first.context().close();
  await second.locator(live).waitFor();
  await second.context().close();
  await server.close();
});
