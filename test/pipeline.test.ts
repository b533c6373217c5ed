// Pipelines through the public API.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { connect, type Delayed, delayed, Future, LongpoleError } from 'longpole';
import { Pipeline } from 'longpole/trace';

const folder = mkdtempSync(join(tmpdir(), 'longpole-pipeline-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const range = delayed((count: number) => Array.from({ length: count }, (_, i) => i), { name: 'range' });
const sum = delayed((values: readonly number[]) => values.reduce((a, b) => a + b, 0), { name: 'sum' });
const subtract = delayed((a: number, b: number) => a - b, { name: 'subtract' });

interface Context {
  compute(value: unknown): Promise<unknown>;
  persist(value: unknown): Promise<unknown>;
}

async function codeOf(run: () => unknown): Promise<[string, string]> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof LongpoleError);
    return [error.code, error.message];
  }
  assert.fail('the call did not throw');
}

describe('Pipeline', () => {
  it('passes the results of steps to later steps, and computes the results of the last steps', async () => {
    const load = { load: () => [range(3), range(4)] };
    const total = ({ X }: { X: Delayed<number[]>[] }): Delayed<number>[] => X.map((part) => sum(part));
    const scale = { factor: 10, transform: (inputs: { X: unknown }) => ({ X: inputs.X, by: 10 }) };
    const lines: string[] = [];
    const pipeline = new Pipeline('numbers', { log: (line) => lines.push(line) })
      .add(total, { X: load })
      .add(scale, { X: total }, { name: 'scale' });
    const results = await pipeline.run();
    assert.deepEqual([...results.keys()], ['object.load', 'total', 'scale']);
    assert.deepEqual(results.get('scale'), { X: [3, 6], by: 10 });
    assert.deepEqual(pipeline.getResultFrom(scale), { X: [3, 6], by: 10 });
    for (const line of lines) assert.match(line, /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{4}\] INFO - ./);
    for (const line of lines)
      assert.ok(Math.abs(Date.parse(line.slice(1, 25)) - Date.now()) < 3_600_000, line);
    assert.deepEqual(
      lines.map((line) => line.slice(line.indexOf('- ') + 2)),
      [
        "Beginning pipeline run for 'numbers'",
        ...['object.load', 'total', 'scale'].flatMap((name) => [
          `Task '${name}': Starting task run...`,
          `Task '${name}': Finished task run`,
        ]),
        'Pipeline run successfully',
      ],
    );
  });

  it('accepts TaskFunctions as steps, with data and steps as inputs', async () => {
    const pipeline = new Pipeline('tasks').add(range, { count: 5 }).add(sum, { values: range });
    pipeline.add(subtract, { a: sum, b: 3 });
    const results = await pipeline.run();
    assert.equal(results.get('subtract'), 7);
  });

  it('computes within a step if the step calls compute() or persist()', async () => {
    const first = async (_: object, { persist }: Context): Promise<unknown> => persist({ part: range(4) });
    const second = async ({ X }: { X: { part: number[] } }, { compute }: Context): Promise<unknown> => {
      const total = sum(X.part);
      return compute(new Map([['total', total]]));
    };
    const results = await new Pipeline('eager').add(first).add(second, { X: first }).run();
    assert.deepEqual(results.get('second'), new Map([['total', 6]]));
  });

  it('keeps on its cluster the results that steps persist or submit', async () => {
    await using client = await connect({ workers: 1, profile: false });
    const persisted = async (_: object, { persist }: Context): Promise<unknown> => persist(range(4));
    const submitted = (): Future<number[]> => client.submit(() => [7]);
    const seen: unknown[] = [];
    const last = (inputs: { X: number[]; Y: number[] }): Delayed<number>[] => {
      seen.push(inputs.X, inputs.Y);
      return [sum(inputs.X), sum(inputs.Y)];
    };
    const pipeline = new Pipeline('references', { client }).add(last, { X: persisted, Y: submitted });
    const results = await pipeline.run();
    assert.ok(seen.length === 2 && seen.every((input) => input instanceof Future), String(seen));
    assert.deepEqual(results.get('last'), [6, 7]);
  });

  it('runs independent steps concurrently', async () => {
    let arrived = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const meet = async (): Promise<number> => {
      arrived++;
      if (arrived === 2) open();
      await gate;
      return arrived;
    };
    const left = (): Promise<number> => meet();
    const right = (): Promise<number> => meet();
    const results = await new Pipeline('both').add(left).add(right).run();
    assert.deepEqual([...results.values()], [2, 2]);
  });

  it('names the failed step, and does not run the steps that depend on it', async () => {
    const bad = (): never => {
      throw new RangeError('no data');
    };
    let ran = false;
    const next = (): void => {
      ran = true;
    };
    const pipeline = new Pipeline('broken').add(next, { X: bad });
    const [code, message] = await codeOf(() => pipeline.run());
    assert.equal(code, 'ERR_LONGPOLE_PIPELINE_STEP');
    assert.equal(message, "The step 'bad' of the pipeline 'broken' failed: no data");
    assert.equal(ran, false);
    assert.equal((await codeOf(() => pipeline.getResultFrom(next)))[0], 'ERR_LONGPOLE_INVALID_ARGUMENT');
  });

  it('refuses cycles and invalid steps', async () => {
    const a = (): number => 1;
    const b = (): number => 2;
    const pipeline = new Pipeline('round').add(a, { X: b }).add(b, { X: a });
    assert.equal((await codeOf(() => pipeline.run()))[0], 'ERR_LONGPOLE_CYCLE');
    for (const what of [5, null, {}, ['x']])
      assert.equal((await codeOf(() => pipeline.add(what)))[0], 'ERR_LONGPOLE_INVALID_ARGUMENT');
  });

  it('makes two instances of a class two steps', async () => {
    class Scale {
      readonly #by: number;
      constructor(by: number) {
        this.#by = by;
      }
      transform({ X }: { X: number }): number {
        return X * this.#by;
      }
    }
    const [two, three] = [new Scale(2), new Scale(3)];
    const pipeline = new Pipeline('scales').add(two, { X: 1 }).add(three, { X: two });
    assert.deepEqual(
      [...(await pipeline.run())],
      [
        ['Scale.transform', 2],
        ['Scale.transform 2', 6],
      ],
    );
  });

  it('refuses a function that is added again without a new input, e.g. a method of another instance', async () => {
    class Model {
      fit(_: { X: number }): number {
        return 1;
      }
    }
    const [first, second] = [new Model(), new Model()];
    const pipeline = new Pipeline('models').add(first.fit, { X: 1 });
    const [code, message] = await codeOf(() => pipeline.add(second.fit, { X: 2 }));
    assert.equal(code, 'ERR_LONGPOLE_INVALID_ARGUMENT');
    assert.match(
      message,
      /^The pipeline 'models' already has the step 'fit' with the input 'X'\. One function is one step/,
    );
    assert.equal((await codeOf(() => pipeline.add(second.fit)))[0], 'ERR_LONGPOLE_INVALID_ARGUMENT');
    pipeline.add(first.fit, { Y: 2 });
    assert.deepEqual([...(await pipeline.run()).keys()], ['fit']);
  });

  it('draws its steps', async () => {
    const fitPredict = [(): number => 1, (): number => 2];
    Object.defineProperty(fitPredict[0], 'name', { value: 'fitPredict' });
    Object.defineProperty(fitPredict[1], 'name', { value: 'fitPredict' });
    const pipeline = new Pipeline('clusters')
      .add(fitPredict[0], { X: range })
      .add(fitPredict[1], { X: range });
    for (const name of ['steps.svg', 'steps.html']) {
      const path = pipeline.visualize({ filename: join(folder, name) });
      const text = readFileSync(path, 'utf8');
      assert.ok(text.includes('>fitPredict 2</text>') && text.includes('>range</text>'), text);
    }
    const missing = join(folder, 'no/such/folder.svg');
    assert.equal(
      (await codeOf(() => pipeline.visualize({ filename: missing })))[0],
      'ERR_LONGPOLE_PAGE_FILE',
    );
  });
});
