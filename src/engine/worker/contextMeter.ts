// `contextMeter`, with which a task divides its time between activities and counts metrics. Outside a task it counts
// nothing and does not fail, as in Dask, so that the same code runs in a test.
import { internalError, invalidArgument } from '../../base/errors.js';
import { type AnyFunction, isFunction } from '../../graph/callable.js';
import { isThenable } from './evaluator.js';
import { meterContext } from './meterContext.js';

/** A meter that has not started: hold it with `using`, or decorate a method with it. */
export interface Meter {
  /** Decorates a method, as a standard decorator or as TypeScript's older kind. */
  <F extends AnyFunction>(method: F, context: { readonly kind: string }): F;
  (target: object, name: string | symbol, descriptor: PropertyDescriptor): PropertyDescriptor;
  /** Reading this property starts the meter, and calling the function ends it: `using` does both. */
  readonly [Symbol.dispose]: () => void;
}

export interface ContextMeter {
  /**
   * Counts wall time under `label` instead of `thread-cpu` and `thread-noncpu`, in seconds, until the block ends:
   *
   *     using m = contextMeter.meter('I/O');
   *
   * Time in a meter inside another counts for the inner one only. Meters that are open side by side, in promises that
   * one task awaits together, get equal parts: no second counts twice. A block without an await has its time alone.
   * Costs ~2 µs.
   *
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the label is not a non-empty string
   * @source Dask's `context_meter.meter`
   */
  meter(label: string): Meter;
  /**
   * Returns the function with all its calls counted under `label`; calls of async functions count until their promise
   * settles.
   */
  meter<F extends AnyFunction>(label: string, fn: F): F;
  /**
   * Adds to a metric of the running task, e.g. `contextMeter.digestMetric('S3 Infrequent Access', nbytes, 'bytes')`.
   * Seconds are subtracted from the activity that would otherwise have them.
   *
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if an argument has the wrong type or the value is not finite
   * @source Dask's `context_meter.digest_metric`
   */
  digestMetric(label: string, value: number, unit: string): void;
}

function meter(label: string): Meter;
function meter<F extends AnyFunction>(label: string, fn: F): F;
function meter(label: string, fn?: AnyFunction): unknown {
  checkText('label', label);
  if (fn === undefined) return makeMeter(label);
  if (typeof fn !== 'function')
    throw invalidArgument(
      `contextMeter.meter('${label}', fn) takes a function, not ${fn === null ? 'null' : typeof fn}.`,
    );
  return wrap(label, fn);
}

function digestMetric(label: string, value: number, unit: string): void {
  checkText('label', label);
  checkText('unit', unit);
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw invalidArgument(`The value of the metric '${label}' is a finite number, not ${String(value)}.`);
  const scope = meterContext.getStore();
  scope?.task.digest(label, value, unit, scope);
}

export const contextMeter: ContextMeter = { meter, digestMetric };

function makeMeter(label: string): Meter {
  const decorate = (first: unknown, _name: unknown, descriptor?: PropertyDescriptor): unknown => {
    if (descriptor === undefined) return wrap(label, checkMethod(label, first));
    return { ...descriptor, value: wrap(label, checkMethod(label, descriptor.value)) };
  };
  const made: object = Object.defineProperty(decorate, Symbol.dispose, { get: () => start(label) });
  if (isMeter(made)) return made;
  throw internalError('The created meter cannot be disposed.');
}

function isMeter(value: object): value is Meter {
  return typeof value === 'function' && Symbol.dispose in value;
}

/** Starts a meter for the code that follows, and returns the function that ends it. */
function start(label: string): () => void {
  const before = meterContext.getStore();
  if (before === undefined) return () => undefined;
  const { task } = before;
  const inside = task.open(label, before, true);
  meterContext.enterWith(inside);
  return () => {
    // After an await the context is still that of the block; elsewhere it may belong to other code.
    const context = meterContext.getStore();
    const after = task.close(inside, context);
    if (after !== context) meterContext.enterWith(after);
  };
}

/** Returns a proxy with the function's name, properties and type. */
function wrap<F extends AnyFunction>(label: string, fn: F): F {
  return new Proxy(fn, {
    apply(target, self, args) {
      const scope = meterContext.getStore();
      if (scope === undefined) return Reflect.apply(target, self, args);
      const { task } = scope;
      const inside = task.open(label, scope, false);
      const close = (): unknown => task.close(inside, undefined);
      const call = (): unknown => Reflect.apply(target, self, args);
      let value: unknown;
      try {
        value = meterContext.run(inside, call);
      } catch (error) {
        close();
        throw error;
      }
      if (!isThenable(value)) {
        close();
        return value;
      }
      // The caller's block is known by this mark when it ends: the call was made there.
      if (inside.meter?.isDisputed) meterContext.enterWith({ ...inside, isInside: false, before: scope });
      // Subclasses of Promise return their own class from `finally`.
      return (value instanceof Promise ? value : Promise.resolve(value)).finally(close);
    },
  });
}

function checkMethod(label: string, value: unknown): AnyFunction {
  if (isFunction(value)) return value;
  throw invalidArgument(
    `@contextMeter.meter('${label}') decorates a method; this is ${value === null ? 'null' : typeof value}.`,
  );
}

function checkText(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw invalidArgument(
    `The ${name} of a metric is a non-empty string, not ${JSON.stringify(value) ?? String(value)}.`,
  );
}
