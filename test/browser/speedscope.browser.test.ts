// The importer of the released speedscope opens exported traces.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { connect } from 'longpole';
import { exportTrace, openTrace } from 'longpole/trace';
import { useBrowser } from '../support/browser.js';
import { unpackFixture } from '../support/dasfSmall.js';
import { comes } from '../support/dashboardPage.js';
import { measured } from '../support/measuredTasks.js';
import { repositoryPath } from '../support/repository.js';

const browser = useBrowser();
const release = repositoryPath('node_modules/speedscope/dist/release/index.html');

/** Loads a file as speedscope's command does, and waits for the title of its profile. Fails on errors and dialogs. */
async function opened(file: string, title: RegExp): Promise<void> {
  const script = `${file}.js`;
  const content = JSON.stringify(readFileSync(file).toString('base64'));
  writeFileSync(script, `speedscope.loadFileFromBase64('trace.json', ${content})`);
  const { page } = await browser.open(script);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`${pathToFileURL(release).href}#localProfilePath=${script}`);
  await comes(
    page,
    () => `it does not show ${title}`,
    async () => {
      assert.deepEqual(complaints, []);
      return title.test((await page.locator('body').textContent()) ?? '');
    },
  );
}

it('speedscope opens the samples of the profiler', async () => {
  const directory = browser.path('sampled.trace');
  await using client = await connect({ workers: 1, profile: { interval: 0.002, cycleInterval: 0.1 } });
  const stop = client.record(directory);
  while ((await client.profile({ key: 'spin' })).count < 20) await client.compute(measured.spin(0.3));
  const tree = browser.path('profile.speedscope.json');
  await client.profile({ filename: tree });
  await stop();
  const file = browser.path('sampled.speedscope.json');
  exportTrace(openTrace(directory), { to: 'speedscope', output: file });
  for (const [one, title] of [
    [file, /worker-0, samples/],
    [tree, /Profile of all tasks/],
  ] as const)
    await opened(one, title);
});

for (const to of ['chrome', 'speedscope']) {
  it(`speedscope opens a trace exported to ${to}`, async () => {
    const trace = openTrace(unpackFixture('TracePlugin-c096.msgpack', browser.path('tasks.msgpack')));
    const file = browser.path(`${to}.json`);
    exportTrace(trace, { to, output: file });
    // speedscope shows the profile of one of the four threads first.
    await opened(file, /worker-c096-\d.* \(\d\/4\)/);
  });
}
