// Asks the server of a live page for the tasks of the current graph that have not ended, while a page needs them.
import { useEffect, useState } from 'preact/hooks';
import { GRAPH_PATH, isOpenGraph, type OpenGraph } from '../../protocol/openGraph.js';
import { serverUrl } from '../source/traceSource.js';

/** Milliseconds between two requests. */
const INTERVAL = 500;

/**
 * Returns the newest answer whose rows the page has received, so that each task is in the answer or has a row. Returns
 * undefined before the first answer.
 *
 * @param rows number of received rows of tasks
 */
export function useOpenGraph(isWanted: boolean, rows: number): OpenGraph | undefined {
  /** Answers, oldest first. */
  const [answers, setAnswers] = useState<readonly OpenGraph[]>([]);
  useEffect(() => {
    setAnswers([]);
    if (!isWanted) return undefined;
    const stopped = new AbortController();
    const ask = async (): Promise<void> => {
      if (document.visibilityState === 'hidden') return;
      const response = await fetch(serverUrl(GRAPH_PATH, location.href), { signal: stopped.signal });
      const answer: unknown = response.ok ? await response.json() : undefined;
      if (isOpenGraph(answer)) setAnswers((earlier) => [...earlier, answer]);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = (): void => {
      // Without an answer, the page keeps the newest one. The page itself reports a lost connection.
      ask()
        .catch(() => undefined)
        .finally(() => {
          if (!stopped.signal.aborted) timer = setTimeout(follow, INTERVAL);
        });
    };
    follow();
    return () => {
      stopped.abort();
      clearTimeout(timer);
    };
  }, [isWanted]);
  const newest = Math.max(
    0,
    answers.findLastIndex((answer) => answer.rows <= rows),
  );
  useEffect(() => {
    if (newest > 0) setAnswers((list) => list.slice(newest));
  }, [newest, answers.length]);
  return answers[newest];
}
