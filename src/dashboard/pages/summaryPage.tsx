// The first page: the duration of the run, the waits on its critical path, findings with advice, and facts about the
// run. Counts and sums come from `trace.totals`, which stay exact if rows were evicted.

import type { CriticalPath } from '../../analysis/criticalPath.js';
import { cutOffTexts } from '../../analysis/cutOff.js';
import type { Finding } from '../../analysis/findings/finding.js';
import { nothingFound, programCoreWait } from '../../analysis/findings/nothingFound.js';
import { wholeWindow, windowOf } from '../../analysis/path/pathWalk.js';
import { programTimes } from '../../analysis/programTimes.js';
import { recordsTransfers } from '../../analysis/programTransfers.js';
import type { Speedup } from '../../analysis/speedups.js';
import { spilledResults } from '../../analysis/spilledResults.js';
import { taskCount } from '../../analysis/taskCounts.js';
import { unusualRuns } from '../../analysis/unusualRuns.js';
import { mostTogether, threadSeconds, threadsTogether } from '../../analysis/workerLives.js';
import { countText } from '../../base/words.js';
import { lastRowOf, type Trace } from '../../trace/trace.js';
import { formatBytes, formatCount, formatDate, formatDuration, formatPercent } from '../model/format.js';
import { prefixColors } from '../model/palette.js';
import { Bars, Button, Empty, Panel, Panels } from '../views/parts.js';
import { useAnalysis } from '../views/useAnalysis.js';
import { CRITICAL_PATH, FINDINGS, NOT_SIMULATED, SPEEDUPS } from './analyses.js';
import { hasNoTasks, NoTasks } from './noTasks.js';
import { pageOfQuestion } from './pageNames.js';
import type { DrawnProps, PageProps, TaskProps } from './pageProps.js';
import { PathBar, PathPrefixes } from './pathBars.js';
import { ActionBars } from './tablePages.js';

export function SummaryPage(props: PageProps) {
  const { state, update } = props;
  const { trace } = update;
  const scheme = state.view.scheme.value;
  if (hasNoTasks(trace)) return <NoTasks update={update} />;
  const cutOff = cutOffTexts(trace);
  return (
    <Panels>
      <Panel title="The run" wide>
        <Figures trace={trace} />
        {cutOff.map((text) => (
          <p key={text}>{text} The analyses cover only the tasks that ended.</p>
        ))}
      </Panel>
      {trace.tasks.length === 0 ? null : <PathPanels {...props} />}
      <Panel title="Time by action" note="all workers together">
        <ActionBars trace={trace} scheme={scheme} none="Nothing was recorded." />
      </Panel>
      <Panel title="About the run">
        <dl class="facts-list">
          {Object.entries({ ...traceFacts(trace), ...update.facts }).map(([name, value]) => (
            <>
              <dt key={`${name} title`}>{name}</dt>
              <dd key={name}>{value}</dd>
            </>
          ))}
        </dl>
      </Panel>
      <CallingCode trace={trace} />
    </Panels>
  );
}

/** Panels about the critical path, which is computed from the rows of tasks. */
function PathPanels({ state, update: { trace } }: PageProps) {
  const scheme = state.view.scheme.value;
  const path = useAnalysis(trace, CRITICAL_PATH);
  const found = useAnalysis(trace, FINDINGS);
  const faster = useAnalysis(trace, SPEEDUPS) ?? [];
  const notSimulated = useAnalysis(trace, NOT_SIMULATED) ?? '';
  const part = partText(trace);
  const isComplete = cutOffTexts(trace).length === 0;
  return (
    <>
      <Panel title="What the run waited for" note={`the critical path${part}, by activity and wait`} wide>
        {path === undefined ? (
          <p class="muted">Computing the critical path…</p>
        ) : (
          <PathBar path={path} trace={trace} scheme={scheme} isComplete={isComplete} />
        )}
      </Panel>
      <Panel title="Findings" note={`seconds that could be saved at most${part}; findings overlap`} wide>
        {found === undefined ? (
          <p class="muted">Analysing the trace…</p>
        ) : (
          <Findings found={found} path={path} faster={faster} state={state} trace={trace} />
        )}
      </Panel>
      <Panel
        title="The critical path by prefix"
        note={`a wait counts for the prefix that ran meanwhile${part}`}
      >
        {path === undefined ? null : <PathPrefixes path={path} trace={trace} scheme={scheme} />}
      </Panel>
      {!isComplete || faster.length + notSimulated.length === 0 ? null : (
        <Panel title="What if a prefix were twice as fast" note={`simulated duration of the run${part}`}>
          {notSimulated === '' ? (
            <Speedups found={faster} trace={trace} scheme={scheme} />
          ) : (
            <Empty>{notSimulated}</Empty>
          )}
        </Panel>
      )}
    </>
  );
}

/** Returns which part of the run the rows of tasks cover; empty if they cover all of it. */
function partText(trace: Trace): string {
  const [part, whole] = [windowOf(trace), wholeWindow(trace)];
  if (trace.evicted.tasks === 0 || !(part.stop > part.start)) return '';
  return `, for the last ${formatDuration(part.stop - part.start)} of ${formatDuration(whole.stop - whole.start)}`;
}

function selectKey(state: PageProps['state'], trace: Trace, key: string): void {
  const row = lastRowOf(trace.tasks, (one) => one === key);
  if (row !== undefined) state.selectRow(row);
}

function Figures({ trace }: { readonly trace: Trace }) {
  const { totals, workers, computations } = trace;
  const { start, stop } = wholeWindow(trace);
  const secondsOf = (name: string) => totals.actions.find(({ action }) => action === name)?.seconds ?? 0;
  const computed = secondsOf('compute');
  const awaited = Math.min(computed, secondsOf('await'));
  const offered = threadSeconds(trace, { start, stop });
  const together = mostTogether(trace, () => 1);
  const isMeasured = recordsTransfers(trace);
  const transferred = totals.pairs.reduce((sum, { nbytes }) => sum + nbytes, 0);
  const seconds = stop - start;
  return (
    <dl class="figures">
      <Figure
        name="Duration"
        value={seconds > 0 ? formatDuration(seconds) : '–'}
        extra={outsideText(trace, seconds)}
      />
      <Figure
        name="Tasks"
        value={formatCount(taskCount(trace))}
        extra={unusualRuns(trace)
          .map(([count, word]) => `${formatCount(count)} ${word}`)
          .join(', ')}
      />
      <Figure
        name="Time of tasks"
        value={formatDuration(computed)}
        extra={[offeredText(computed, offered, trace), awaitedText(computed, awaited)]
          .filter(Boolean)
          .join(', ')}
      />
      <Figure
        name="Workers"
        value={together > 0 ? formatCount(together) : '–'}
        extra={together < workers.length ? `at a time, ${formatCount(workers.length)} in all` : ''}
      />
      <Figure name="Computations" value={computations.length > 0 ? formatCount(computations.length) : '–'} />
      <Figure name="Transferred" value={isMeasured || transferred > 0 ? formatBytes(transferred) : '–'} />
      <Figure name="Spilled" value={isMeasured ? formatBytes(spilledResults(trace).nbytes) : '–'} />
    </dl>
  );
}

/** Returns the share of the seconds of all threads that tasks held them. */
function offeredText(computed: number, offered: number, trace: Trace): string {
  if (!(offered > 0)) return '';
  return `${formatPercent((100 * computed) / offered)} of ${countText(threadsTogether(trace), 'thread')}`;
}

/** Returns for how long tasks awaited promises, if this was at least a tenth of their time. */
function awaitedText(computed: number, awaited: number): string {
  return awaited > 0 && awaited >= computed / 10 ? `${formatDuration(awaited)} of it awaiting` : '';
}

/** Returns how long the program ran outside of its computations, if this was most of its time. */
function outsideText(trace: Trace, seconds: number): string {
  const { before, starting, after } = programTimes(trace) ?? { before: 0, starting: 0, after: 0 };
  if (!(before + after >= seconds) || before + after === 0) return '';
  const start =
    starting >= before / 2 && before > after
      ? ` (${formatDuration(starting)} for the start of its cluster)`
      : '';
  return `and ${formatDuration(before)} before${start} and ${formatDuration(after)} after, in the program itself`;
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly extra?: string;
}

function Figure({ name, value, extra = '' }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {extra === '' ? null : <small>{extra}</small>}
      </dd>
    </div>
  );
}

/** Bars with the seconds that the run would save. */
function Speedups({ found, trace, scheme }: DrawnProps & { readonly found: readonly Speedup[] }) {
  const colors = prefixColors(trace, scheme);
  const rows = found.map(({ prefix, makespan, gained }) => ({
    name: prefix,
    parts: [{ name: prefix, value: gained, color: colors(prefix) }],
    label: `${formatDuration(makespan)} · ${gained > 0 ? `−${formatDuration(gained)}` : 'no gain'}`,
  }));
  return <Bars rows={rows} />;
}

interface FindingsProps extends Omit<TaskProps, 'row'> {
  readonly found: readonly Finding[];
  readonly path: CriticalPath | undefined;
  readonly faster: readonly Speedup[];
}

function Findings({ found, path, faster, state, trace }: FindingsProps) {
  if (found.length === 0)
    return (
      <Empty>{path === undefined ? null : nothingFound(path, faster, programCoreWait(trace, path))}</Empty>
    );
  return (
    <>
      {found.map(({ code, title, seconds, confidence, evidence, advice }) => (
        <article key={code} class="finding">
          <div class="cost">
            {formatDuration(seconds)}
            <small>{confidence} confidence</small>
          </div>
          <div>
            <h3>{title}</h3>
            <p>{evidence.text}</p>
            <p class="muted">
              {advice} <MoreLink question={evidence.question} />
            </p>
            {evidence.tasks.length === 0 ? null : (
              <p class="muted">
                See{' '}
                {evidence.tasks.map((key, i) => (
                  <>
                    {i > 0 ? ', ' : ''}
                    <Button
                      text={key}
                      key={key}
                      class="link code"
                      onClick={() => selectKey(state, trace, key)}
                    />
                  </>
                ))}
              </p>
            )}
          </div>
        </article>
      ))}
    </>
  );
}

function MoreLink({ question }: { readonly question: string }) {
  const page = pageOfQuestion(question);
  return page === undefined ? null : <a href={`#${page.name}`}>{page.title}</a>;
}

function traceFacts(trace: Trace): Record<string, string> {
  const { start, stop } = wholeWindow(trace);
  if (!(stop > start)) return {};
  return { From: formatDate(start), To: formatDate(stop) };
}

/** Lines of calling code that are shown. */
const MAX_LINES = 40;

function CallingCode({ trace }: { readonly trace: Trace }) {
  const lines = [...new Set(trace.computations.map(({ code }) => code).filter((code) => code !== ''))];
  if (lines.length === 0) return null;
  return (
    <Panel
      title="Calling code"
      note={
        lines.length > MAX_LINES ? `the first ${MAX_LINES} of ${formatCount(lines.length)} places` : undefined
      }
    >
      <pre class="calling">{lines.slice(0, MAX_LINES).join('\n')}</pre>
    </Panel>
  );
}
