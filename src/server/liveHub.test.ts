import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { decodeViewMessage, type SumsMessage, type TotalsMessage } from '../protocol/viewMessages.js';
import { expectedTasks } from '../trace/live/plainRows.test.support.js';
import { totalsFromJson } from '../trace/recording/totalsJson.js';
import { HeldSocket, ScriptedCluster } from './dashboard.test.support.js';
import { LiveHub } from './liveHub.js';
import { DEFAULT_LIMITS } from './outlet.js';

const STORY = { seed: 7, sizes: [30, 5, 12], workers: 3, batch: 7 };

/** A page that reads messages at once, unless `isStuck`. */
class Page extends HeldSocket {
  isStuck = false;

  override send(...messages: readonly (string | Uint8Array)[]): void {
    super.send(...messages);
    if (!this.isStuck) this.bufferedAmount = 0;
  }

  /** Numbers that the page shows: task runs that ended, and tasks in memory, which are the played steps of the script. */
  get figures(): { readonly runs: number; readonly done: number } {
    let [runs, done] = [0, 0];
    for (const text of this.sent.filter((one) => one.startsWith('{"type":"'))) {
      const message = decodeViewMessage(text);
      if (message.type === 'sums') runs = runsOf(message);
      if (message.type === 'totals') done = doneOf(message);
    }
    return { runs, done };
  }
}

const runsOf = ({ totals }: SumsMessage): number =>
  totalsFromJson(totals)?.states.reduce((sum, count) => sum + count, 0) ?? 0;
const doneOf = ({ states }: TotalsMessage): number => states['memory'] ?? 0;

/** Milliseconds of `performance.now()` while timers are driven. */
let now = 0;

/** The test drives timers and the clock, so that a slow machine does not use up the time that pages may cost. */
function driveTime(): void {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  mock.method(performance, 'now', () => now);
}

function pass(milliseconds: number): void {
  for (let passed = 0; passed < milliseconds; passed++) {
    now++;
    mock.timers.tick(1);
  }
}

function endOfTest(): void {
  mock.timers.reset();
  mock.restoreAll();
}

/** Milliseconds after which everything that is due was sent. */
const ALL_SENT = 8 * DEFAULT_LIMITS.intervalMs;

describe('sums and totals', () => {
  let cluster: ScriptedCluster;
  let hub: LiveHub;
  let all: Page['figures'];

  beforeEach(() => {
    driveTime();
    cluster = new ScriptedCluster(STORY);
    hub = new LiveHub(cluster.source(), DEFAULT_LIMITS);
    all = { runs: expectedTasks(cluster.played).length, done: cluster.steps };
  });
  afterEach(() => {
    hub.close('The test is over.');
    endOfTest();
  });

  it('reach a page if another page joins just after a change', () => {
    const [first, second] = [new Page(), new Page()];
    hub.add(first, undefined);
    pass(ALL_SENT);
    cluster.play();
    hub.add(second, undefined);
    assert.deepEqual(second.figures, all);
    pass(ALL_SENT);
    assert.deepEqual(first.figures, all);
  });

  it('reach a page that was paused during a change when it resumes', () => {
    const [hidden, other] = [new Page(), new Page()];
    const handle = hub.add(hidden, undefined);
    hub.add(other, undefined);
    pass(ALL_SENT);
    handle.pause();
    cluster.play();
    pass(ALL_SENT);
    assert.deepEqual(other.figures, all);
    assert.deepEqual(hidden.figures, { runs: 0, done: 0 });
    handle.resume();
    pass(ALL_SENT);
    assert.deepEqual(hidden.figures, all);
  });

  it('reach a page with a full buffer during a change as soon as the buffer has room', () => {
    const [slow, other] = [new Page(), new Page()];
    hub.add(slow, undefined);
    hub.add(other, undefined);
    pass(ALL_SENT);
    slow.isStuck = true;
    slow.bufferedAmount = DEFAULT_LIMITS.maxBuffered + 1;
    cluster.play();
    pass(ALL_SENT);
    assert.deepEqual(other.figures, all);
    assert.deepEqual(slow.figures, { runs: 0, done: 0 });
    slow.isStuck = false;
    slow.bufferedAmount = 0;
    pass(ALL_SENT);
    assert.deepEqual(slow.figures, all);
  });

  it('reach a page that was catching up at the end of the run, together with the last rows', () => {
    const page = new Page();
    page.isStuck = true;
    page.bufferedAmount = DEFAULT_LIMITS.maxBuffered + 1;
    hub.add(page, undefined);
    cluster.play();
    page.isStuck = false;
    page.bufferedAmount = 0;
    hub.close('The run is over.');
    assert.deepEqual(page.figures, all);
    const last = decodeViewMessage(page.sent.findLast((one) => typeof one === 'string') ?? '');
    assert.deepEqual(last, { type: 'closed', reason: 'The run is over.', complete: true });
  });

  it('reach pages before and after the end of a run that stays available, with the reason', () => {
    const [before, after] = [new Page(), new Page()];
    hub.add(before, undefined);
    cluster.play();
    hub.end('The scheduler is gone.');
    hub.add(after, undefined);
    pass(ALL_SENT);
    for (const page of [before, after]) {
      assert.deepEqual(page.figures, all);
      const last = decodeViewMessage(page.sent.findLast((one) => typeof one === 'string') ?? '');
      assert.deepEqual(last, { type: 'closed', reason: 'The scheduler is gone.', complete: true });
    }
  });

  it('reach pages that were paused or slow at the end of a run that stays available, and a stuck page is disconnected', () => {
    const [paused, slow, stuck] = [new Page(), new Page(), new Page()];
    const handle = hub.add(paused, undefined);
    for (const page of [slow, stuck]) hub.add(page, undefined);
    pass(ALL_SENT);
    handle.pause();
    for (const page of [slow, stuck]) {
      page.isStuck = true;
      page.bufferedAmount = DEFAULT_LIMITS.maxBuffered + 1;
    }
    cluster.play();
    hub.end('The scheduler is gone.');
    pass(ALL_SENT);
    handle.resume();
    slow.isStuck = false;
    slow.bufferedAmount = 0;
    pass(DEFAULT_LIMITS.stuckMs + ALL_SENT);
    for (const page of [paused, slow]) {
      assert.deepEqual(page.figures, all);
      const last = decodeViewMessage(page.sent.findLast((one) => typeof one === 'string') ?? '');
      assert.deepEqual(last, { type: 'closed', reason: 'The scheduler is gone.', complete: true });
    }
    assert.equal(stuck.ended, 'terminated');
  });

  it('are not sent again to a page that is hidden and shown after it received the end of the run', () => {
    const page = new Page();
    const handle = hub.add(page, undefined);
    cluster.play();
    hub.end('The scheduler is gone.');
    const { length } = page.sent;
    handle.pause();
    handle.resume();
    pass(ALL_SENT);
    assert.equal(page.sent.length, length);
  });

  it('are sent only after a change', () => {
    const page = new Page();
    hub.add(page, undefined);
    cluster.play();
    pass(ALL_SENT);
    const { length } = page.sent.filter((text) => /^\{"type":"(sums|totals)"/.test(text));
    pass(ALL_SENT);
    assert.equal(page.sent.filter((text) => /^\{"type":"(sums|totals)"/.test(text)).length, length);
  });
});

describe('rows', () => {
  it('of all tables are sent together if they are few, also if the first message takes all the time that pages may cost', () => {
    driveTime();
    const cluster = new ScriptedCluster(STORY);
    // Seconds of CPU; each reading is a millisecond later than the previous one.
    let cpu = 0;
    const cpuClock = () => (): number => {
      cpu += 1e-3;
      return cpu;
    };
    const hub = new LiveHub({ ...cluster.source(), cpuClock }, DEFAULT_LIMITS);
    const page = new Page();
    hub.add(page, undefined);
    cluster.play();
    pass(1.5 * DEFAULT_LIMITS.intervalMs);
    const cursors = page.sent.flatMap((text) => {
      const message = text.startsWith('{"type":"cursor"') ? decodeViewMessage(text) : undefined;
      return message?.type === 'cursor' ? [message.cursor.tasks] : [];
    });
    assert.equal(cursors.at(-1), expectedTasks(cluster.played).length);
    hub.close('The test is over.');
    endOfTest();
  });
});
